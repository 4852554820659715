//! Which part of the pairs: given, or told by the CI or batch system this runs in.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::golden::folders::Shard;

/// `1/4`, `auto` or `auto/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::front::cli) enum ShardName {
    Given(Shard),
    /// From the environment; the count too, unless it is given.
    Auto(Option<u32>),
}

impl FromStr for ShardName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.strip_prefix("auto") {
            Some("") => Ok(Self::Auto(None)),
            Some(count) => {
                let count = count.strip_prefix('/').and_then(|count| count.parse().ok());
                count.map(|count| Self::Auto(Some(count))).ok_or_else(|| {
                    Error::usage(format!("shard '{text}' is not auto/COUNT, such as auto/4"))
                })
            }
            None => text.parse().map(Self::Given),
        }
    }
}

/// Variables that say which of several equal jobs this is.
struct System {
    name: &'static str,
    index: &'static str,
    /// The index of the first job.
    first: u32,
    count: Option<&'static str>,
}

const fn system(
    name: &'static str,
    index: &'static str,
    first: u32,
    count: Option<&'static str>,
) -> System {
    System { name, index, first, count }
}

/// The systems that are known, those that run inside another before it.
const SYSTEMS: [System; 12] = [
    system("GitLab", "CI_NODE_INDEX", 1, Some("CI_NODE_TOTAL")),
    system("CircleCI", "CIRCLE_NODE_INDEX", 0, Some("CIRCLE_NODE_TOTAL")),
    system("Buildkite", "BUILDKITE_PARALLEL_JOB", 0, Some("BUILDKITE_PARALLEL_JOB_COUNT")),
    system("Azure Pipelines", "SYSTEM_JOBPOSITIONINPHASE", 1, Some("SYSTEM_TOTALJOBSINPHASE")),
    system("Bitbucket", "BITBUCKET_PARALLEL_STEP", 0, Some("BITBUCKET_PARALLEL_STEP_COUNT")),
    system("Semaphore", "SEMAPHORE_JOB_INDEX", 1, Some("SEMAPHORE_JOB_COUNT")),
    system("AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", 0, Some("AWS_BATCH_JOB_ARRAY_SIZE")),
    system("Google Batch", "BATCH_TASK_INDEX", 0, Some("BATCH_TASK_COUNT")),
    system("Cloud Run", "CLOUD_RUN_TASK_INDEX", 0, Some("CLOUD_RUN_TASK_COUNT")),
    // Slurm counts from any number in any step: see below.
    system("Slurm", "SLURM_ARRAY_TASK_ID", 0, Some("SLURM_ARRAY_TASK_COUNT")),
    system("LSF", "LSB_JOBINDEX", 1, Some("LSB_JOBINDEX_END")),
    system("Kubernetes", "JOB_COMPLETION_INDEX", 0, None),
];

impl ShardName {
    /// The shard that is meant, by the variables of the environment.
    ///
    /// # Errors
    /// When no known system set them, or they do not tell which of how many it is.
    pub(in crate::front::cli) fn resolve(
        self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Shard> {
        let count = match self {
            Self::Given(shard) => return Ok(shard),
            Self::Auto(count) => count,
        };
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        // LSF sets an index of 0 for jobs that are no array.
        let is_set = |it: &&System| set(it.index).is_some_and(|at| it.name != "LSF" || at != "0");
        let system = SYSTEMS.iter().find(is_set).ok_or_else(|| {
            Error::usage(format!(
                "shard 'auto' finds no index of {} in the environment: give I/N",
                SYSTEMS.map(|system| system.name).join(", ")
            ))
        })?;
        system.shard(count, &set)
    }
}

impl System {
    fn shard(&self, count: Option<u32>, set: &dyn Fn(&str) -> Option<String>) -> Result<Shard> {
        let index = self.number(self.index, set)?;
        let count = match (count, self.count) {
            (Some(count), _) => count,
            (None, Some(count)) => self.number(count, set)?,
            (None, None) => {
                return Err(Error::usage(format!(
                    "{} tells by {} which job this is, but not of how many: give auto/N",
                    self.name, self.index
                )));
            }
        };
        let past_first = match self.name {
            "Slurm" => Self::slurm(index, set)?,
            _ => index.checked_sub(self.first),
        };
        past_first.ok_or(()).and_then(|at| Shard::new(at + 1, count).map_err(drop)).map_err(|()| {
            Error::usage(format!(
                "{} says by {} that this is job {index}, which is none of {count}; give I/N",
                self.name, self.index
            ))
        })
    }

    fn number(&self, name: &str, set: &dyn Fn(&str) -> Option<String>) -> Result<u32> {
        let value = set(name).unwrap_or_default();
        value.parse().map_err(|_| {
            Error::usage(format!(
                "{name} of {} is '{value:.40}', not a number: give I/N",
                self.name
            ))
        })
    }

    /// How many steps a task lies past the first; `None` between two.
    fn slurm(id: u32, set: &dyn Fn(&str) -> Option<String>) -> Result<Option<u32>> {
        let number = |name: &str, default: u32| match set(name) {
            None => Ok(default),
            Some(value) => value.parse::<u32>().map_err(|_| {
                Error::usage(format!("{name} of Slurm is '{value:.40}', not a number: give I/N"))
            }),
        };
        let first = number("SLURM_ARRAY_TASK_MIN", 0)?;
        let step = number("SLURM_ARRAY_TASK_STEP", 1)?.max(1);
        let past = id.checked_sub(first);
        Ok(past.filter(|past| past % step == 0).map(|past| past / step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str, set: &[(&str, &str)]) -> Result<String> {
        let set: Vec<(String, String)> =
            set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let variable =
            |name: &str| set.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone());
        text.parse::<ShardName>()?.resolve(&variable).map(|shard| shard.to_string())
    }

    #[test]
    fn systems_say_which_of_how_many() {
        for (text, set, shard) in [
            ("2/3", &[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")][..], "2/3"),
            ("auto", &[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")], "1/4"),
            ("auto", &[("CIRCLE_NODE_INDEX", "0"), ("CIRCLE_NODE_TOTAL", "4")], "1/4"),
            (
                "auto",
                &[("BUILDKITE_PARALLEL_JOB", "3"), ("BUILDKITE_PARALLEL_JOB_COUNT", "4")],
                "4/4",
            ),
            (
                "auto",
                &[("SYSTEM_JOBPOSITIONINPHASE", "2"), ("SYSTEM_TOTALJOBSINPHASE", "2")],
                "2/2",
            ),
            (
                "auto",
                &[("BITBUCKET_PARALLEL_STEP", "0"), ("BITBUCKET_PARALLEL_STEP_COUNT", "5")],
                "1/5",
            ),
            ("auto", &[("SEMAPHORE_JOB_INDEX", "3"), ("SEMAPHORE_JOB_COUNT", "3")], "3/3"),
            (
                "auto",
                &[("AWS_BATCH_JOB_ARRAY_INDEX", "9"), ("AWS_BATCH_JOB_ARRAY_SIZE", "10")],
                "10/10",
            ),
            ("auto/10", &[("AWS_BATCH_JOB_ARRAY_INDEX", "9")], "10/10"),
            ("auto", &[("BATCH_TASK_INDEX", "0"), ("BATCH_TASK_COUNT", "2")], "1/2"),
            ("auto", &[("CLOUD_RUN_TASK_INDEX", "1"), ("CLOUD_RUN_TASK_COUNT", "2")], "2/2"),
            ("auto", &[("SLURM_ARRAY_TASK_ID", "0"), ("SLURM_ARRAY_TASK_COUNT", "4")], "1/4"),
            (
                "auto",
                &[
                    ("SLURM_ARRAY_TASK_ID", "14"),
                    ("SLURM_ARRAY_TASK_COUNT", "4"),
                    ("SLURM_ARRAY_TASK_MIN", "10"),
                    ("SLURM_ARRAY_TASK_STEP", "2"),
                ],
                "3/4",
            ),
            ("auto", &[("LSB_JOBINDEX", "2"), ("LSB_JOBINDEX_END", "3")], "2/3"),
            ("auto/4", &[("LSB_JOBINDEX", "0"), ("JOB_COMPLETION_INDEX", "3")], "4/4"),
            ("auto/7", &[("CI_NODE_INDEX", "7"), ("CI_NODE_TOTAL", "9")], "7/7"),
        ] {
            assert_eq!(resolve(text, set).unwrap(), shard, "{text} {set:?}");
        }
    }

    #[test]
    fn what_does_not_tell_is_refused() {
        for (text, set, part) in [
            ("auto", &[][..], "finds no index of GitLab, CircleCI,"),
            ("auto", &[("CI_NODE_INDEX", "")], "finds no index"),
            ("auto", &[("JOB_COMPLETION_INDEX", "0")], "but not of how many: give auto/N"),
            ("auto", &[("CI_NODE_INDEX", "1")], "CI_NODE_TOTAL of GitLab is '', not a number"),
            ("auto", &[("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "2")], "is 'x', not a number"),
            (
                "auto",
                &[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "2")],
                "job 0, which is none of 2",
            ),
            (
                "auto",
                &[("CIRCLE_NODE_INDEX", "2"), ("CIRCLE_NODE_TOTAL", "2")],
                "job 2, which is none of 2",
            ),
            (
                "auto",
                &[("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_COUNT", "3")],
                "job 7, which is none of 3",
            ),
            ("auto/x", &[], "is not auto/COUNT"),
            ("4", &[], "is not INDEX/COUNT"),
        ] {
            let message = resolve(text, set).unwrap_err().to_string();
            assert!(message.contains(part), "{text} {set:?}: {message}");
        }
    }
}

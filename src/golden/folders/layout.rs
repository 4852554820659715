//! The folders that other tools leave behind, read as they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result};

use super::{Name, Pair, Place, Walked, pair_up, walk};

/// How a tool lays out golden and actual pictures below one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Two folders.
    Folders(&'static Folders),
    /// `NAME-expected.png` beside `NAME-actual.png`, as in Playwright's `test-results`. The golden
    /// pictures themselves lie elsewhere.
    Playwright,
    /// `NAME-snap.png`, and `__received_output__/NAME-received.png` below it: jest-image-snapshot
    /// with `storeReceivedOnFailure`, also under the Storybook test runner.
    Jest,
}

/// A layout of two folders below the one that is given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Folders {
    name: &'static str,
    /// What the folder that has both is called as a rule.
    usual: &'static str,
    golden: &'static str,
    actual: &'static str,
    /// Whether the actual pictures of every run have a folder of their own, named by its time.
    is_by_run: bool,
}

const fn folders(
    name: &'static str,
    usual: &'static str,
    golden: &'static str,
    actual: &'static str,
) -> Folders {
    Folders { name, usual, golden, actual, is_by_run: false }
}

const FOLDERS: [Folders; 5] = [
    folders("reg-suit", ".reg", "expected", "actual"),
    folders("loki", ".loki", "reference", "current"),
    folders("cypress", "cypress/snapshots", "base", "actual"),
    folders("cypress-image-diff", "cypress-image-diff-screenshots", "baseline", "comparison"),
    Folders {
        is_by_run: true,
        ..folders("backstop", "backstop_data", "bitmaps_reference", "bitmaps_test")
    },
];

/// The names of all layouts.
pub(crate) const LAYOUTS: &str =
    "playwright, jest, reg-suit, loki, backstop, cypress or cypress-image-diff";

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "playwright" => Ok(Self::Playwright),
            "jest" => Ok(Self::Jest),
            _ => {
                let known = FOLDERS.iter().find(|known| known.name == text);
                known.map(Self::Folders).ok_or_else(|| {
                    Error::usage(format!("layout '{text}' is unknown: use auto, {LAYOUTS}"))
                })
            }
        }
    }
}

impl Folders {
    /// # Errors
    /// When `folder` is not the one that has both.
    fn check(&self, folder: &Path) -> Result<()> {
        let missing = [self.golden, self.actual].into_iter().find(|it| !folder.join(it).is_dir());
        missing.map_or(Ok(()), |missing| {
            let Self { name, usual, golden, actual, .. } = self;
            Err(Error::usage(format!(
                "{}: has no folder {missing}: {name} takes the one that has {golden} and {actual}, \
                 as a rule {usual}",
                folder.display()
            )))
        })
    }
}

/// What was found below a folder of some layout.
#[derive(Debug)]
pub(crate) struct LaidOut {
    /// Where the golden and the actual pictures are; one folder where they lie beside each other.
    pub(crate) places: (PathBuf, PathBuf),
    pub(crate) pairs: Vec<Pair>,
    pub(crate) folder_links: usize,
}

impl Layout {
    /// `playwright`, `jest`, `reg-suit`, …
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Playwright => "playwright",
            Self::Jest => "jest",
            Self::Folders(folders) => folders.name,
        }
    }

    /// The layout that `folder` has, by what lies in it.
    ///
    /// # Errors
    /// When it is none that is known.
    pub(crate) fn recognise(folder: &Path) -> Result<Self> {
        let has_both = |known: &&Folders| {
            [known.golden, known.actual].iter().all(|side| folder.join(side).is_dir())
        };
        if let Some(known) = FOLDERS.iter().find(has_both) {
            return Ok(Self::Folders(known));
        }
        let walked = walk(folder, &[])?;
        let has = |ending: &str| walked.found.iter().any(|(name, _)| stem(name, ending).is_some());
        match (has("-actual"), has("-snap")) {
            (true, _) => Ok(Self::Playwright),
            (_, true) => Ok(Self::Jest),
            _ => Err(Error::usage(format!(
                "{}: its layout is none that is known: say --layout {LAYOUTS}",
                folder.display()
            ))),
        }
    }

    /// The pairs below `folder`, but none below the folders `without`.
    ///
    /// # Errors
    /// When a folder of the layout is not there.
    pub(crate) fn read(self, folder: &Path, without: &[PathBuf]) -> Result<LaidOut> {
        let known = match self {
            Self::Folders(known) => known,
            Self::Playwright | Self::Jest => {
                let Walked { found, folder_links, .. } = walk(folder, without)?;
                let places = (folder.to_owned(), folder.to_owned());
                return Ok(LaidOut { places, pairs: self.pairs(found), folder_links });
            }
        };
        known.check(folder)?;
        let (golden, mut actual) = (folder.join(known.golden), folder.join(known.actual));
        if known.is_by_run {
            actual = last_run(&actual)?;
        }
        let (before, mut after) = (walk(&golden, without)?, walk(&actual, without)?);
        // BackstopJS puts its pictures of what differs beside the actual ones.
        after.found.retain(|(name, _)| !known.is_by_run || !is_difference(name));
        let folder_links = before.folder_links + after.folder_links;
        let pairs = pair_up(before.found, after.found);
        Ok(LaidOut { places: (golden, actual), pairs, folder_links })
    }

    /// The pairs of a tool that keeps both sides below one folder. They are called as the golden
    /// file is, which is what would be accepted.
    fn pairs(self, found: Vec<(Name, Place)>) -> Vec<Pair> {
        let (mut golden, mut actual) = (Vec::new(), Vec::new());
        for (name, place) in found {
            match self.role(&name) {
                Some((name, true)) => golden.push((name, place)),
                Some((name, false)) => actual.push((name, place)),
                None => {}
            }
        }
        let mut pairs = pair_up(golden, actual);
        // A golden picture without an actual one is of a test that passed.
        pairs.retain(|pair| pair.actual.is_some());
        if self == Self::Playwright { last_retries(pairs) } else { pairs }
    }

    /// What the pair of a picture is called, and whether the picture is the golden one.
    fn role(self, name: &Name) -> Option<(Name, bool)> {
        match self {
            Self::Playwright => {
                let golden = stem(name, "-expected").map(|_| (name.clone(), true));
                golden.or_else(|| Some((renamed(name, "-actual", "-expected")?, false)))
            }
            Self::Jest => {
                let golden = stem(name, "-snap").map(|_| (name.clone(), true));
                golden.or_else(|| {
                    let folder = name.path().parent()?;
                    let above =
                        folder.parent().filter(|_| folder.ends_with("__received_output__"))?;
                    let received = Name::new(&above.join(name.path().file_name()?))?;
                    Some((renamed(&received, "-received", "-snap")?, false))
                })
            }
            Self::Folders(_) => None,
        }
    }
}

/// The last try of each test stands for all of them, under the name of the first.
fn last_retries(pairs: Vec<Pair>) -> Vec<Pair> {
    let mut last: BTreeMap<Name, (u32, Pair)> = BTreeMap::new();
    for pair in pairs {
        let (name, retry) = first_try(&pair.name).unwrap_or_else(|| (pair.name.clone(), 0));
        let is_later = last.get(&name).is_none_or(|(other, _)| *other < retry);
        if is_later {
            last.insert(name.clone(), (retry, Pair { name, ..pair }));
        }
    }
    last.into_values().map(|(_, pair)| pair).collect()
}

/// What the picture of a retry, which lies in a folder `…-retry1`, was called in the first try, and
/// which retry it is.
fn first_try(name: &Name) -> Option<(Name, u32)> {
    let mut parts = name.path().to_str()?.split(MAIN_SEPARATOR).collect::<Vec<_>>();
    let (_, folders) = parts.split_last_mut()?;
    let (folder, test, retry) = folders.iter_mut().find_map(|folder| {
        let (test, retry) = folder.rsplit_once("-retry")?;
        Some((folder, test, retry.parse().ok()?))
    })?;
    *folder = test;
    Some((Name::new(&parts.iter().collect::<PathBuf>())?, retry))
}

/// The name without `ending` and what follows it, where it has that before its extension.
fn stem<'n>(name: &'n Name, ending: &str) -> Option<&'n str> {
    name.path().file_stem()?.to_str()?.strip_suffix(ending).filter(|stem| !stem.is_empty())
}

fn renamed(name: &Name, ending: &str, other: &str) -> Option<Name> {
    let extension = name.path().extension()?.to_str()?;
    Name::new(&name.path().with_file_name(format!("{}{other}.{extension}", stem(name, ending)?)))
}

fn is_difference(name: &Name) -> bool {
    let file = name.path().file_name().and_then(|file| file.to_str()).unwrap_or_default();
    file.starts_with("failed_diff_")
}

/// The last of the folders that are named by the time of their run, `20260131-120000`.
fn last_run(folder: &Path) -> Result<PathBuf> {
    let cannot = |error| Error::io(format!("{}: cannot be read", folder.display()), error);
    let is_run = |name: &str| name.starts_with(|first: char| first.is_ascii_digit());
    let mut last: Option<String> = None;
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_run(&name) && entry.path().is_dir() {
            last = last.max(Some(name));
        }
    }
    let last = last.ok_or_else(|| {
        Error::file(format!("{}: no run has left a folder here", folder.display()))
    })?;
    Ok(folder.join(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layout's name, the files there are, and for each pair its name and its two files.
    type Case = (
        &'static str,
        &'static [&'static str],
        &'static [(&'static str, &'static str, &'static str)],
    );

    const CASES: [Case; 7] = [
        (
            "playwright",
            &[
                "app-home-chromium/home-1-actual.png",
                "app-home-chromium/home-1-diff.png",
                "app-home-chromium/home-1-expected.png",
                "app-home-chromium-retry1/home-1-actual.png",
                "app-home-chromium-retry1/home-1-expected.png",
                "app-home-chromium-retry10/home-1-actual.png",
                "app-home-chromium-retry10/home-1-expected.png",
                "app-home-chromium-retry2/home-1-actual.png",
                "app-home-chromium-retry2/home-1-expected.png",
                "app-late-retry1/deep/late-1-actual.png",
                "app-late-retry1/deep/late-1-expected.png",
                "app-new-chromium/new-1-actual.png",
                "app-new-chromium/test-failed-1.png",
                "app-new-chromium/passed-expected.png",
            ],
            &[
                (
                    "app-home-chromium/home-1-expected.png",
                    "app-home-chromium-retry10/home-1-expected.png",
                    "app-home-chromium-retry10/home-1-actual.png",
                ),
                (
                    "app-late/deep/late-1-expected.png",
                    "app-late-retry1/deep/late-1-expected.png",
                    "app-late-retry1/deep/late-1-actual.png",
                ),
                ("app-new-chromium/new-1-expected.png", "", "app-new-chromium/new-1-actual.png"),
            ],
        ),
        (
            "jest",
            &[
                "__image_snapshots__/button-snap.png",
                "__image_snapshots__/passed-snap.png",
                "__image_snapshots__/__received_output__/button-received.png",
                "__image_snapshots__/__diff_output__/button-diff.png",
            ],
            &[(
                "__image_snapshots__/button-snap.png",
                "__image_snapshots__/button-snap.png",
                "__image_snapshots__/__received_output__/button-received.png",
            )],
        ),
        (
            "reg-suit",
            &["expected/a/b.png", "actual/a/b.png", "diff/a/b.png", "actual/new.png"],
            &[("a/b.png", "expected/a/b.png", "actual/a/b.png"), ("new.png", "", "actual/new.png")],
        ),
        (
            "loki",
            &["reference/chrome_a.png", "current/chrome_a.png", "difference/chrome_a.png"],
            &[("chrome_a.png", "reference/chrome_a.png", "current/chrome_a.png")],
        ),
        (
            "cypress",
            &["base/spec.cy.js/home.png", "actual/spec.cy.js/home.png", "diff/spec.cy.js/home.png"],
            &[("spec.cy.js/home.png", "base/spec.cy.js/home.png", "actual/spec.cy.js/home.png")],
        ),
        (
            "cypress-image-diff",
            &["baseline/home.png", "comparison/home.png", "diff/home.png"],
            &[("home.png", "baseline/home.png", "comparison/home.png")],
        ),
        (
            "backstop",
            &[
                "bitmaps_reference/home_0_phone.png",
                "bitmaps_test/20260130-090000/home_0_phone.png",
                "bitmaps_test/20260131-090000/home_0_phone.png",
                "bitmaps_test/20260131-090000/failed_diff_home_0_phone.png",
                "bitmaps_test/20260131-090000/report.json",
            ],
            &[(
                "home_0_phone.png",
                "bitmaps_reference/home_0_phone.png",
                "bitmaps_test/20260131-090000/home_0_phone.png",
            )],
        ),
    ];

    #[test]
    fn layouts_are_read_and_recognised_as_the_tools_leave_them() {
        for (name, files, pairs) in CASES {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for file in files {
                let path = root.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            let layout: Layout = name.parse().unwrap();
            assert_eq!(Layout::recognise(&root).unwrap(), layout, "{name}");
            assert_eq!(layout.name(), name);
            let found = layout.read(&root, &[]).unwrap();
            let shown = |place: &Option<Place>| {
                let path = place.as_ref().map(|place| place.path.strip_prefix(&root).unwrap());
                path.unwrap_or(Path::new("")).to_str().unwrap().to_owned()
            };
            let told: Vec<(String, String, String)> = found
                .pairs
                .iter()
                .map(|pair| (pair.name.text(), shown(&pair.golden), shown(&pair.actual)))
                .collect();
            let expected: Vec<(String, String, String)> = pairs
                .iter()
                .map(|(name, golden, actual)| {
                    ((*name).to_owned(), (*golden).to_owned(), (*actual).to_owned())
                })
                .collect();
            assert_eq!(told, expected, "{name}");
        }
    }

    #[test]
    fn another_folder_than_the_layouts_is_told_which_it_takes() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("snapshots/base")).unwrap();
        fs::create_dir_all(folder.path().join("snapshots/actual")).unwrap();
        for known in &FOLDERS {
            let Folders { name, usual, golden, actual, .. } = known;
            let layout: Layout = name.parse().unwrap();
            let message = layout.read(folder.path(), &[]).unwrap_err().to_string();
            let expected = format!(
                "{}: has no folder {golden}: {name} takes the one that has {golden} and {actual}, \
                 as a rule {usual}",
                folder.path().display()
            );
            assert_eq!(message, expected);
        }
        let cypress: Layout = "cypress".parse().unwrap();
        assert!(cypress.read(&folder.path().join("snapshots"), &[]).is_ok());
    }

    #[test]
    fn what_has_no_layout_is_said_to_have_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.png"), "").unwrap();
        let message = Layout::recognise(folder.path()).unwrap_err().to_string();
        assert!(message.contains("its layout is none that is known"), "{message}");
        let message = "storybook".parse::<Layout>().unwrap_err().to_string();
        assert!(
            message.starts_with("layout 'storybook' is unknown: use auto, playwright"),
            "{message}"
        );
        let backstop: Layout = "backstop".parse().unwrap();
        fs::create_dir(folder.path().join("bitmaps_test")).unwrap();
        fs::create_dir(folder.path().join("bitmaps_reference")).unwrap();
        let message = backstop.read(folder.path(), &[]).unwrap_err().to_string();
        assert!(message.ends_with("bitmaps_test: no run has left a folder here"), "{message}");
    }
}

//! A part of the pairs, for one of several machines.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

use super::Name;

/// The most parts there may be.
const MAX_COUNT: u32 = 10_000;

/// Part `index` of `count`, which together hold every name once. A name stays in its part whatever
/// other names there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// # Errors
    /// When `index` is not in 1..=`count`.
    pub(crate) fn new(index: u32, count: u32) -> Result<Self> {
        Self::checked(index.into(), count.into())
    }

    fn checked(index: u64, count: u64) -> Result<Self> {
        let wrong = |what: String| Err(Error::usage(format!("shard {index}/{count} {what}")));
        match (u32::try_from(index), u32::try_from(count)) {
            (_, Ok(0)) => wrong("is of no parts: the second number is 1 or more".to_owned()),
            (Ok(index), Ok(count)) if count <= MAX_COUNT && (1..=count).contains(&index) => {
                Ok(Self { index, count })
            }
            (_, Ok(..=MAX_COUNT)) => wrong(format!("is not one of 1/{count} to {count}/{count}")),
            _ => wrong(format!("is of too many parts: at most {MAX_COUNT}")),
        }
    }

    /// From 1 on.
    pub(crate) const fn index(self) -> u32 {
        self.index
    }

    pub(crate) const fn count(self) -> u32 {
        self.count
    }

    /// Whether `name` is compared in this part.
    pub(crate) fn holds(self, name: &Name) -> bool {
        mixed(name.bytes()) % u64::from(self.count) == u64::from(self.index - 1)
    }
}

/// FNV-1a, and the finalizer of MurmurHash3, for the low bits of FNV alone depend on few bits. Must
/// stay as it is: parts of one run may be compared by two versions.
fn mixed(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    let once = (fnv ^ (fnv >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let twice = (once ^ (once >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    twice ^ (twice >> 33)
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').map(|(index, count)| (index.parse(), count.parse()));
        match numbers {
            Some((Ok(index), Ok(count))) => Self::checked(index, count),
            _ => Err(Error::usage(format!("shard '{text}' is not INDEX/COUNT, such as 1/4"))),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;

    fn name(text: &str) -> Name {
        Name::new(Path::new(text)).unwrap()
    }

    proptest! {
        #[test]
        fn every_name_is_in_one_part(text in "[a-z]{1,8}(/[a-zé ]{1,8}){0,3}", count in 1_u32..50) {
            let name = name(&text);
            let parts = (1..=count).filter(|&index| Shard::new(index, count).unwrap().holds(&name));
            prop_assert_eq!(parts.count(), 1);
        }
    }

    #[test]
    fn parts_are_about_as_large_as_each_other() {
        let names: Vec<Name> = (0..4000).map(|n| name(&format!("page-{n:04}.png"))).collect();
        for index in 1..=4 {
            let shard = Shard::new(index, 4).unwrap();
            let held = names.iter().filter(|name| shard.holds(name)).count();
            assert!((900..1100).contains(&held), "{held} in part {index}");
        }
    }

    #[test]
    fn names_stay_where_they_are_from_version_to_version() {
        for (text, index) in [("a.png", 7), ("login/dark.png", 6), ("é.png", 2)] {
            let parts = (1..=8).filter(|&index| Shard::new(index, 8).unwrap().holds(&name(text)));
            assert_eq!(parts.collect::<Vec<_>>(), [index], "{text}");
        }
    }

    #[test]
    fn shards_as_text() {
        for (text, is_fine) in [
            ("1/4", true),
            ("4/4", true),
            ("0/4", false),
            ("5/4", false),
            ("1", false),
            ("a/b", false),
            ("1/0", false),
        ] {
            assert_eq!(text.parse::<Shard>().is_ok(), is_fine, "{text}");
        }
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for (text, message) in [
            ("5/4", "is not one of 1/4 to 4/4"),
            ("0/4", "is not one of 1/4 to 4/4"),
            ("99999999999/4", "is not one of 1/4 to 4/4"),
            ("1/0", "is of no parts: the second number is 1 or more"),
            ("1/10001", "is of too many parts: at most 10000"),
            ("1/99999999999", "is of too many parts: at most 10000"),
        ] {
            let told = text.parse::<Shard>().unwrap_err().to_string();
            assert_eq!(told, format!("shard {text} {message}"));
        }
    }
}

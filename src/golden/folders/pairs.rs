//! What belongs together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Name;

/// A picture file, or what stands where one should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// Why it is not even opened.
    pub(crate) trouble: Option<String>,
}

/// A picture of either folder, or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) name: Name,
    pub(crate) golden: Option<Place>,
    pub(crate) actual: Option<Place>,
}

/// The pictures of both folders by name.
pub(crate) fn pair_up(golden: Vec<(Name, Place)>, actual: Vec<(Name, Place)>) -> Vec<Pair> {
    let mut pairs: BTreeMap<Name, Pair> = golden
        .into_iter()
        .map(|(name, place)| (name.clone(), Pair { name, golden: Some(place), actual: None }))
        .collect();
    for (name, place) in actual {
        pairs.entry(name.clone()).or_insert(Pair { name, golden: None, actual: None }).actual =
            Some(place);
    }
    pairs.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn names_of_both_sides_meet_in_their_order() {
        let side = |names: &[&str]| {
            let place = |name: &&str| {
                let place = Place { path: PathBuf::from(name), trouble: None };
                (Name::new(Path::new(name)).unwrap(), place)
            };
            names.iter().map(place).collect::<Vec<_>>()
        };
        let pairs = pair_up(side(&["a", "b", "d"]), side(&["c", "b", "a/x"]));
        let told: Vec<(String, bool, bool)> = pairs
            .iter()
            .map(|pair| (pair.name.text(), pair.golden.is_some(), pair.actual.is_some()))
            .collect();
        let expected = [
            ("a", true, false),
            ("a/x", false, true),
            ("b", true, true),
            ("c", false, true),
            ("d", true, false),
        ];
        assert_eq!(told, expected.map(|(name, golden, actual)| (name.to_owned(), golden, actual)));
    }
}

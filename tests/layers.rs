//! A module imports only from rows above it: the architecture as a test.
//!
//! Reads the `crate::` paths of every file under `src`, wherever they stand, and compares the rows
//! of the two modules.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test says what it skips and stops where it fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// The rows of `ARCHITECTURE.md`. A module may use any module of a smaller row, and itself.
const ROWS: &[(&str, u32)] = &[
    ("geometry", 0),
    ("clock", 0),
    ("error", 0),
    ("frame", 1),
    ("diff", 2),
    ("areas", 3),
    ("report", 4),
    ("golden", 5),
    ("wait", 5),
    ("act", 6),
    ("surface", 7),
    ("front", 8),
    ("main", 9),
];

/// Within row 0: points and sizes report errors, nothing else imports sideways.
const SIDEWAYS: &[(&str, &str)] = &[("geometry", "error")];

fn row(module: &str) -> u32 {
    ROWS.iter()
        .find(|(name, _)| *name == module)
        .unwrap_or_else(|| panic!("module '{module}' has no row: give it one in ARCHITECTURE.md"))
        .1
}

/// What each file under `src` is part of: the module, and for a surface the surface too.
fn place(path: &Path) -> (String, Option<String>) {
    let inside = path.strip_prefix(root()).unwrap();
    let mut names = inside.iter().map(|part| part.to_str().unwrap().trim_end_matches(".rs"));
    let module = names.next().unwrap().to_owned();
    let part = names.next().filter(|name| module == "surface" && *name != "mod");
    (module, part.map(str::to_owned))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// The code of a file without its comments and its unit tests, which may use what they like.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every `crate::a::b` of a file, also those inside `crate::{…}`, as its first two names.
fn uses(code: &str) -> Vec<(String, Option<String>)> {
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    code.match_indices("crate::")
        .filter(|(at, _)| !code[..*at].ends_with(['$', '_']))
        .map(|(at, _)| &code[at + "crate::".len()..])
        .map(|path| {
            assert!(
                !path.starts_with('{'),
                "write `use crate::module::…` one module a line: {path:.40}"
            );
            let first = name(path);
            let second = path[first.len()..].strip_prefix("::").map(name);
            (first, second.filter(|name| !name.is_empty()))
        })
        .collect()
}

#[test]
fn modules_import_only_from_rows_above() {
    let mut checked = 0;
    for path in files(&root()) {
        let (module, part) = place(&path);
        if module == "lib" {
            continue;
        }
        for (used, used_part) in uses(&code(&path)) {
            if used.starts_with(char::is_uppercase) {
                panic!("{}: use {used} from its module", path.display());
            }
            checked += 1;
            if used == module {
                let sideways = part != used_part && part.is_some();
                assert!(!sideways, "{}: one surface uses another", path.display());
                continue;
            }
            let allowed =
                row(&used) < row(&module) || SIDEWAYS.contains(&(module.as_str(), used.as_str()));
            assert!(allowed, "{}: {module} uses {used}, which is not above it", path.display());
        }
    }
    assert!(checked > 20, "only {checked} imports were found: has the layout changed?");
}

#[test]
fn unsafe_lives_in_the_kernels_alone() {
    for path in files(&root()) {
        let inside = path.strip_prefix(root()).unwrap();
        let has_unsafe = code(&path)
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == "unsafe");
        assert!(!has_unsafe || inside.starts_with("diff/kernel"), "{}", path.display());
    }
}

#[test]
fn time_is_read_by_the_clock_alone() {
    for path in files(&root()) {
        let reads = ["Instant::now", "SystemTime::now", "thread::sleep"];
        let found = reads.iter().find(|call| code(&path).contains(**call));
        let is_clock = path.ends_with("clock.rs");
        assert!(is_clock || found.is_none(), "{}: {found:?}", path.display());
    }
}

#[test]
fn nothing_prints_below_the_front() {
    for path in files(&root()) {
        let prints = ["println!", "eprintln!", "print!(", "dbg!(", "io::stdout", "io::stderr"];
        let found = prints.iter().find(|call| code(&path).contains(**call));
        let (module, _) = place(&path);
        // What stands in a macro runs in the crate that calls it.
        let is_elsewhere = path.ends_with("golden/macros.rs");
        assert!(
            module == "front" || is_elsewhere || found.is_none(),
            "{}: {found:?}",
            path.display()
        );
    }
}

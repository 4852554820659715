//! Every dependency, of every feature and of the tests, has a licence this project may be used with.

use std::path::Path;
use std::process::Command;

const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether an SPDX expression leaves an allowed choice.
fn is_allowed(expression: &str) -> bool {
    expression.split(" AND ").all(|part| {
        let choices = part.split(" OR ").flat_map(|choice| choice.split('/'));
        choices.map(|one| one.trim_matches(['(', ')', ' '])).any(|one| ALLOWED.contains(&one))
    })
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let metadata = match metadata(&["--all-features"]) {
        Ok(metadata) => metadata,
        // Of features that were never built, and of other platforms, packages have to be fetched.
        Err(error) => {
            println!("skipped: the dependencies of optional features are not to be had: {error}");
            metadata(&["--offline"]).unwrap()
        }
    };
    let packages = metadata["packages"].as_array().unwrap();
    let licence =
        |package: &serde_json::Value| package["license"].as_str().unwrap_or("none").to_owned();
    let wrong: Vec<String> = packages
        .iter()
        .filter(|package| !is_allowed(&licence(package)))
        .map(|package| format!("{}: {}", package["name"], licence(package)))
        .collect();
    assert!(packages.len() > 50, "only {} packages were found", packages.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What cargo tells of the package and everything it depends on, or cargo's own words.
fn metadata(arguments: &[&str]) -> Result<serde_json::Value, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest)
        .args(arguments)
        .output()
        .unwrap();
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn licence_expressions_are_read() {
    for (expression, allowed) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0 OR MIT", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("MIT AND GPL-3.0", false),
        ("GPL-3.0", false),
        ("none", false),
    ] {
        assert_eq!(is_allowed(expression), allowed, "{expression}");
    }
}

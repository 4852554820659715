//! A build without the feature `mcp` says how to get one.

use super::command::seechange;

#[test]
fn a_build_without_the_server_says_how_to_build_it() {
    let folder = tempfile::tempdir().unwrap();
    let answer = seechange(folder.path(), &["mcp", "--surface", "demo"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""));
    assert_eq!(answer.stderr, "seechange: this build has no mcp: build it with --features mcp\n");
}

//! `seechange accept`, after real comparisons.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::command::{Answer, seechange};
use crate::compare_command::{compare, folders, picture, put};

fn compared() -> tempfile::TempDir {
    let root = folders();
    assert_eq!(compare(root.path(), &["--out", "out"]).code, Some(2));
    root
}

fn accept(root: &Path, more: &[&str]) -> Answer {
    let all: Vec<&str> = ["accept", "out"].into_iter().chain(more.iter().copied()).collect();
    seechange(root, &all)
}

fn is_alike(root: &Path, name: &str) -> bool {
    let read = |side: &str| fs::read(root.join(side).join(name)).ok();
    read("golden") == read("shots")
}

/// Every file below `golden` with its bytes.
fn goldens(root: &Path) -> Vec<(String, Vec<u8>)> {
    let names = [
        "added.png",
        "deep/er/changed.png",
        "removed.png",
        "resized.png",
        "same.png",
        "unreadable.png",
    ];
    let read = |name: &str| Some((name.to_owned(), fs::read(root.join("golden").join(name)).ok()?));
    names.into_iter().filter_map(read).collect()
}

fn results(answer: &Answer) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let json = answer.json();
    json["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (text(&row["path"]), text(&row["result"])))
        .collect()
}

#[test]
fn all_that_can_be_accepted_is_and_the_next_comparison_is_the_same() {
    let root = compared();
    let answer = accept(root.path(), &["--all", "--delete-removed"]);
    assert_eq!(
        answer.stdout,
        "added.png: added
deep/er/changed.png: replaced
removed.png: deleted
resized.png: replaced
unreadable.png: refused: the report has no copy of the actual picture
4 of 5 accepted in golden
"
    );
    assert_eq!(answer.code, Some(1));
    let report = compare(root.path(), &["--out", "out"]).json();
    assert_eq!((&report["totals"]["same"], &report["totals"]["pairs"]), (&4.into(), &5.into()));
    let again = accept(root.path(), &["resized.png", "same.png"]);
    assert_eq!(
        (again.code, again.stdout.lines().next()),
        (Some(0), Some("resized.png: is golden already"))
    );
}

#[test]
fn paths_choose_exactly_or_by_glob() {
    for (paths, accepted) in [
        (vec!["deep/er/changed.png"], vec!["deep/er/changed.png"]),
        (vec!["./resized.png"], vec!["resized.png"]),
        (vec!["deep/**"], vec!["deep/er/changed.png"]),
        (vec!["{added,resized}.png"], vec!["added.png", "resized.png"]),
        (vec!["a*.png", "resized.png", "a*.png"], vec!["added.png", "resized.png"]),
    ] {
        let root = compared();
        let before = goldens(root.path());
        let answer = accept(root.path(), &paths);
        assert_eq!(answer.code, Some(0), "{paths:?}: {answer:?}");
        for (name, bytes) in goldens(root.path()) {
            let is_accepted = accepted.contains(&name.as_str());
            assert!(!is_accepted || is_alike(root.path(), &name), "{name}");
            assert!(is_accepted || before.contains(&(name.clone(), bytes)), "{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_taken_as_they_are_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let root = tempfile::tempdir().unwrap();
    let bytes: [&[u8]; 4] = [b"x\xfe.png", b"x\xff.png", b"x\n.png", b"x\xe2\x82.png"];
    for name in bytes {
        let path = root.path().join("shots").join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, picture(20, 20, 1)).unwrap();
    }
    fs::create_dir(root.path().join("golden")).unwrap();
    let shown = seechange(root.path(), &["compare", "golden", "shots", "--out", "out"]).stdout;
    for (name, spelled) in
        bytes.iter().zip([r"x\xfe.png", r"x\xff.png", r"x\n.png", r"x\xe2\x82.png"])
    {
        assert_eq!(shown.matches(&format!(" {spelled}: ")).count(), 1, "{shown}");
        let answer = accept(root.path(), &[spelled]);
        assert_eq!(answer.stdout, format!("{spelled}: added\n1 of 1 accepted in golden\n"));
        assert!(root.path().join("golden").join(OsStr::from_bytes(name)).is_file(), "{spelled}");
    }
}

#[test]
fn nothing_is_done_unasked_or_on_a_dry_run() {
    let root = compared();
    let before = goldens(root.path());
    for (more, code, part) in [
        (
            vec![],
            2,
            "seechange: nothing is accepted unasked: name PATHS of the report, or give --all\n",
        ),
        (
            vec!["resized.png", "typo.png"],
            2,
            "seechange: typo.png: nothing of that name is there to accept\n",
        ),
        (vec!["--all", "resized.png"], 2, "cannot be used with"),
        (
            vec!["--all", "--base", "nowhere"],
            2,
            "nowhere: cannot be read: no such file or directory",
        ),
        (
            vec!["--all", "--dry-run"],
            1,
            "removed.png: refused: there is no actual picture: give --delete-removed to delete the golden one",
        ),
        (
            vec!["resized.png", "--dry-run"],
            0,
            "resized.png: would be replaced\nDry run, nothing was written: 1 of 1 would be accepted in golden\n",
        ),
    ] {
        let answer = accept(root.path(), &more);
        assert_eq!(answer.code, Some(code), "{answer:?}");
        assert!(answer.stdout.contains(part) || answer.stderr.contains(part), "{answer:?}");
        assert_eq!(goldens(root.path()), before, "{more:?}");
    }
    let dry = accept(root.path(), &["--all", "--delete-removed", "--dry-run", "--json"]);
    let words: Vec<String> = results(&dry).into_iter().map(|(_, result)| result).collect();
    let expected = ["would_add", "would_replace", "would_delete", "would_replace", "refused"];
    assert_eq!(words, expected);
}

#[test]
fn a_golden_picture_that_changed_since_is_not_lost() {
    let root = compared();
    let newer = picture(200, 100, 33);
    put(root.path(), "golden/deep/er/changed.png", &newer);
    put(root.path(), "golden/added.png", &newer);
    put(root.path(), "golden/removed.png", &newer);
    let more = ["--all", "--delete-removed", "--json"];
    let answer = accept(root.path(), &more);
    assert_eq!(answer.code, Some(1));
    let refused = |name: &str| (name.to_owned(), "refused".to_owned());
    let expected = [
        refused("added.png"),
        refused("deep/er/changed.png"),
        refused("removed.png"),
        ("resized.png".to_owned(), "replaced".to_owned()),
        refused("unreadable.png"),
    ];
    assert_eq!(results(&answer), expected);
    assert_eq!(fs::read(root.path().join("golden/added.png")).unwrap(), newer);
    let forced = accept(root.path(), &["added.png", "deep/**", "--force"]);
    assert_eq!(forced.code, Some(0), "{forced:?}");
    assert!(is_alike(root.path(), "added.png") && is_alike(root.path(), "deep/er/changed.png"));
}

#[test]
fn the_report_is_the_copy_whatever_became_of_the_shots() {
    let root = compared();
    let expected = fs::read(root.path().join("shots/resized.png")).unwrap();
    fs::remove_dir_all(root.path().join("shots")).unwrap();
    fs::rename(root.path().join("golden"), root.path().join("moved")).unwrap();
    fs::rename(root.path().join("out"), root.path().join("artifact")).unwrap();
    let lost = seechange(root.path(), &["accept", "artifact", "resized.png"]);
    assert_eq!(lost.code, Some(2));
    assert!(lost.stderr.contains("say with --base where the golden pictures are"), "{lost:?}");
    let found = ["accept", "artifact/report.json", "resized.png", "--base", "moved"];
    assert_eq!(seechange(root.path(), &found).code, Some(0));
    assert_eq!(fs::read(root.path().join("moved/resized.png")).unwrap(), expected);
}

/// Changes the report as somebody might who wants something else to be written.
fn forge(root: &Path, change: impl FnOnce(&mut Value)) {
    let path = root.join("out/report.json");
    let mut report: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    // deep/er/changed.png
    change(&mut report["rows"][1]);
    fs::write(path, report.to_string()).unwrap();
}

#[test]
fn a_forged_report_writes_nothing_elsewhere() {
    type Forgery = (&'static str, fn(&mut Value));
    let forgeries: [Forgery; 8] = [
        ("this is no path below the golden folder", |row| row["path"] = json!("../victim.png")),
        ("this is no path below the golden folder", |row| row["path"] = json!("/tmp/victim.png")),
        ("this is no path below the golden folder", |row| row["path"] = json!("deep/.bashrc")),
        ("this is no path below the golden folder", |row| {
            row["path_bytes"] = json!("2e2e2f612e706e67")
        }),
        ("is no copy in the folder of the report", |row| {
            row["files"]["actual"]["path"] = json!("../shots/resized.png")
        }),
        ("is no copy in the folder of the report", |row| {
            row["files"]["actual"]["path"] = json!("pairs/00001/../00001/actual.png")
        }),
        ("is no longer the picture that was compared", |row| {
            row["files"]["actual"]["path"] = json!("pairs/00001/actual.png")
        }),
        ("is no longer the picture that was compared", |row| {
            row["files"]["actual"]["sha256"] = json!("00")
        }),
    ];
    for (index, (reason, change)) in forgeries.into_iter().enumerate() {
        let root = compared();
        let before = goldens(root.path());
        // Another picture under the same name as the one that is forged.
        put(root.path(), "out/pairs/00001/actual.png", &picture(9, 9, 1));
        forge(root.path(), change);
        let answer = accept(root.path(), &["--all", "--json"]);
        let rows = answer.json();
        let told = rows["rows"][1]["reason"].as_str().unwrap_or_default().to_owned();
        assert!(told.contains(reason), "{index}: {answer:?}");
        let after = goldens(root.path());
        assert!(after.contains(&before[0]), "{index}: the golden picture is as it was");
        assert!(!root.path().join("victim.png").exists());
    }
}

#[test]
fn what_is_no_report_is_said_to_be_none() {
    let root = compared();
    for (text, part) in [
        ("", "out/report.json: is no report of `seechange compare`: EOF"),
        ("{}", "its schema is none, not seechange.compare/1"),
        ("{\"schema\":\"seechange.diff/1\"}", "its schema is seechange.diff/1"),
        ("{\"schema\":\"seechange.compare/1\"}", "missing field"),
    ] {
        fs::write(root.path().join("out/report.json"), text).unwrap();
        let answer = accept(root.path(), &["--all"]);
        assert_eq!(answer.code, Some(2));
        assert!(answer.stderr.contains(part), "{answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_loses_no_golden_picture_and_the_rest_is_done() {
    let root = folders();
    // The new golden picture of `large.png` has more than the 512 bytes that a file may have below.
    let noise = image::RgbImage::from_fn(40, 40, |x, y| {
        image::Rgb(
            [x * y * 7 % 251, (x * 31 + y * 17) % 256, y].map(|value| u8::try_from(value).unwrap()),
        )
    });
    noise.save(root.path().join("shots/large.png")).unwrap();
    put(root.path(), "golden/large.png", &picture(40, 40, 3));
    put(root.path(), "golden/small.png", &picture(20, 20, 3));
    put(root.path(), "shots/small.png", &picture(20, 20, 9));
    compare(root.path(), &["--out", "out"]);
    let large = fs::read(root.path().join("golden/large.png")).unwrap();
    let command = format!(
        "ulimit -f 1; trap '' XFSZ; exec {} accept out large.png small.png",
        env!("CARGO_BIN_EXE_seechange")
    );
    let mut shell = std::process::Command::new("sh");
    let output = shell.current_dir(root.path()).args(["-c", &command]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        stdout,
        "large.png: failed: the golden picture cannot be written: file too large\n\
         small.png: replaced\n1 of 2 accepted in golden\n"
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(root.path().join("golden/large.png")).unwrap(), large);
    let names = fs::read_dir(root.path().join("golden")).unwrap();
    let parts = names
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|it| it == "part"));
    assert_eq!(parts.count(), 0, "nothing is left beside");
}

#[test]
fn what_failed_tests_left_becomes_golden() {
    let root = tempfile::tempdir().unwrap();
    let (old, new) = (picture(20, 20, 1), picture(20, 20, 5));
    for (name, bytes) in [
        ("golden/a.png", &old),
        ("golden/a.new.png", &new),
        ("golden/a.diff.png", &old),
        ("golden/sub/first.new.png", &new),
        ("golden/b.png", &old),
        ("golden/broken.png", &old),
        ("golden/broken.new.png", &b"no picture".to_vec()),
    ] {
        put(root.path(), name, bytes);
    }
    let run = |more: &[&str]| {
        let all: Vec<&str> = ["accept", "golden"].into_iter().chain(more.iter().copied()).collect();
        seechange(root.path(), &all)
    };
    assert_eq!(
        run(&["a.png", "--dry-run"]).stdout.lines().next(),
        Some("a.png: would be replaced")
    );
    let answer = run(&["--all"]);
    assert_eq!(
        answer.stdout,
        "a.png: replaced
broken.png: refused: broken.new.png: is not a picture (PNG, JPEG, WebP, BMP, TIFF, QOI and GIF are read)
sub/first.png: added
2 of 3 accepted in golden
"
    );
    assert_eq!(answer.code, Some(1));
    let read = |name: &str| fs::read(root.path().join(name)).ok();
    for (name, bytes) in [
        ("golden/a.png", Some(&new)),
        ("golden/a.new.png", None),
        ("golden/a.diff.png", None),
        ("golden/sub/first.png", Some(&new)),
        ("golden/b.png", Some(&old)),
        ("golden/broken.png", Some(&old)),
    ] {
        assert_eq!(read(name).as_ref(), bytes, "{name}");
    }
    fs::remove_file(root.path().join("golden/broken.new.png")).unwrap();
    let nothing = run(&["--all"]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("there is neither a report.json nor a .new.png to accept"));
}

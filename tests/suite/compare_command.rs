//! `seechange compare`, as a person and a CI job see it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use seechange::{Frame, PixelFormat, Size, frame};
use serde_json::Value;

use crate::command::{Answer, command, seechange};

/// A white picture with a black square of `square` pixels an edge.
pub(crate) fn picture(width: u32, height: u32, square: usize) -> Vec<u8> {
    let size = Size::new(width, height).unwrap();
    let mut frame = Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]);
    for row in frame.data_mut().chunks_exact_mut(width as usize * 4).take(square) {
        row[..square * 4].chunks_exact_mut(4).for_each(|pixel| pixel[..3].fill(0));
    }
    frame::encode_png(&frame).unwrap()
}

pub(crate) fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// One pair of every verdict below `golden` and `shots`.
pub(crate) fn folders() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let (white, boxed) = (picture(200, 100, 0), picture(200, 100, 20));
    for (name, golden, actual) in [
        ("same.png", Some(&white), Some(&white)),
        ("deep/er/changed.png", Some(&white), Some(&boxed)),
        ("resized.png", Some(&white), Some(&picture(200, 101, 0))),
        ("added.png", None, Some(&boxed)),
        ("removed.png", Some(&boxed), None),
        ("unreadable.png", Some(&white), Some(&white[..white.len() - 20].to_vec())),
    ] {
        golden.into_iter().for_each(|bytes| put(root.path(), &format!("golden/{name}"), bytes));
        actual.into_iter().for_each(|bytes| put(root.path(), &format!("shots/{name}"), bytes));
    }
    root
}

pub(crate) fn compare(root: &Path, more: &[&str]) -> Answer {
    let fixed = ["compare", "golden", "shots", "--json"];
    seechange(root, &fixed.into_iter().chain(more.iter().copied()).collect::<Vec<_>>())
}

fn verdicts(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = report["rows"].as_array().unwrap().iter();
    rows.map(|row| (text(&row["path"]), text(&row["verdict"]))).collect()
}

/// Every file below a folder, by its path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn every_verdict_has_a_row_with_its_pictures() {
    let root = folders();
    let answer = compare(root.path(), &["--out", "out"]);
    assert_eq!(answer.code, Some(2), "one cannot be read: {answer:?}");
    let report = answer.json();
    let expected = [
        ("added.png", "added"),
        ("deep/er/changed.png", "changed"),
        ("removed.png", "removed"),
        ("resized.png", "resized"),
        ("same.png", "same"),
        ("unreadable.png", "unreadable"),
    ];
    assert_eq!(verdicts(&report), expected.map(|(path, word)| (path.to_owned(), word.to_owned())));
    for (name, count) in [
        ("pairs", 6),
        ("same", 1),
        ("changed", 1),
        ("resized", 1),
        ("added", 1),
        ("removed", 1),
        ("unreadable", 1),
        ("failing", 5),
        ("allowed", 0),
    ] {
        assert_eq!(report["totals"][name], count, "{name}");
    }
    let out = root.path().join("out");
    assert_eq!(
        report,
        serde_json::from_slice::<Value>(&fs::read(out.join("report.json")).unwrap()).unwrap()
    );
    let names: Vec<String> =
        files(&out).keys().map(|path| path.to_str().unwrap().to_owned()).collect();
    assert_eq!(
        names,
        [
            ".seechange-report",
            "index.html",
            "junit.xml",
            "pairs/00001/actual.png",
            "pairs/00002/actual.png",
            "pairs/00002/area-1-after.png",
            "pairs/00002/area-1-before.png",
            "pairs/00002/before.png",
            "pairs/00002/diff.png",
            "pairs/00002/overview.png",
            "pairs/00003/before.png",
            "pairs/00004/actual.png",
            "pairs/00004/before.png",
            "pairs/00004/overview.png",
            "pairs/00006/before.png",
            "report.json",
        ]
    );
    let changed = &report["rows"][1];
    assert_eq!(changed["sentence"], "Pixels changed in 1 area (frame pixels; 2.0% of the frame).");
    assert_eq!(changed["diff_picture"], "pairs/00002/diff.png");
    assert_eq!(changed["diff"]["changed_pixels"], 400);
    for picture in changed["diff"]["pictures"].as_array().unwrap() {
        assert!(out.join(picture["path"].as_str().unwrap()).is_file(), "{picture}");
    }
    let before = &changed["files"]["before"];
    assert_eq!((&before["width"], &before["height"]), (&200.into(), &100.into()));
    let golden = fs::read(root.path().join("golden/deep/er/changed.png")).unwrap();
    assert_eq!(fs::read(out.join(before["path"].as_str().unwrap())).unwrap(), golden);
    assert_eq!(before["sha256"], changed["golden_sha256"]);
    let error = &report["rows"][5]["error"];
    assert_eq!((&error["side"], &error["kind"]), (&"actual".into(), &"file".into()));
    assert_eq!(error["message"], "is no readable PNG picture: its end is missing");
}

#[test]
fn a_report_is_one_file_on_request() {
    let root = folders();
    let page = |more: &[&str]| {
        compare(root.path(), &[&["--out", "out"], more].concat());
        fs::read_to_string(root.path().join("out/index.html")).unwrap()
    };
    let (plain, single) = (page(&[]), page(&["--single-file"]));
    let pictures = "Content-Security-Policy";
    assert!(plain.contains(pictures) && single.contains(pictures));
    // The pictures as base64, four letters for three bytes; the crops are not among them.
    let report: Value =
        serde_json::from_slice(&fs::read(root.path().join("out/report.json")).unwrap()).unwrap();
    let bytes = report["rows"][1]["files"]["actual"]["bytes"].as_u64().unwrap();
    assert!(
        single.len() as u64 > plain.len() as u64 + 8 * bytes,
        "{} and {}",
        single.len(),
        plain.len()
    );
    let answer = compare(root.path(), &["--single-file"]);
    assert!(answer.stderr.contains("--out"), "{answer:?}");
}

#[test]
fn exit_codes_follow_what_is_allowed() {
    let root = folders();
    for (more, code, failing) in [
        (vec![], 2, 5),
        (vec!["--allow", "unreadable"], 1, 4),
        (vec!["--allow", "unreadable,changed,resized,added"], 1, 1),
        (vec!["--allow", "unreadable,changed,resized,added,removed"], 0, 0),
        (vec!["--max-changed-pixels", "400", "--allow", "unreadable,resized,added,removed"], 0, 0),
        (vec!["--max-changed-pixels", "399", "--allow", "unreadable,resized,added,removed"], 1, 1),
        (vec!["--ignore", "0,0,30,30", "--allow", "unreadable,resized,added,removed"], 0, 0),
    ] {
        let answer = compare(root.path(), &more);
        assert_eq!(answer.code, Some(code), "{more:?}: {answer:?}");
        assert_eq!(answer.json()["totals"]["failing"], failing, "{more:?}");
    }
    assert!(!root.path().join("out").exists(), "without --out nothing is written");
}

#[test]
fn the_words_name_the_worst_first() {
    let root = folders();
    let answer = seechange(root.path(), &["compare", "golden", "shots", "--out", "out"]);
    assert_eq!(
        answer.stdout,
        "6 pairs: 1 same, 1 changed, 1 of another size, 1 added, 1 removed, 1 unreadable
  unreadable unreadable.png: The actual picture is no readable PNG picture: its end is missing.
  changed    deep/er/changed.png: Pixels changed in 1 area (frame pixels; 2.0% of the frame).
  resized    resized.png: The size changed from 200x100 to 200x101 (1 px taller).
  removed    removed.png: There is no actual picture for the golden one (200x100).
  added      added.png: There is no golden picture for the actual one (200x100).
Report: out/index.html; what is right becomes golden with: seechange accept out PATHS
"
    );
    assert_eq!(answer.stderr, "", "no bar where there is no terminal");
}

#[test]
fn what_cannot_be_compared_is_trouble() {
    let root = folders();
    fs::create_dir(root.path().join("empty")).unwrap();
    fs::create_dir(root.path().join("texts")).unwrap();
    fs::write(root.path().join("texts/notes.txt"), "").unwrap();
    for (arguments, message) in [
        (
            vec!["golden", "nowhere"],
            "seechange: nowhere: cannot be read: no such file or directory\n",
        ),
        (
            vec!["golden", "shots/same.png"],
            "seechange: shots/same.png: is no folder: compare takes two folders, diff two files\n",
        ),
        (
            vec!["golden", "./golden/../golden"],
            "seechange: golden and ./golden/../golden are the same folder, so nothing would be compared\n",
        ),
        (
            vec!["empty", "texts"],
            "seechange: there is nothing to compare: neither empty nor texts has a picture (of 1 files none is called like one)\n",
        ),
        (vec!["golden"], "trouble"),
        (vec![], "trouble"),
        (vec!["golden", "shots", "--layout", "loki"], "trouble"),
        (vec!["golden", "--layout", "nothing"], "trouble"),
        (vec!["golden", "--layout", "auto"], "trouble"),
        (vec!["merge"], "trouble"),
        (vec!["golden", "shots", "--out", "shots"], "trouble"),
        (vec!["golden", "shots", "--out", "shots/same.png"], "trouble"),
        (vec!["golden", "shots", "--allow", "same"], "trouble"),
        (vec!["golden", "shots", "--shard", "3/2"], "trouble"),
        (vec!["golden", "shots", "--memory", "0"], "trouble"),
        (
            vec!["golden", "shots", "--memory", "-5"],
            "seechange: invalid value '-5' for '--memory <MB>': it takes 1 to 16777215 megabytes; see --help\n",
        ),
        (
            vec!["golden", "shots", "--shard", "-1/4"],
            "seechange: invalid value '-1/4' for '--shard <I/N>': shard '-1/4' is not INDEX/COUNT, such as 1/4; see --help\n",
        ),
        (
            vec!["golden", "shots", "--max-changed-pixels", "-1"],
            "seechange: invalid value '-1' for '--max-changed-pixels <N>': it takes a whole number, 0 or more; see --help\n",
        ),
    ] {
        let all: Vec<&str> = ["compare"].into_iter().chain(arguments.iter().copied()).collect();
        let answer = seechange(root.path(), &all);
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(
            message == "trouble" || answer.stderr == message,
            "{arguments:?}: {}",
            answer.stderr
        );
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    }
}

#[test]
fn the_answer_is_the_same_every_time() {
    let root = folders();
    let boxed = picture(200, 100, 7);
    for name in 0..40 {
        put(root.path(), &format!("golden/many/{name}.png"), &picture(200, 100, name));
        put(root.path(), &format!("shots/many/{name}.png"), &boxed);
    }
    let mut before = None;
    for (threads, memory) in [("1", "2048"), ("2", "1"), ("7", "2048"), ("7", "1")] {
        let mut command = command();
        command.current_dir(root.path()).env("RAYON_NUM_THREADS", threads);
        command.args(["compare", "golden", "shots", "--out", "out", "--memory", memory]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let mut files = files(&root.path().join("out"));
        let report = files.remove(Path::new("report.json")).unwrap();
        let mut report: Value = serde_json::from_slice(&report).unwrap();
        report["elapsed_ms"].take();
        // Both tell how long it took.
        files.remove(Path::new("index.html"));
        files.remove(Path::new("junit.xml"));
        let this = (report, files, output.stdout);
        assert!(before.as_ref().is_none_or(|before| *before == this), "{threads} {memory}");
        before = Some(this);
    }
}

#[test]
fn files_that_are_no_pictures_are_rows_and_the_rest_is_compared() {
    let root = tempfile::tempdir().unwrap();
    let white = picture(200, 100, 0);
    let mut huge = white.clone();
    // A header that declares more than the file can hold, with its checksum.
    huge[16..24].copy_from_slice(&[0, 0, 0x3f, 0, 0, 0, 0x3f, 0]);
    let checksum = crc32(&huge[12..29]);
    huge[29..33].copy_from_slice(&checksum.to_be_bytes());
    for (name, bytes) in [
        ("empty.png", Vec::new()),
        ("huge.png", huge),
        ("text.png", b"hello".to_vec()),
        ("cut.png", white[..60].to_vec()),
        ("fine.png", white.clone()),
    ] {
        put(root.path(), &format!("golden/{name}"), &white);
        put(root.path(), &format!("shots/{name}"), &bytes);
        // Both sides alike: still no picture.
        put(root.path(), &format!("golden/alike/{name}"), &bytes);
        put(root.path(), &format!("shots/alike/{name}"), &bytes);
    }
    fs::create_dir_all(root.path().join("shots/folder.png")).unwrap();
    put(root.path(), "golden/folder.png", &white);
    let report = compare(root.path(), &["--out", "out"]).json();
    let expected = [
        ("alike/cut.png", "unreadable"),
        ("alike/empty.png", "unreadable"),
        ("alike/fine.png", "same"),
        ("alike/huge.png", "unreadable"),
        ("alike/text.png", "unreadable"),
        ("cut.png", "unreadable"),
        ("empty.png", "unreadable"),
        ("fine.png", "same"),
        ("folder.png", "removed"),
        ("huge.png", "unreadable"),
        ("text.png", "unreadable"),
    ];
    assert_eq!(verdicts(&report), expected.map(|(path, word)| (path.to_owned(), word.to_owned())));
    let message = report["rows"][9]["error"]["message"].as_str().unwrap();
    assert!(message.contains("declares 16128x16128 pixels, more than its"), "{message}");
}

#[test]
fn what_is_wrong_with_a_pair_is_a_sentence() {
    let root = tempfile::tempdir().unwrap();
    let white = picture(200, 100, 0);
    let mut vast = white.clone();
    vast[16..24].copy_from_slice(&[0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0]);
    let checksum = crc32(&vast[12..29]);
    vast[29..33].copy_from_slice(&checksum.to_be_bytes());
    put(root.path(), "mask.png", &picture(40, 40, 0));
    for (name, bytes) in
        [("empty.png", &Vec::new()), ("fine.png", &picture(200, 100, 5)), ("vast.png", &vast)]
    {
        put(root.path(), &format!("golden/{name}"), &white);
        put(root.path(), &format!("shots/{name}"), bytes);
    }
    let report = compare(root.path(), &["--mask", "mask.png"]).json();
    for (row, sentence) in [
        "The actual picture is empty (0 bytes).",
        "The golden picture: the mask is 40x40 and the frame 200x100: they must have one size.",
        "The actual picture: a 100000x100000 picture is too large: at most",
    ]
    .iter()
    .enumerate()
    {
        let told = report["rows"][row]["sentence"].as_str().unwrap();
        assert!(told.starts_with(sentence), "{told}");
    }
    let words = ["diff", "golden/fine.png", "shots/fine.png", "--mask", "mask.png"];
    assert_eq!(
        seechange(root.path(), &words).stderr,
        "seechange: mask.png and golden/fine.png: the mask is 40x40 and the frame 200x100: they \
         must have one size\n"
    );
}

/// The checksum of PNG chunks, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

#[test]
fn a_pair_that_takes_more_than_the_budget_is_a_row_that_says_so() {
    let root = tempfile::tempdir().unwrap();
    for (name, edge) in [("large.png", 600), ("small.png", 200)] {
        put(root.path(), &format!("golden/{name}"), &picture(edge, edge, 3));
        put(root.path(), &format!("shots/{name}"), &picture(edge, edge, 0));
    }
    let report = compare(root.path(), &["--memory", "3"]).json();
    let large = &report["rows"][0];
    assert_eq!(large["error"]["message"], "takes 4 MB to compare, more than the 3 MB of --memory");
    assert_eq!(large["error"]["kind"], "limit");
    assert_eq!(report["rows"][1]["verdict"], "changed");
}

#[test]
fn the_verdict_is_the_same_whether_its_pictures_fit_the_budget_or_not() {
    let root = tempfile::tempdir().unwrap();
    let large = picture(600, 600, 0);
    for (name, golden, actual) in [
        ("added.png", None, Some(&large)),
        ("changed.png", Some(&picture(600, 600, 3)), Some(&large)),
        ("resized.png", Some(&picture(80, 60, 0)), Some(&large)),
        ("same.png", Some(&large), Some(&large)),
    ] {
        golden.into_iter().for_each(|bytes| put(root.path(), &format!("golden/{name}"), bytes));
        actual.into_iter().for_each(|bytes| put(root.path(), &format!("shots/{name}"), bytes));
    }
    let expected = ["added", "changed", "resized", "same"]
        .map(|verdict| (format!("{verdict}.png"), verdict.to_owned()));
    let changed = "Pixels changed in 1 area (frame pixels; under 0.01% of the frame).";
    let left_out =
        "Its pictures are left out: they take 5 MB to draw, more than the 4 MB of --memory.";
    for (more, sentence, is_drawn) in [
        (vec!["--memory", "4"], changed.to_owned(), false),
        (vec!["--memory", "4", "--out", "out"], format!("{changed} {left_out}"), false),
        (vec!["--memory", "5", "--out", "out"], changed.to_owned(), true),
    ] {
        let answer = compare(root.path(), &more);
        let report = answer.json();
        assert_eq!((answer.code, verdicts(&report)), (Some(1), expected.to_vec()), "{more:?}");
        let row = &report["rows"][1];
        assert_eq!(row["sentence"], sentence, "{more:?}");
        assert_eq!(row["diff_picture"].is_string(), is_drawn, "{more:?}");
        let has_copy = row["files"]["actual"]["path"] == "pairs/00002/actual.png";
        assert_eq!(has_copy, more.contains(&"--out"), "{more:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_names_that_are_no_text_are_answered() {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    let root = folders();
    let shots = root.path().join("shots");
    symlink("..", shots.join("loop")).unwrap();
    symlink("itself.png", shots.join("itself.png")).unwrap();
    symlink("/etc/passwd", shots.join("outside.png")).unwrap();
    symlink("same.png", shots.join("link.png")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff.png");
    fs::write(shots.join(odd), picture(20, 20, 0)).unwrap();
    // The same file on both sides.
    fs::hard_link(shots.join("same.png"), root.path().join("golden/hard.png")).unwrap();
    fs::hard_link(shots.join("same.png"), shots.join("hard.png")).unwrap();
    let answer = compare(root.path(), &["--out", "out"]);
    let report = answer.json();
    let of = |path: &str| {
        let rows = report["rows"].as_array().unwrap();
        rows.iter().find(|row| row["path"] == path).unwrap_or_else(|| panic!("{path}")).clone()
    };
    assert_eq!(of("hard.png")["verdict"], "same");
    assert_eq!(of("link.png")["verdict"], "added");
    for (path, message) in [
        ("outside.png", "is a link to outside of its folder, which is not followed"),
        ("itself.png", "is a link that leads nowhere: "),
    ] {
        let row = of(path);
        assert_eq!(row["verdict"], "unreadable");
        assert!(row["error"]["message"].as_str().unwrap().starts_with(message), "{row}");
    }
    let row = of(r"odd\xff.png");
    assert_eq!(
        (&row["verdict"], &row["path_bytes"]),
        (&"added".into(), &"6f6464ff2e706e67".into())
    );
    assert_eq!(
        report["remarks"],
        serde_json::json!(["Links to folders are not followed: 1 left out."])
    );
}

#[test]
fn a_report_inside_what_is_compared_is_not_compared() {
    let root = folders();
    let first = compare(root.path(), &["--out", "shots/report"]);
    let second = compare(root.path(), &["--out", "shots/report"]);
    assert_eq!(verdicts(&first.json()), verdicts(&second.json()));
    let nested = seechange(root.path(), &["compare", "golden", "golden/deep", "--json"]);
    assert_eq!(nested.json()["totals"]["pairs"], 5, "what is ACTUAL is no part of BASE");
}

#[test]
fn rules_by_path() {
    let root = folders();
    put(root.path(), "rules/masks/top.png", &picture(200, 100, 40));
    let rule = |text: &str| {
        fs::write(root.path().join("rules/rules.toml"), text).unwrap();
        compare(root.path(), &["--rules", "rules/rules.toml"])
    };
    let verdict = |text: &str| {
        let report = rule(text).json();
        let row = report["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["path"] == "deep/er/changed.png");
        row.map(|row| {
            (
                row["verdict"].as_str().unwrap().to_owned(),
                row["rule"].clone(),
                row["allowed"].clone(),
            )
        })
    };
    for (text, expected, allowed) in [
        ("path = 'deep/**'\nmax_changed_pixels = 400", "same", false),
        ("path = ['x', 'deep/er/*.png']\nignore = ['0,0,20,20']", "same", false),
        ("path = 'deep/**'\nregion = ['50,0,20,20']", "same", false),
        ("path = 'deep/**'\nmask = 'masks/top.png'", "same", false),
        ("path = 'deep/**'\nallow = ['changed']", "changed", true),
        (
            "path = 'deep/**'\nmax_changed_pixels = 400\n[[rule]]\npath = '**'\nmax_changed_pixels = 5",
            "changed",
            false,
        ),
        ("path = 'deep/**'\npreset = 'live'\ntolerance = 'channel:255'", "changed", false),
    ] {
        let (verdict, globs, is_allowed) = verdict(&format!("[[rule]]\n{text}\n")).unwrap();
        assert_eq!((verdict.as_str(), is_allowed), (expected, allowed.into()), "{text}");
        assert!(globs.is_string(), "{text}");
    }
    let (_, globs, _) = verdict("[[rule]]\npath = '*.png'\nskip = true\n").unwrap();
    assert!(globs.is_null(), "a star does not cross a slash");
    assert_eq!(verdict("[[rule]]\npath = 'deep/**'\nskip = true\n"), None);
    let report =
        rule("[[rule]]\npath = 'deep/**'\nskip = true\n[[rule]]\npath = 'icons/*'\n").json();
    assert_eq!(report["totals"]["skipped"], 1);
    assert_eq!(report["remarks"], serde_json::json!(["The rule for icons/* matches no path."]));
    assert_eq!(report["unused_rules"], serde_json::json!(["icons/*"]));
    let all = "there is nothing to compare: --rules skip all there is (6)";
    for (text, message) in [
        ("[[rule]]\npath = '**'\nskip = true\n", all),
        ("[[rule]]\npath = ['*', '*/**']\nskip = true\n", all),
        (
            "[[rule]]\npath = 'a'\ntolerence = 'exact'\n",
            "rules/rules.toml: line 3: unknown field `tolerence`, expected one of",
        ),
        (
            "[[rule]]\n\npath = 'a'\ntolerance = '0.1'\n",
            "rules/rules.toml: line 4: tolerance '0.1' names no metric",
        ),
        ("[[rule]]\npath = ''\n", "rules/rules.toml: line 2: path is empty: ** is every picture"),
        ("[[rule]]\npath = []\n", "rules/rules.toml: line 2: path is empty"),
        ("\n[[rule]]\npath = ['a', '']\n", "rules/rules.toml: line 3: path is empty"),
        ("[[rule]]\npath = 'a['\n", "rules/rules.toml: path 'a[' is no glob"),
        ("[[rule]]\nskip = true\n", "rules/rules.toml: line 1: missing field `path`"),
        ("[[rule]\n", "rules/rules.toml: line 1: "),
        ("[[rule]]\npath = 'deep/**'\nmask = 'gone.png'\n", "rules/gone.png: cannot be read"),
        (
            &" ".repeat((1 << 20) + 1),
            "rules/rules.toml: has 1048577 bytes, more than the 1048576 that are read",
        ),
    ] {
        let answer = rule(text);
        assert_eq!(answer.code, Some(2));
        assert!(answer.stderr.contains(message), "{text}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    }
}

#[cfg(unix)]
#[test]
fn what_has_no_end_is_neither_waited_for_nor_read() {
    let root = folders();
    compare(root.path(), &["--out", "out"]);
    let pipes = ["pipe", "piped/report.json", "out/.seechange-report", "golden/same.png"];
    fs::create_dir(root.path().join("piped")).unwrap();
    for pipe in pipes {
        let path = root.path().join(pipe);
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    for (words, message) in [
        (vec!["compare", "golden", "shots", "--rules", "pipe"], "pipe: is not a file"),
        (vec!["compare", "golden", "shots", "--rules", "/dev/zero"], "/dev/zero: is not a file"),
        (vec!["compare", "merge", "piped", "--out", "new"], "piped/report.json: is not a file"),
        (vec!["accept", "piped", "--all"], "piped/report.json: is not a file"),
        (
            vec!["compare", "golden", "shots", "--out", "out"],
            "is in the way of the report and no earlier run wrote it",
        ),
    ] {
        let answer = seechange(root.path(), &words);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.stderr.contains(message), "{words:?}: {answer:?}");
    }
    let report = compare(root.path(), &[]).json();
    assert_eq!(report["rows"][4]["error"]["message"], "is not a file");
}

#[test]
fn junit_is_xml_whatever_the_names() {
    let root = tempfile::tempdir().unwrap();
    let hostile = "a<b>&\"'\u{1b}]]>\u{fffe}.png";
    put(root.path(), &format!("shots/<x/{hostile}"), &picture(20, 20, 0));
    put(root.path(), "shots/cut.png", &picture(20, 20, 0)[..40]);
    put(root.path(), "golden/fine.png", &picture(20, 20, 0));
    put(root.path(), "shots/fine.png", &picture(20, 20, 0));
    compare(root.path(), &["--out", "out"]);
    let xml = fs::read_to_string(root.path().join("out/junit.xml")).unwrap();
    let time = xml.split("time=\"").nth(1).unwrap().split('"').next().unwrap();
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"seechange compare\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"{time}\">
  <testsuite name=\"shots\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"{time}\">
    <testcase classname=\"&lt;x\" name=\"a&lt;b&gt;&amp;&quot;&apos;\u{fffd}]]&gt;\u{fffd}.png\"><failure type=\"added\" message=\"There is no golden picture for the actual one (20x20).\">There is no golden picture for the actual one (20x20).&#10;pairs/00001/actual.png</failure></testcase>
    <testcase classname=\".\" name=\"cut.png\"><error type=\"unreadable\" message=\"The actual picture is no readable PNG picture: its end is missing.\">The actual picture is no readable PNG picture: its end is missing.</error></testcase>
    <testcase classname=\".\" name=\"fine.png\"/>
  </testsuite>
</testsuites>
"
    );
    assert_eq!(xml, expected);
}

#[cfg(unix)]
#[test]
fn a_report_that_cannot_be_written_is_said_and_the_one_before_stays() {
    let root = folders();
    compare(root.path(), &["--out", "out"]);
    let before = files(&root.path().join("out"));
    for name in 0..30 {
        put(root.path(), &format!("shots/new/{name}.png"), &picture(200, 100, name));
    }
    // No file may have more than 512 bytes: what a full disk does in the middle of a run.
    let command = format!(
        "ulimit -f 1; trap '' XFSZ; exec {} compare golden shots --out out",
        env!("CARGO_BIN_EXE_seechange")
    );
    let mut shell = std::process::Command::new("sh");
    let output = shell.current_dir(root.path()).args(["-c", &command]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "seechange: out: the report cannot be written: file too large\n");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.starts_with("36 pairs: 1 same, 1 changed"), "{stdout}");
    assert!(!stdout.contains("index.html"), "{stdout}");
    assert_eq!(files(&root.path().join("out")), before);
}

#[test]
fn the_merged_report_is_the_one_there_would_be_without_shards() {
    let root = folders();
    for name in 0..9 {
        put(root.path(), &format!("golden/more/{name}.png"), &picture(200, 100, name));
        put(root.path(), &format!("shots/more/{name}.png"), &picture(200, 100, 4));
    }
    // A format that no browser shows, whose copy has two files.
    for (side, square) in [("golden", 3), ("shots", 8)] {
        let path = root.path().join(side).join("more/old.tiff");
        image::load_from_memory(&picture(50, 50, square)).unwrap().save(path).unwrap();
    }
    fs::write(
        root.path().join("rules.toml"),
        "[[rule]]\npath = '**/1.png'\nskip = true\n[[rule]]\npath = 'x'\n",
    )
    .unwrap();
    let more = ["--rules", "rules.toml", "--allow", "added"];
    let with = |words: &[&str]| {
        more.iter().copied().chain(words.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |words: Vec<String>| {
        compare(root.path(), &words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let report = |folder: &str| {
        let mut files = files(&root.path().join(folder));
        let text = files.remove(Path::new("report.json")).unwrap();
        let mut report: Value = serde_json::from_slice(&text).unwrap();
        report["elapsed_ms"].take();
        files.remove(Path::new("index.html"));
        files.remove(Path::new("junit.xml"));
        (report, files)
    };
    run(with(&["--out", "whole"]));
    let whole = report("whole");
    assert_eq!(whole.0["totals"]["skipped"], 1);
    for count in [1, 2, 5] {
        let mut merge = vec!["compare".to_owned(), "merge".to_owned()];
        for shard in (1..=count).rev() {
            let out = format!("part-{count}-{shard}");
            let code = run(with(&["--out", &out, "--shard", &format!("{shard}/{count}")])).code;
            assert!(code.is_some_and(|code| code <= 2));
            merge.push(if shard == 1 { format!("{out}/report.json") } else { out });
        }
        merge.extend(["--out", "merged"].map(str::to_owned));
        let words: Vec<&str> = merge.iter().map(String::as_str).collect();
        let answer = seechange(root.path(), &words);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(report("merged") == whole, "{count} parts");
        assert_eq!(
            answer.stdout.replace("merged", "whole"),
            seechange(
                root.path(),
                &[&["compare", "golden", "shots", "--out", "whole"], &more[..]].concat()
            )
            .stdout
        );
    }
    for (words, message) in [
        (vec!["part-5-1", "part-5-2", "part-5-4"], "shards 3/5, 5/5 are missing"),
        (vec!["part-2-1", "part-2-1"], "shard 1/2 is there more than once"),
        (vec!["part-2-1", "part-5-2"], "the shards are of 2 and of 5 parts"),
        (vec!["whole"], "whole: is the report of no shard"),
        (vec!["part-2-1", "golden"], "golden: there is no report.json in this folder"),
        (
            vec!["merged", "--out", "merged"],
            "merged: --out would replace this report; give it another folder",
        ),
    ] {
        let out = if words.contains(&"--out") { vec![] } else { vec!["--out", "new"] };
        let answer =
            seechange(root.path(), &[&["compare", "merge"], &words[..], &out[..]].concat());
        assert_eq!((answer.code, answer.stderr), (Some(2), format!("seechange: {message}\n")));
    }
    run(vec!["--out".to_owned(), "other".to_owned(), "--shard".to_owned(), "2/2".to_owned()]);
    let answer = seechange(root.path(), &["compare", "merge", "part-2-1", "other", "--out", "new"]);
    assert!(
        answer.stderr.starts_with(
            "seechange: other: was compared with other options than the first report: \
             allow [], not [\"added\"]; rules none, not {\"path\":\"rules.toml\","
        ),
        "{answer:?}"
    );
    assert_eq!(
        fs::read_dir(root.path().join("new")).unwrap().count(),
        0,
        "nothing is left of what was refused"
    );
}

#[test]
fn the_environment_says_which_shard_and_where_the_summary_goes() {
    let root = folders();
    let run = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = command();
        for name in ["CI_NODE_INDEX", "CI_NODE_TOTAL", "GITHUB_STEP_SUMMARY"] {
            command.env_remove(name);
        }
        command.current_dir(root.path()).args(["compare", "golden", "shots", "--json"]).args(words);
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let shard = run(&["--shard", "auto"], &[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "3")]).0;
    let report: Value = serde_json::from_str(&shard).unwrap();
    assert_eq!(report["shard"], serde_json::json!({"index": 2, "count": 3}));
    let (_, stderr) = run(&["--github-summary"], &[]);
    assert!(stderr.contains("GITHUB_STEP_SUMMARY is not set"), "{stderr}");
    let summary = root.path().join("summary.md");
    fs::write(&summary, "before\n").unwrap();
    run(&["--github-summary"], &[("GITHUB_STEP_SUMMARY", "summary.md")]);
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("before\n### 6 pairs&#58; 1 same, 1 changed"), "{text}");
    assert!(
        text.contains("| changed | <code>deep/er/changed.png</code> | Pixels changed in 1 area"),
        "{text}"
    );
    fs::remove_file(&summary).unwrap();
    run(&[], &[("GITHUB_STEP_SUMMARY", "summary.md")]);
    assert!(!summary.exists(), "nothing is written there unasked");
}

#[test]
fn folders_of_other_tools_are_read_as_they_are() {
    let root = tempfile::tempdir().unwrap();
    let (white, boxed) = (picture(200, 100, 0), picture(200, 100, 20));
    put(root.path(), "results/home-chromium/home-1-expected.png", &white);
    put(root.path(), "results/home-chromium/home-1-actual.png", &boxed);
    put(root.path(), "results/home-chromium/home-1-diff.png", &boxed);
    put(root.path(), "loki/reference/chrome_a.png", &white);
    put(root.path(), "loki/current/chrome_a.png", &boxed);
    put(root.path(), "loki/difference/chrome_a.png", &boxed);
    let run = |words: &[&str]| seechange(root.path(), words);
    for (folder, layout, path) in [
        ("results", "playwright", "home-chromium/home-1-expected.png"),
        ("results", "auto", "home-chromium/home-1-expected.png"),
        ("loki", "loki", "chrome_a.png"),
        ("loki", "auto", "chrome_a.png"),
    ] {
        let answer = run(&["compare", folder, "--layout", layout, "--json", "--out", "out"]);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        assert_eq!(verdicts(&answer.json()), [(path.to_owned(), "changed".to_owned())]);
    }
    assert_eq!(
        run(&["accept", "out", "--all"]).stdout,
        "chrome_a.png: replaced\n1 of 1 accepted in loki/reference\n"
    );
    assert_eq!(fs::read(root.path().join("loki/reference/chrome_a.png")).unwrap(), boxed);
    let answer = run(&["compare", "results", "--layout", "playwright", "--out", "out"]);
    let accepts = "becomes golden with: npx playwright test --update-snapshots\n";
    assert!(answer.stdout.ends_with(accepts), "{answer:?}");
    let answer = run(&["accept", "out", "--all"]);
    assert!(answer.stderr.contains("npx playwright test --update-snapshots accepts"), "{answer:?}");
}

//! The sample project under `tests/sample`, its tests really run by cargo: passing, failing,
//! accepting, missing, at once, and with what stands in the way.
//!
//! Ignored by default, for they build that project and what it depends on; `make test` runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use crate::command::seechange;

/// A copy of the sample project, or of a part of it.
struct Project {
    root: PathBuf,
}

/// Built once for all copies.
static BUILT: LazyLock<()> = LazyLock::new(|| {
    let output = Project::new("built").cargo(&["test", "--no-run"], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
});

impl Project {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy(&here.join("tests/sample"), &root);
        fs::copy(here.join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
        let project = Self { root };
        project.edit("Cargo.toml", "\"../..\"", &format!("{here:?}"));
        // By the package's name cargo tells apart what it built for each of the copies.
        let named = format!("name = \"gauge-{name}\"");
        project.edit("Cargo.toml", "name = \"gauge\"", &named);
        project.edit("Cargo.toml", "[workspace]", "[lib]\nname = \"gauge\"\n\n[workspace]");
        project
    }

    /// A copy whose dependencies are built.
    fn ready(name: &str) -> Self {
        LazyLock::force(&BUILT);
        Self::new(name)
    }

    /// With these tests in place of those of the sample.
    fn with_tests(name: &str, tests: &str) -> Self {
        let project = Self::ready(name);
        fs::remove_dir_all(project.root.join("tests")).unwrap();
        fs::create_dir(project.root.join("tests")).unwrap();
        fs::write(project.root.join("tests/own.rs"), tests).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.path(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} lacks {from:?}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    fn command(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command
            .current_dir(&self.root)
            .args(arguments)
            .arg("--offline")
            .env_remove("CI")
            .env_remove("SEECHANGE_UPDATE")
            .env_remove("RUST_BACKTRACE")
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden/target"))
            .envs(environment.iter().copied());
        command
    }

    fn cargo(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        self.command(arguments, environment).output().unwrap()
    }

    /// `cargo test`: whether it passed, and all it said.
    fn test(&self, environment: &[(&str, &str)]) -> (bool, String) {
        said(&self.cargo(&["test", "--tests"], environment))
    }

    /// What lies below `tests/golden`, without the goldens of the sample.
    fn left(&self) -> Vec<String> {
        let golden = self.path("tests/golden");
        let mut names: Vec<String> = files(&golden)
            .iter()
            .map(|path| path.strip_prefix(&golden).unwrap().to_str().unwrap().to_owned())
            .filter(|name| !Path::new(SAMPLE).join("golden").join(name).exists())
            .collect();
        names.sort();
        names
    }
}

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sample/tests");

fn said(output: &Output) -> (bool, String) {
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, there) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() && entry.file_name() != "target" {
            copy(&path, &there);
        } else if path.is_file() {
            fs::copy(path, there).unwrap();
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The lines of the one panic there is, without where it was.
fn panic_of(said: &str) -> &str {
    let start = said.find("panicked at ").unwrap_or_else(|| panic!("no panic in: {said}"));
    let said = &said[start..];
    let said = &said[said.find('\n').unwrap() + 1..];
    said.split("\nnote: run with").next().unwrap()
}

#[test]
#[ignore = "builds a project of its own; make test runs it"]
fn goldens_are_found_and_equal_also_in_a_workspace() {
    let project = Project::ready("workspace");
    let member = project.path("parts/gauge");
    fs::create_dir_all(&member).unwrap();
    for name in ["Cargo.toml", "src", "tests"] {
        fs::rename(project.path(name), member.join(name)).unwrap();
    }
    fs::write(project.path("Cargo.toml"), "[workspace]\nmembers = [\"parts/gauge\"]\n").unwrap();
    project.edit("parts/gauge/Cargo.toml", "[workspace]\n", "");
    let (passes, said) = project.test(&[("CI", "true")]);
    assert!(passes && said.contains("6 passed"), "{said}");
    assert_eq!(files(&member.join("tests/golden")).len(), 7);
}

#[test]
#[ignore = "builds a project of its own; make test runs it"]
fn a_changed_picture_fails_says_why_and_is_accepted() {
    let project = Project::ready("changed");
    assert!(project.test(&[]).0, "the sample passes");
    project.edit("src/lib.rs", "1 + (width - 2) * percent", "4 + (width - 2) * percent");

    let (passes, said) = project.test(&[]);
    assert!(!passes && said.contains("5 failed"), "{said}");
    let one = said_by(&project, "half_full");
    let golden = project.path("tests/golden");
    let shown = golden.display();
    assert_eq!(
        panic_of(&one),
        format!(
            "golden 'half full' differs: 66 pixels changed, 10 may\n\
             Pixels changed in 1 area (frame pixels; 2.3% of the frame):\n  \
             1. x=60 y=1 w=3 h=22\n\
             Changed pixels at other tolerances: exact 66, yiq:0.02 66, yiq:0.05 66, yiq:0.2 66, \
             yiq:0.4 66.\n\
             It passes with a budget of 66 pixels.\n  \
             golden {shown}/half full.png\n  \
             new    {shown}/half full.new.png\n  \
             diff   {shown}/half full.diff.png\n\
             If the new picture is right, one of:\n  \
             SEECHANGE_UPDATE=1 cargo test half_full\n  \
             seechange accept {shown} 'half full.png'"
        )
    );
    let left = project.left();
    for name in ["half full.new.png", "half full.diff.png", "quarters/25.new.png"] {
        assert!(left.iter().any(|left| left == name), "{name} is not among {left:?}");
    }

    let (passes, said) = project.test(&[("SEECHANGE_UPDATE", "yes")]);
    let wrong = "SEECHANGE_UPDATE is 'yes': use 1 (write goldens that differ or are missing), new \
                 (only missing ones), force (all) or 0 (none)";
    assert!(!passes && said.contains(wrong), "{said}");
    let (passes, said) = project.test(&[("SEECHANGE_UPDATE", "new")]);
    assert!(!passes && said.contains("'half full' differs"), "{said}");

    let new = fs::read(golden.join("half full.new.png")).unwrap();
    let accept = ["accept", golden.to_str().unwrap(), "half full.png"];
    let answer = seechange(&project.root, &accept);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(fs::read(golden.join("half full.png")).unwrap(), new);
    let half_full = project.cargo(&["test", "--test", "gauge", "half_full"], &[]);
    assert!(half_full.status.success(), "{}", text(&half_full.stdout));

    let (passes, said) = project.test(&[("SEECHANGE_UPDATE", "1"), ("CI", "true")]);
    let note = format!(
        "seechange: golden 'quarters/25' is replaced by {shown}/quarters/25.png (120x24): look at \
         it before you commit it"
    );
    assert!(passes && said.contains(&note), "{said}");
    assert!(!said.contains("'full'"), "what is equal is not written: {said}");
    assert_eq!(project.left(), [""; 0], "what failures left is removed");
    assert!(project.test(&[("CI", "true")]).0, "what was accepted passes");
}

/// What `cargo test NAME` says, which fails.
fn said_by(project: &Project, name: &str) -> String {
    let (passes, said) = said(&project.cargo(&["test", "--test", "gauge", name], &[]));
    assert!(!passes, "{said}");
    said
}

#[test]
#[ignore = "builds a project of its own; make test runs it"]
fn a_missing_golden_fails_in_ci_and_is_written_elsewhere() {
    let project = Project::ready("missing");
    let golden = project.path("tests/golden");
    let whole = picture(&golden.join("quarters/75.png"));
    fs::remove_dir_all(golden.join("quarters")).unwrap();

    let (passes, said) = project.test(&[("CI", "true")]);
    let shown = golden.display();
    assert!(!passes, "{said}");
    assert_eq!(
        panic_of(&said),
        format!(
            "golden 'quarters/25' is missing, and none is written where goldens are only checked \
             (CI is set, or SEECHANGE_UPDATE=0)\n  \
             new    {shown}/quarters/25.new.png\n\
             If the new picture is right, one of:\n  \
             SEECHANGE_UPDATE=1 cargo test every_quarter\n  \
             seechange accept {shown} quarters/25.png"
        )
    );
    assert!(!golden.join("quarters/25.png").exists());

    let (passes, said) = project.test(&[]);
    let note = format!(
        "seechange: golden 'quarters/75' was missing and is now {shown}/quarters/75.png (120x24): \
         look at it before you commit it"
    );
    assert!(passes && said.contains(&note), "{said}");
    assert!(picture(&golden.join("quarters/75.png")) == whole);
    assert_eq!(project.left(), [""; 0]);
}

/// The pixels of a golden: which bytes a file has of them is the encoder's.
fn picture(path: &Path) -> image::RgbaImage {
    image::open(path).unwrap().to_rgba8()
}

/// Forty tests, each with its own golden, and one they all look at.
fn many() -> String {
    let one = |number: u32| {
        format!(
            "#[test]\nfn test_{number}() {{ seechange::assert_golden!(\"many/{number}\", \
             gauge::gauge({number})); }}\n"
        )
    };
    (0..40).map(one).collect()
}

#[test]
#[ignore = "builds a project of its own; make test runs it"]
fn many_tests_in_several_processes_at_once_lose_nothing() {
    let project = Project::with_tests("many", &many());
    for (environment, passes, failed, files_left) in [
        // Written by two processes at once, then checked by two.
        (vec![("SEECHANGE_UPDATE", "force")], true, "0 failed", 40),
        (vec![("CI", "true")], true, "0 failed", 40),
        // All but the first differ: of each two more pictures are written by both.
        (vec![("CI", "true")], false, "39 failed", 40 + 2 * 39),
        (vec![("SEECHANGE_UPDATE", "1")], true, "0 failed", 40),
    ] {
        if !passes {
            project.edit("tests/own.rs", "gauge::gauge(", "gauge::gauge(3 * ");
        }
        assert!(project.cargo(&["test", "--no-run"], &[]).status.success());
        let runs: Vec<_> = (0..2)
            .map(|_| {
                let mut command = project.command(&["test", "--tests"], &environment);
                command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        for run in runs {
            let (passed, said) = said(&run.wait_with_output().unwrap());
            assert_eq!(passed, passes, "{environment:?}: {said}");
            assert!(said.contains(failed), "{environment:?}: {said}");
        }
        let lying = files(&project.path("tests/golden"));
        assert_eq!(lying.len(), files_left, "{lying:?}");
        let parts = lying.iter().filter(|path| path.to_string_lossy().ends_with(".part"));
        assert_eq!(parts.count(), 0, "{lying:?}");
        for path in lying {
            seechange::frame::read(&path).unwrap();
        }
    }
}

#[test]
#[ignore = "builds a project of its own; make test runs it"]
fn a_damaged_golden_is_an_error_and_stays() {
    let project = Project::ready("damaged");
    let path = project.path("tests/golden/full.png");
    let cut = fs::read(&path).unwrap()[..60].to_vec();
    fs::write(&path, &cut).unwrap();
    for update in ["", "new", "1"] {
        let (passes, said) = project.test(&[("SEECHANGE_UPDATE", update)]);
        assert!(!passes, "{said}");
        assert_eq!(
            panic_of(&said),
            format!(
                "golden 'full': {}: is no readable PNG picture: its end is missing; restore it, or \
                 write it anew with SEECHANGE_UPDATE=force",
                path.display()
            )
        );
        assert_eq!(fs::read(&path).unwrap(), cut, "{update:?}");
    }
    assert!(project.test(&[("SEECHANGE_UPDATE", "force")]).0);
    assert!(project.test(&[("CI", "1")]).0);
}

#[test]
#[ignore = "builds a project of its own; make test runs it"]
fn names_that_leave_the_folder_and_names_of_two_tests_are_refused() {
    let tests = "
        use gauge::gauge;
        use seechange::assert_golden;
        #[test] fn outside() { assert_golden!(\"../outside\", gauge(1)); }
        #[test] fn absolute() { assert_golden!(\"/tmp/outside\", gauge(1)); }
        fn shared() { assert_golden!(\"shared\", gauge(1)); }
        mod one { #[test] fn checks() { super::shared(); } }
        mod other { #[test] fn checks() { super::shared(); } }
    ";
    let project = Project::with_tests("names", tests);
    let (passes, said) = project.test(&[("SEECHANGE_UPDATE", "force")]);
    assert!(!passes && said.contains("1 passed; 3 failed"), "{said}");
    for message in [
        "the golden name '../outside' has the part '..' and may leave the folder: use plain words \
         with '/' between folders",
        "the golden name '/tmp/outside' is absolute: use plain words with '/' between folders",
        "golden 'shared': is checked by two tests, ",
        "::checks (tests/own.rs:6)",
    ] {
        assert!(said.contains(message), "{message:?} is not in {said}");
    }
    assert_eq!(project.left(), ["shared.png"]);
    assert!(!project.path("tests/outside.png").exists());
}

/// The program that holds the tests of the gauge.
#[cfg(unix)]
fn test_program(project: &Project) -> String {
    let output = project.cargo(&["test", "--no-run", "--test", "gauge"], &[]);
    let said = text(&output.stderr);
    let start = said.rfind('(').unwrap_or_else(|| panic!("no program is named in {said}"));
    said[start + 1..].split(')').next().unwrap().to_owned()
}

/// Where nothing can be written the test still fails with all it has to say. A file may not have a
/// single byte, as on a full disk; a folder that is read-only, where that binds who runs the tests.
#[cfg(unix)]
#[test]
#[ignore = "builds a project of its own; make test runs it"]
fn where_nothing_can_be_written_the_difference_is_told_all_the_same() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::ready("read-only");
    project.edit("src/lib.rs", "1 + (width - 2) * percent", "4 + (width - 2) * percent");
    let program = test_program(&project);
    let golden = project.path("tests/golden");
    let run = |script: &str, update: &str| {
        let mut command = Command::new("bash");
        command.args(["-c", script, "bash", &program]).current_dir(&project.root);
        command.env_remove("CI").env("SEECHANGE_UPDATE", update).env_remove("RUST_BACKTRACE");
        said(&command.output().unwrap())
    };
    let full_disk = "trap '' XFSZ; ulimit -f 0; \"$1\" half_full 2>&1 | cat";
    let before = fs::read(golden.join("half full.png")).unwrap();
    let trouble = |name: &str| format!("{}/{name}: cannot be written: ", golden.display());

    let (_, said) = run(full_disk, "");
    assert!(said.contains("'half full' differs: 66 pixels changed, 10 may\n"), "{said}");
    assert!(said.contains(&trouble("half full.new.png")), "{said}");
    assert!(said.contains("If the picture is right:\n"), "{said}");
    let (_, said) = run(full_disk, "1");
    assert!(said.contains(&trouble("half full.png")), "{said}");
    assert_eq!(fs::read(golden.join("half full.png")).unwrap(), before);
    assert_eq!(project.left(), [""; 0], "nothing half written stays");

    fs::set_permissions(&golden, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(golden.join("probe"), "").is_ok() {
        fs::remove_file(golden.join("probe")).unwrap();
        println!("skipped: a read-only folder does not bind root");
    } else {
        let (passes, said) = run("\"$1\" half_full 2>&1", "");
        assert!(!passes && said.contains("66 pixels changed, 10 may\n"), "{said}");
        assert!(said.contains(&(trouble("half full.new.png") + "permission denied")), "{said}");
    }
    fs::set_permissions(&golden, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_never_came_to_rest_says_so_and_what_did_is_compared() {
    use seechange::golden::{GoldenOptions, Update, check_golden};
    use seechange::wait::{Condition, WaitOptions, from_fn, wait};
    use seechange::{Cancel, Clock, Frame, PixelFormat, Size, frame};

    let folder = tempfile::tempdir().unwrap();
    let options = GoldenOptions::new().folder(folder.path()).update(Update::Missing);
    let grey = |shade: u8| {
        let size = Size::new(40, 30).unwrap();
        Frame::filled(size, PixelFormat::Rgba, [shade, shade, shade, 255])
    };
    for (shades, comes_to_rest) in [(10, true), (usize::MAX, false)] {
        let mut looks = 0;
        let mut fading = from_fn(|| {
            looks = shades.min(looks + 1);
            Ok(grey(u8::try_from(looks * 20 % 256).unwrap()))
        });
        let (clock, condition) = (Clock::simulated(), Condition::stable());
        let two_seconds = WaitOptions::new().timeout(std::time::Duration::from_secs(2));
        let outcome =
            wait(&mut fading, &condition, &two_seconds, &clock, &Cancel::never()).unwrap();
        let sentence = outcome.sentence();
        match check_golden("fading", outcome, &options) {
            Ok(check) => assert!(check.passes() && comes_to_rest, "{check}"),
            Err(error) => {
                assert!(!comes_to_rest, "{error}");
                assert_eq!(error.to_string(), format!("golden 'fading': {sentence}"));
                assert!(sentence.starts_with("stable not met within 2000 ms"), "{sentence}");
            }
        }
    }
    assert_eq!(frame::read(&folder.path().join("fading.png")).unwrap(), grey(200));
}

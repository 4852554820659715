//! The reference client of the protocol, in Python, against this server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The version the transcript was made with.
const PACKAGE: &str = "mcp>=2.3,<3";

/// A Python that has the reference client, in an environment of its own that is made once; `None`,
/// with the reason on stdout, where it is not to be had.
pub(crate) fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reference-client");
    let python = home.join("bin/python");
    let has_client = || succeeds(Command::new(&python).args(["-c", "from mcp import Client"]));
    if has_client() {
        return Some(python);
    }
    let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&home))
        && succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet", PACKAGE]));
    if made && has_client() {
        return Some(python);
    }
    println!("skipped: python3 with venv, pip and '{PACKAGE}' is not to be had");
    None
}

fn succeeds(command: &mut Command) -> bool {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    output.is_ok_and(|status| status.success())
}

/// Runs the client against a surface; its transcript.
pub(crate) fn transcript(command: &mut Command, surface: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/mcp/client.py");
    command.arg(script).args([surface, env!("CARGO_BIN_EXE_seechange")]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{surface}: {told}\n{stderr}");
    told
}

#[test]
#[ignore = "installs the reference client from PyPI"]
fn the_reference_client_lists_clicks_types_and_reads_refusals() {
    let Some(python) = python() else { return };
    let told = transcript(&mut Command::new(python), "demo");
    assert_eq!(told, include_str!("transcript.txt"));
}

#[test]
#[ignore = "installs the reference client from PyPI"]
fn the_reference_client_cancels_a_wait() {
    let Some(python) = python() else { return };
    let told = transcript(&mut Command::new(python), "demo:live");
    assert_eq!(
        told,
        "> wait_for {'condition': 'changed', 'hold_ms': 299000, 'timeout_ms': 300000}, cancelled
  ok, 0 images
  | the wait_for before this was cancelled: delivered wait_for; now obs-2
  | delivered observe; now obs-3
"
    );
}

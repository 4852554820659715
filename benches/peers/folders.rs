//! Folders of 1280x800 pages: one process for all pairs beside one a pair.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Page, SEECHANGE, Tool, npm};

const WIDTH: usize = 1280;
const HEIGHT: usize = 800;
/// So many pages are drawn; a larger folder has each of them several times.
const DISTINCT: usize = 50;
/// The runs of each tool over a folder of so many pairs.
const FOLDERS: [(usize, usize); 2] = [(50, 5), (1000, 1)];

/// Prints a table for each size of folder.
pub(crate) fn compare(tools: &[Tool], folder: &Path) {
    npm(folder, "reg-cli@0.18.16");
    draw(folder);
    for (pairs, runs) in FOLDERS {
        let work = folder.join(format!("folders-{pairs}"));
        fill(folder, &work, pairs);
        table(tools, folder, &work, runs, pairs);
    }
}

/// Of five pairs two are the same bytes, one the same pixels in other bytes, and two have a change.
fn draw(folder: &Path) {
    for side in ["base", "actual"] {
        fs::create_dir_all(folder.join("pages").join(side)).expect("a folder below target");
    }
    for kind in 0..DISTINCT {
        let path = |side: &str| folder.join(format!("pages/{side}/{kind:02}.png"));
        if path("actual").is_file() {
            continue;
        }
        let page = Page::of_kind(WIDTH, HEIGHT, kind);
        let base = page.png(6);
        let actual = match kind % 5 {
            0 | 1 => base.clone(),
            2 => page.png(3),
            _ => page.changed().png(6),
        };
        fs::write(path("base"), base).expect("a file below target");
        fs::write(path("actual"), actual).expect("a file below target");
    }
}

fn fill(folder: &Path, work: &Path, pairs: usize) {
    for side in ["base", "actual"] {
        fs::create_dir_all(work.join(side)).expect("a folder below target");
        for pair in 0..pairs {
            let from = folder.join(format!("pages/{side}/{:02}.png", pair % DISTINCT));
            fs::copy(from, work.join(format!("{side}/{pair:04}.png")))
                .expect("a copy below target");
        }
    }
}

/// A way to compare the folders `base` and `actual` below the working folder.
struct Way {
    name: String,
    /// For a shell.
    command: String,
}

fn ways(tools: &[Tool], folder: &Path) -> Vec<Way> {
    let way = |name: &str, command: String| Way { name: name.to_owned(), command };
    let compare = format!("{SEECHANGE} compare base actual");
    let mut ways = vec![
        way("seechange compare --out", format!("{compare} --out out")),
        way("seechange compare --out --memory 128", format!("{compare} --out out --memory 128")),
        way("seechange compare", compare),
    ];
    // Each writes a picture of what differs, as seechange does with --out. Starting Node for every
    // pair would measure little else.
    let is_looped = |tool: &&Tool| tool.name != "seechange" && tool.command[0] != Path::new("node");
    for tool in tools.iter().filter(is_looped) {
        let words: Vec<String> =
            tool.command.iter().map(|word| word.display().to_string()).collect();
        let one =
            format!("{} \"$f\" \"actual/${{f#base/}}\" \"diff/${{f#base/}}\"", words.join(" "));
        ways.push(way(
            &format!("a loop of {}", tool.name),
            format!("mkdir -p diff; for f in base/*; do {one}; done"),
        ));
    }
    let script: PathBuf = folder.join("node_modules/reg-cli/dist/cli.js");
    if script.is_file() {
        let command = format!("node {} actual base diff -R r.html -J r.json", script.display());
        ways.push(way("reg-cli 0.18.16", command));
    } else {
        println!("reg-cli is left out: it could not be installed");
    }
    ways
}

fn table(tools: &[Tool], folder: &Path, work: &Path, runs: usize, pairs: usize) {
    println!(
        "\n{pairs} pairs of {WIDTH}x{HEIGHT}, {runs} runs: shortest / median s, most memory\n"
    );
    println!("| way | s | MB |\n|---|--:|--:|");
    let ways = ways(tools, folder);
    let mut times = vec![Vec::new(); ways.len()];
    let mut memory = vec![0; ways.len()];
    // One more, which finds cold files, where there are several.
    for run in 0..runs + usize::from(runs > 1) {
        for (index, way) in ways.iter().enumerate() {
            let (time, kilobytes) = measure(&way.command, work);
            if run > 0 || runs == 1 {
                times[index].push(time);
            }
            memory[index] = memory[index].max(kilobytes);
        }
    }
    for ((way, times), kilobytes) in ways.iter().zip(&mut times).zip(memory) {
        times.sort_unstable();
        let (shortest, median) = (times[0], times[(times.len() - 1) / 2]);
        println!(
            "| {} | {:.2} / {:.2} | {} |",
            way.name,
            shortest.as_secs_f64(),
            median.as_secs_f64(),
            kilobytes / 1024
        );
    }
}

/// How long a command takes, and the most memory one of its processes had at a time, in kilobytes
/// (0 without GNU time).
fn measure(command: &str, work: &Path) -> (Duration, u64) {
    for left in ["out", "diff"] {
        let path = work.join(left);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("what a run wrote can be removed");
        }
    }
    let told = work.join("memory");
    let has_time = Path::new("/usr/bin/time").is_file();
    let mut shell = Command::new(if has_time { "/usr/bin/time" } else { "sh" });
    if has_time {
        shell.args(["-f", "%M", "-o"]).arg(&told).arg("sh");
    }
    shell.args(["-c", command]).current_dir(work).stdin(Stdio::null());
    shell.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    shell.status().expect("a shell runs");
    let time = start.elapsed();
    let text = fs::read_to_string(told).unwrap_or_default();
    (time, text.lines().last().and_then(|line| line.trim().parse().ok()).unwrap_or_default())
}

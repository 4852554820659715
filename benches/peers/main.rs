//! Whole processes on the same files: `seechange diff` beside the tools people use today.
//!
//! `make peers` runs this. It installs the peers from their registries below `target/peers` (and
//! what they need from the system's packages, where it may), makes the picture pairs, runs every
//! tool in turn so that what else the machine does falls on all of them, and prints tables. A tool
//! that cannot be installed is named and left out.
//!
//! `make peers-folders` compares folders instead: `seechange compare` beside loops of a shell over
//! the same tools, and reg-cli.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark says what it did and stops where it cannot go on"
)]

mod folders;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

const SEECHANGE: &str = env!("CARGO_BIN_EXE_seechange");
const SIZES: [(usize, usize); 3] = [(1280, 800), (3840, 2160), (1280, 10_000)];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--install") {
        println!("peers: run `make peers`, which installs the tools to compare with");
        return;
    }
    let runs = arguments.iter().find_map(|argument| argument.strip_prefix("--runs="));
    let runs = runs.map_or(15, |runs| runs.parse().expect("--runs=N takes a number"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers");
    fs::create_dir_all(&folder).expect("target/peers can be made");
    let tools = tools(&folder);
    if arguments.iter().any(|argument| argument == "--folders") {
        folders::compare(&tools, &folder);
        return;
    }
    let pictures = Pictures::make(&folder.join("pictures"));
    for kind in Kind::ALL {
        table(&tools, &pictures, kind, runs, &folder);
    }
}

/// A tool and how it is asked to compare two files.
struct Tool {
    name: &'static str,
    command: Vec<PathBuf>,
}

/// Seechange, and the peers that could be installed.
fn tools(folder: &Path) -> Vec<Tool> {
    let mut tools =
        vec![Tool { name: "seechange", command: vec![SEECHANGE.into(), "diff".into()] }];
    tools.extend([odiff(folder), blazediff(folder), pixelmatch(folder)].into_iter().flatten());
    tools
}

/// The native binary itself: its launcher would add the start of a Node process.
fn odiff(folder: &Path) -> Option<Tool> {
    npm(folder, "odiff-bin@4.5.0");
    let places = fs::read_dir(folder.join("node_modules/@odiff")).ok()?;
    let binary = places.flatten().map(|place| place.path().join("odiff")).find(|it| it.is_file());
    found("odiff 4.5.0", vec![binary?])
}

fn pixelmatch(folder: &Path) -> Option<Tool> {
    npm(folder, "pixelmatch@8.0.0");
    let script = folder.join("node_modules/pixelmatch/bin/pixelmatch");
    found("pixelmatch 8.0.0", vec![script]).map(|mut tool| {
        tool.command.insert(0, "node".into());
        tool
    })
}

fn blazediff(folder: &Path) -> Option<Tool> {
    // Its JPEG codec is C that is built by cmake.
    package("cmake", "cmake zlib1g-dev");
    cargo(folder, "blazediff", "6.0.2");
    found("BlazeDiff 6.0.2", vec![folder.join("bin/blazediff")])
}

fn found(name: &'static str, command: Vec<PathBuf>) -> Option<Tool> {
    if command[0].is_file() {
        return Some(Tool { name, command });
    }
    println!("{name} is left out: it could not be installed");
    None
}

fn npm(folder: &Path, package_name: &str) {
    let name = package_name.split('@').next().expect("a name comes before the version");
    if folder.join("node_modules").join(name).is_dir() {
        return;
    }
    package("npm", "npm");
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
    attempt(command.arg(folder).arg(package_name));
}

fn cargo(folder: &Path, name: &str, version: &str) {
    if folder.join("bin").join(name).is_file() {
        return;
    }
    let mut command = Command::new("cargo");
    command.args(["install", "--quiet", "--locked", "--version", version, "--root"]);
    attempt(command.arg(folder).arg(name));
}

/// Installs a program of the system, where it is missing and this is a Debian.
fn package(program: &str, name: &str) {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if is_there || !Path::new("/usr/bin/apt-get").is_file() {
        return;
    }
    let install = format!(
        "sudo=; [ \"$(id -u)\" = 0 ] || sudo=sudo; $sudo apt-get update -qq && \
         DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends {name}"
    );
    attempt(Command::new("sh").args(["-c", &install]));
}

/// Runs a command that installs something; what it could not do shows where the tool is missed.
fn attempt(command: &mut Command) {
    match command.stdout(Stdio::null()).status() {
        Ok(status) if status.success() => {}
        Ok(status) => println!("{command:?} ended with {status}"),
        Err(error) => println!("{command:?} cannot be run: {error}"),
    }
}

/// How the picture after differs from the one before.
#[derive(Clone, Copy)]
enum Kind {
    Identical,
    OtherBytes,
    OneChange,
    Shifted,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Identical, Self::OtherBytes, Self::OneChange, Self::Shifted];

    const fn name(self) -> &'static str {
        match self {
            Self::Identical => "the same bytes",
            Self::OtherBytes => "the same pixels, other bytes",
            Self::OneChange => "one 24x24 change",
            Self::Shifted => "a row inserted, the page below shifted",
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Identical => "copy",
            Self::OtherBytes => "other-bytes",
            Self::OneChange => "one-change",
            Self::Shifted => "shifted",
        }
    }
}

/// The files of all pairs.
struct Pictures {
    folder: PathBuf,
}

impl Pictures {
    fn make(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("a folder below target can be made");
        for (width, height) in SIZES {
            let page = Page::new(width, height);
            let write = |name: &str, page: &Page, level| {
                let path = folder.join(format!("{width}x{height}-{name}.png"));
                fs::write(path, page.png(level)).expect("a file below target can be written");
            };
            write("before", &page, 6);
            write(Kind::Identical.file(), &page, 6);
            write(Kind::OtherBytes.file(), &page, 3);
            write(Kind::OneChange.file(), &page.changed(), 6);
            write(Kind::Shifted.file(), &page.shifted(), 6);
        }
        Self { folder: folder.to_owned() }
    }

    fn pair(&self, (width, height): (usize, usize), kind: Kind) -> [PathBuf; 2] {
        ["before", kind.file()].map(|name| self.folder.join(format!("{width}x{height}-{name}.png")))
    }
}

/// A page as screens show them: lines of smoothed marks in columns, bars, and a picture.
#[derive(Clone)]
struct Page {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Page {
    fn new(width: usize, height: usize) -> Self {
        Self::of_kind(width, height, 0)
    }

    /// One of many pages of other words.
    fn of_kind(width: usize, height: usize, kind: usize) -> Self {
        let pixels = (0..width * height).flat_map(|at| pixel(at % width, at / width, width, kind));
        Self { width, height, rgb: pixels.collect() }
    }

    fn changed(&self) -> Self {
        let mut page = self.clone();
        for y in self.height / 2..self.height / 2 + 24 {
            let start = (y * self.width + self.width / 2) * 3;
            page.rgb[start..start + 24 * 3].fill(128);
        }
        page
    }

    /// Eighteen blank rows inserted at a third of the height.
    fn shifted(&self) -> Self {
        let (row, third) = (self.width * 3, self.height / 3);
        let mut page = self.clone();
        page.rgb[third * row..(third + 18) * row].fill(255);
        let rest = self.height - third - 18;
        page.rgb[(third + 18) * row..]
            .copy_from_slice(&self.rgb[third * row..(third + rest) * row]);
        page
    }

    /// Compressed by the deflate that most tools use, at one of its levels.
    fn png(&self, level: u8) -> Vec<u8> {
        let [width, height] =
            [self.width, self.height].map(|edge| u32::try_from(edge).expect("an edge is small"));
        let mut png = Vec::new();
        PngEncoder::new_with_quality(&mut png, CompressionType::Level(level), FilterType::Adaptive)
            .write_image(&self.rgb, width, height, ExtendedColorType::Rgb8)
            .expect("a picture can be encoded");
        png
    }
}

/// One pixel of a page, by hashing what stands there.
fn pixel(x: usize, y: usize, width: usize, kind: usize) -> [u8; 3] {
    let is_bar = y % 900 < 48;
    let is_picture = x > width * 3 / 4 && y % 1100 > 700 && y % 1100 < 940;
    if is_picture {
        let wave = |scale: usize| ((x * scale / 7 + y * 3) % 256).abs_diff(128);
        return [90 + wave(2), 60 + wave(3), 40 + wave(5) + hash(x, y) % 6].map(clamped);
    }
    let (ground, ink) = if is_bar { ([32, 44, 60], 235) } else { ([250, 250, 248], 40) };
    let (column, line) = (x / 9, y / 20 + kind * 1009);
    let is_text =
        x % (width / 3) < width / 4 && y % 20 < 12 && !hash(column, line).is_multiple_of(7);
    if !is_text || hash(line, 3).is_multiple_of(4) {
        return ground;
    }
    // A glyph of 9x12 pixels out of 64, with three shades of ink.
    let glyph = hash(column, line) % 64;
    match hash(glyph * 97 + x % 9 / 2, y % 12 / 2) % 8 {
        0 | 1 => [ink; 3],
        2 => [ink / 2 + ground[0] / 2; 3],
        3 => [ink / 4 + ground[0] / 4 * 3; 3],
        _ => ground,
    }
}

fn hash(a: usize, b: usize) -> usize {
    let mixed = (a.wrapping_mul(0x9E37_79B9) ^ b.wrapping_mul(0x85EB_CA6B)) & 0xFFFF_FFFF;
    (mixed.wrapping_mul(0xC2B2_AE35) >> 15) & 0xFFFF
}

fn clamped(value: usize) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

/// Runs every tool on one kind of pair in every size and prints minimum, median and exit code.
fn table(tools: &[Tool], pictures: &Pictures, kind: Kind, runs: usize, folder: &Path) {
    println!("\n{}: minimum / median ms (exit code), {runs} runs\n", kind.name());
    let sizes = SIZES.map(|(width, height)| format!("{width}x{height}"));
    println!("| tool | {} |\n|---|{}", sizes.join(" | "), "--:|".repeat(sizes.len()));
    let columns = SIZES.map(|size| measure(tools, &pictures.pair(size, kind), runs, folder));
    for (index, tool) in tools.iter().enumerate() {
        let cells = columns.iter().map(|column| column[index].clone());
        println!("| {} | {} |", tool.name, cells.collect::<Vec<_>>().join(" | "));
    }
}

fn measure(tools: &[Tool], pair: &[PathBuf; 2], runs: usize, folder: &Path) -> Vec<String> {
    let mut times = vec![Vec::new(); tools.len()];
    let mut codes = vec![None; tools.len()];
    for _ in 0..=runs {
        for (index, tool) in tools.iter().enumerate() {
            let (time, code) = run(tool, pair, folder);
            times[index].push(time);
            codes[index] = code;
        }
    }
    // The first run of each finds cold files.
    let cell = |(times, code): (&Vec<Duration>, &Option<i32>)| {
        let mut warm = times[1..].to_vec();
        warm.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let code = code.map_or("signal".to_owned(), |code| code.to_string());
        format!("{:.1} / {:.1} ({code})", ms(warm[0]), ms(warm[(warm.len() - 1) / 2]))
    };
    times.iter().zip(&codes).map(cell).collect()
}

fn run(tool: &Tool, pair: &[PathBuf; 2], folder: &Path) -> (Duration, Option<i32>) {
    let mut command = Command::new(&tool.command[0]);
    command.args(&tool.command[1..]).args(pair).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().expect("an installed tool runs");
    (start.elapsed(), status.code())
}

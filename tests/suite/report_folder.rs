//! Report folders as `seechange compare` leaves them, made by hand: any verdict, any name, and as
//! many pairs as wanted. The diffs in them are those of `seechange diff`.

use std::fs;
use std::path::{Path, PathBuf};

use seechange::{Frame, PixelFormat, Size, frame};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::seechange;

/// The module that makes the page, which only the command can reach otherwise: a report may say
/// anything here, also what `compare` never writes.
#[path = "../../src/front/html/mod.rs"]
#[allow(unreachable_pub, dead_code, reason = "a part of the command, here on its own")]
mod html;

/// One row with its pictures.
pub(crate) struct Pair {
    path: String,
    verdict: &'static str,
    before: Option<Frame>,
    actual: Option<Frame>,
    /// Laid over the row at last.
    more: Value,
}

impl Pair {
    pub(crate) fn changed(path: &str, before: Frame, actual: Frame) -> Self {
        let verdict = if (before.size()) == actual.size() { "changed" } else { "resized" };
        Self::new(path, verdict, Some(before), Some(actual))
    }

    pub(crate) fn added(path: &str, actual: Frame) -> Self {
        Self::new(path, "added", None, Some(actual))
    }

    pub(crate) fn removed(path: &str, before: Frame) -> Self {
        Self::new(path, "removed", Some(before), None)
    }

    pub(crate) fn same(path: &str) -> Self {
        Self::new(path, "same", None, None)
    }

    pub(crate) fn unreadable(path: &str, before: Frame, message: &str) -> Self {
        let error = json!({"side": "actual", "kind": "file", "message": message});
        Self::new(path, "unreadable", Some(before), None).with(json!({"error": error}))
    }

    pub(crate) fn allowed(self) -> Self {
        self.with(json!({"allowed": true}))
    }

    /// With further fields.
    pub(crate) fn with(self, more: Value) -> Self {
        Self { more, ..self }
    }

    fn new(
        path: &str,
        verdict: &'static str,
        before: Option<Frame>,
        actual: Option<Frame>,
    ) -> Self {
        Self { path: path.to_owned(), verdict, before, actual, more: json!({}) }
    }
}

/// A report and its folder, which has a name that has to be encoded in an address.
pub(crate) struct Folder {
    root: TempDir,
    pub(crate) report: Value,
}

impl Folder {
    /// The pictures, the rows and the page.
    pub(crate) fn new(pairs: &[Pair]) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("report #1 100%")).unwrap();
        let mut folder = Self { root, report: Value::Null };
        let rows: Vec<Value> =
            (1..).zip(pairs).map(|(number, pair)| folder.write_row(number, pair)).collect();
        folder.report = report(&rows);
        folder.write_page();
        folder
    }

    /// `count` changed pairs that differ in their numbers, from one pair of pictures.
    pub(crate) fn of_many(pair: &Pair, count: usize) -> Self {
        let mut folder = Self::new(std::slice::from_ref(pair));
        let first = folder.report["rows"][0].clone();
        let source = folder.path().join("pairs/00001");
        let copy = |number: usize| {
            let text = first.to_string().replace("pairs/00001/", &format!("pairs/{number:05}/"));
            let mut row: Value = serde_json::from_str(&text).unwrap();
            row["number"] = json!(number);
            row["path"] = json!(format!("page-{:02}/screen-{number:05}.png", number % 40));
            row["diff"]["changed_ratio"] = json!(f64::from(u32::try_from(number).unwrap()) / 1e5);
            let target = folder.path().join(format!("pairs/{number:05}"));
            fs::create_dir_all(&target).unwrap();
            for entry in fs::read_dir(&source).unwrap() {
                let entry = entry.unwrap();
                if number > 1 {
                    fs::hard_link(entry.path(), target.join(entry.file_name())).unwrap();
                }
            }
            row
        };
        let rows: Vec<Value> = (1..=count).map(copy).collect();
        folder.report = report(&rows);
        folder.write_page();
        folder
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.path().join("report #1 100%")
    }

    /// The page's address.
    pub(crate) fn url(&self) -> String {
        let path = self.path().join("index.html").display().to_string();
        format!(
            "file://{}",
            path.replace('%', "%25").replace('#', "%23").replace('?', "%3F").replace(' ', "%20")
        )
    }

    /// Writes the page anew, after a change of the report.
    pub(crate) fn write_page(&self) {
        fs::write(self.path().join("index.html"), html::page(&self.report)).unwrap();
    }

    /// The same as one file, alone in a folder; its address.
    pub(crate) fn single(&self) -> String {
        let page = html::single(&self.report, &mut |path| fs::read(self.path().join(path)));
        let alone = self.root.path().join("alone");
        fs::create_dir_all(&alone).unwrap();
        fs::write(alone.join("report.html"), page.unwrap()).unwrap();
        format!("file://{}", alone.join("report.html").display())
    }

    fn write_row(&self, number: usize, pair: &Pair) -> Value {
        let inside = format!("pairs/{number:05}");
        let both = pair.before.is_some() && pair.actual.is_some();
        let mut row = json!({
            "number": number, "path": pair.path, "verdict": pair.verdict, "allowed": false,
            "identical_bytes": false, "sentence": "", "error": null, "rule": null, "diff": null,
            "files": {
                "before": self.write_file(&format!("{inside}/before.png"), pair.before.as_ref()),
                "actual": self.write_file(&format!("{inside}/actual.png"), pair.actual.as_ref()),
            },
            "diff_picture": null,
        });
        if both {
            let diff = self.diff(&inside);
            row["sentence"] = diff["sentence"].clone();
            let pictures = diff["pictures"].as_array().unwrap();
            let marked = pictures.iter().find(|one| one["role"] == "diff");
            row["diff_picture"] = marked.map_or(Value::Null, |one| one["path"].clone());
            row["diff"] = diff;
        }
        for (name, value) in pair.more.as_object().unwrap() {
            row[name] = value.clone();
        }
        row
    }

    fn write_file(&self, path: &str, frame: Option<&Frame>) -> Value {
        let Some(frame) = frame else { return Value::Null };
        let file = self.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        frame::write_png(&file, frame).unwrap();
        let bytes = fs::metadata(&file).unwrap().len();
        json!({
            "path": path, "shown": path, "bytes": bytes, "sha256": format!("{bytes:064x}"),
            "width": frame.size().width(), "height": frame.size().height(),
        })
    }

    fn diff(&self, inside: &str) -> Value {
        let [before, actual] = ["before", "actual"].map(|side| format!("{inside}/{side}.png"));
        let answer =
            seechange(&self.path(), &["diff", &before, &actual, "--json", "--out", inside]);
        assert_eq!(answer.code, Some(1), "{before}: {}", answer.stderr);
        serde_json::from_str(&answer.stdout).unwrap()
    }
}

fn report(rows: &[Value]) -> Value {
    let of = |verdict: &str| rows.iter().filter(|row| row["verdict"] == verdict).count();
    let allowed = rows.iter().filter(|row| row["allowed"] == true).count();
    json!({
        "schema": "seechange.compare/1", "base": "goldens", "actual": "shots", "shard": null,
        "options": {"preset": "golden", "tolerance": "yiq:0.1", "max_changed_pixels": 0},
        "elapsed_ms": 1234,
        "totals": {
            "pairs": rows.len(), "same": of("same"), "changed": of("changed"),
            "resized": of("resized"), "added": of("added"), "removed": of("removed"),
            "unreadable": of("unreadable"), "allowed": allowed,
            "failing": rows.len() - of("same") - allowed,
        },
        "rows": rows,
    })
}

/// A drawn application: a bar, a menu, lines of text and a button, with boxes drawn over it.
pub(crate) fn screen(size: (u32, u32), boxes: &[([u32; 4], [u8; 3])]) -> Frame {
    let (width, height) = size;
    let mut frame = filled(size, [250, 250, 252]);
    paint(&mut frame, [0, 0, width, height / 10], [38, 70, 120]);
    paint(&mut frame, [0, height / 10, width / 5, height], [232, 235, 240]);
    for line in 0..8 {
        let y = height / 5 + line * height / 12;
        paint(&mut frame, [12, y, width / 8, 6], [150, 156, 168]);
        paint(&mut frame, [width / 4, y, width / 3 + line * 13 % 90, 5], [90, 95, 105]);
    }
    for (at, colour) in boxes {
        paint(&mut frame, *at, *colour);
    }
    frame
}

fn filled((width, height): (u32, u32), [r, g, b]: [u8; 3]) -> Frame {
    Frame::filled(Size::new(width, height).unwrap(), PixelFormat::Rgba, [r, g, b, 255])
}

/// Fills `[x, y, width, height]`, cut at the frame's edge.
fn paint(frame: &mut Frame, [x, y, width, height]: [u32; 4], colour: [u8; 3]) {
    let size = frame.size();
    for row in y..(y + height).min(size.height()) {
        for column in x..(x + width).min(size.width()) {
            let at = (row as usize * size.width() as usize + column as usize) * 4;
            frame.data_mut()[at..at + 3].copy_from_slice(&colour);
        }
    }
}

/// Where tests leave pictures to be looked at.
pub(crate) fn left_pictures() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-page");
    fs::create_dir_all(&folder).unwrap();
    folder
}

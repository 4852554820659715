//! The page of a `seechange.compare/1` report: one HTML file that asks no server for anything.
//!
//! Everything that came from outside (names, texts, messages) is in the page as data only: JSON
//! with every `<` escaped, which the script turns into text nodes and attributes, never into
//! markup. A content security policy with the hashes of the one style and the one script stands
//! behind that: whatever else got in would not run.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

const TEMPLATE: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The page that lies in the report's folder and shows its pictures by relative path.
pub(crate) fn page(report: &Value) -> String {
    // An opaque origin such as `file:` is not `'self'` in every browser.
    fill(report, "'self' file:", "")
}

/// The page with its pictures inside: one file to send around. `read` gives the bytes of a picture
/// by its path in the report.
///
/// Inside are the two pictures of a pair, the one of what differs and the overview; the crops are
/// not, for the page zooms to an area itself.
///
/// # Errors
/// Those of `read`.
pub(crate) fn single<E>(
    report: &Value,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, E>,
) -> Result<String, E> {
    let mut pictures = String::new();
    for path in shown(report) {
        push_picture(&mut pictures, path, &read(path)?);
    }
    Ok(fill(report, "data:", &pictures))
}

/// The template with its parts put in; nothing is looked for in what was put in.
fn fill(report: &Value, picture_sources: &str, pictures: &str) -> String {
    let policy = policy(picture_sources);
    let report = script_safe(&report.to_string());
    let mut page = String::with_capacity(TEMPLATE.len() + report.len() + pictures.len() + 100_000);
    for (index, part) in TEMPLATE.split("{{").enumerate() {
        let Some((name, rest)) = part.split_once("}}").filter(|_| index > 0) else {
            page.push_str(part);
            continue;
        };
        page.push_str(match name {
            "policy" => &policy,
            "style" => STYLE,
            "script" => SCRIPT,
            "report" => &report,
            "pictures" => pictures,
            other => unreachable!("the template has no part '{other}'"),
        });
        page.push_str(rest);
    }
    page
}

/// Only this style, this script and these pictures; no request of any other kind, and no string
/// becomes markup.
fn policy(picture_sources: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src {picture_sources}; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// JSON that may stand in a `<script>` element: nothing in it ends the element or a line.
fn script_safe(json: &str) -> String {
    // Outside of strings JSON has none of these.
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// The paths of the pictures the page shows, in the order of the rows.
fn shown(report: &Value) -> impl Iterator<Item = &str> {
    let rows = report["rows"].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().flat_map(pictures_of).filter(|path| is_inside(path))
}

fn pictures_of(row: &Value) -> impl Iterator<Item = &str> {
    let sides = ["before", "actual"].map(|side| row["files"][side]["shown"].as_str());
    let diff_picture = row["diff_picture"].as_str();
    let all = row["diff"]["pictures"].as_array().map_or(&[][..], Vec::as_slice);
    let overview = all.iter().find(|one| one["role"] == "overview");
    let overview = overview.and_then(|one| one["path"].as_str());
    sides.into_iter().chain([diff_picture, overview]).flatten()
}

/// Whether a path names a file in a pair's folder, which is where the pictures of a report are.
/// The script asks the same.
fn is_inside(path: &str) -> bool {
    let mut parts = path.split('/');
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\\');
    parts.next() == Some("pairs") && parts.clone().count() >= 2 && parts.all(is_plain)
}

/// A picture as an element that is no script and shows nothing; its text is read when the picture
/// is shown, so thousands of them cost a page nothing but its size.
fn push_picture(page: &mut String, path: &str, bytes: &[u8]) {
    // Writing into a string does not fail.
    let (path, kind) = (attribute_safe(path), kind(bytes));
    write!(page, "<script type=\"text/plain\" data-path=\"{path}\" data-type=\"{kind}\">")
        .unwrap_or_default();
    STANDARD.encode_string(bytes, page);
    page.push_str("</script>\n");
}

fn attribute_safe(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// The media type by the first bytes, of the kinds a browser shows as a picture and nothing else.
fn kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'B', b'M', ..] => "image/bmp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(path: &str) -> Value {
        json!({
            "schema": "seechange.compare/1",
            "rows": [{
                "number": 1, "path": path, "verdict": "changed",
                "files": {
                    "before": {"path": "pairs/00001/before.tiff", "shown": "pairs/00001/before.png"},
                    "actual": {"path": "pairs/00001/actual.jpg", "shown": "pairs/00001/actual.jpg"},
                },
                "diff_picture": "pairs/00001/diff.png",
                "diff": {"pictures": [
                    {"role": "overview", "path": "pairs/00001/overview.png"},
                    {"role": "before", "path": "pairs/00001/area-1-before.png"},
                ]},
            }],
        })
    }

    /// What stands in the page's element of this id or kind.
    fn inside<'p>(page: &'p str, start: &str) -> &'p str {
        let (_, rest) = page.split_once(start).unwrap();
        rest.split_once("</script>").unwrap().0
    }

    #[test]
    fn hostile_text_stays_data() {
        for hostile in [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "{{script}} {{report}} }}",
            "a\u{2028}b\u{2029}c",
            "\"'><img src=x onerror=alert(1)>",
        ] {
            let given = report(hostile);
            let page = page(&given);
            let embedded = inside(&page, "type=\"application/json\">");
            assert_eq!(serde_json::from_str::<Value>(embedded).unwrap(), given, "{hostile}");
            assert!(!embedded.contains(['<', '\u{2028}', '\u{2029}']), "{hostile}");
            assert_eq!(page.matches("<script").count(), 2, "{hostile}");
            assert_eq!(page.matches(SCRIPT).count(), 1, "{hostile}");
        }
    }

    #[test]
    fn the_policy_names_the_hashes_of_what_is_inside() {
        let page = page(&report("a.png"));
        let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
        let (_, style) = page.split_once("<style>").unwrap();
        let style = style.split_once("</style>").unwrap().0;
        assert!(page.contains(&format!("style-src 'sha256-{}'", hash(style))));
        let script = inside(&page, "<script>");
        assert!(page.contains(&format!("script-src 'sha256-{}'", hash(script))));
        for unsafe_one in ["unsafe-inline", "unsafe-eval", "http:", "https:", "*"] {
            assert!(!policy("'self' file:").contains(unsafe_one), "{unsafe_one}");
        }
    }

    #[test]
    fn one_file_holds_the_pictures_it_shows() {
        let mut asked = Vec::new();
        let page = single::<()>(&report("a.png"), &mut |path| {
            asked.push(path.to_owned());
            let is_jpeg = path.ends_with("jpg");
            Ok(if is_jpeg { &b"\xff\xd8\xff</script>"[..] } else { b"\x89PNG\r\n" }.to_vec())
        });
        assert_eq!(
            asked,
            ["before.png", "actual.jpg", "diff.png", "overview.png"]
                .map(|name| format!("pairs/00001/{name}"))
        );
        let page = page.unwrap();
        for (path, kind, text) in [
            ("pairs/00001/actual.jpg", "image/jpeg", "/9j/PC9zY3JpcHQ+"),
            ("pairs/00001/diff.png", "image/png", "iVBORw0K"),
        ] {
            let start = format!("data-path=\"{path}\" data-type=\"{kind}\">");
            assert_eq!(inside(&page, &start), text);
        }
        assert!(page.contains("img-src data:;"));
    }

    #[test]
    fn only_files_of_a_pairs_folder_are_read() {
        for (path, is_read) in [
            ("pairs/00001/before.png", true),
            ("pairs/3/00001/before.png", true),
            ("pairs/before.png", false),
            ("pairs", false),
            ("pairs/", false),
            ("/etc/passwd", false),
            ("pairs/../../secret.png", false),
            ("pairs/./a.png", false),
            ("pairs//a.png", false),
            ("pairs\\..\\a.png", false),
            ("pairs/..\\a.png", false),
            ("file:///etc/passwd", false),
            ("data:image/png;base64,AAAA", false),
        ] {
            assert_eq!(is_inside(path), is_read, "{path}");
        }
        let mut asked = 0;
        let report = json!({"rows": [{"diff_picture": "../diff.png"}, {}]});
        single::<()>(&report, &mut |_| {
            asked += 1;
            Ok(Vec::new())
        })
        .unwrap();
        assert_eq!(asked, 0);
    }

    #[test]
    fn a_picture_that_cannot_be_read_is_said() {
        let answer = single(&report("a.png"), &mut |path| Err(format!("{path}: gone")));
        assert_eq!(answer.unwrap_err(), "pairs/00001/before.png: gone");
    }

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"BM..", "image/bmp"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"<svg onload=alert(1)>", "application/octet-stream"),
            (b"", "application/octet-stream"),
        ] {
            assert_eq!(kind(bytes), expected);
        }
    }
}

//! Short forms: an action as words and options, turned into the JSON it stands for, so that there
//! is one way in and one set of refusals.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::act::ElementRef;

/// Options that set a field of the action in a short form.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Fields of a short form")]
pub(super) struct FieldArgs {
    /// Which button: left, middle or right (click, drag). Default: left.
    #[arg(long, value_name = "B")]
    button: Option<String>,
    /// Held around it: ctrl, shift, alt, super, such as ctrl,shift (clicks, drag, key).
    #[arg(long, value_name = "M,M", value_delimiter = ',')]
    modifiers: Vec<String>,
    /// How often to click, 1 to 3 (click). Default: 1.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    count: Option<String>,
    /// Wheel detents to the right, -50 to 50, below zero to the left (scroll).
    #[arg(long, visible_alias = "delta-x", value_name = "N", allow_negative_numbers = true)]
    dx: Option<String>,
    /// Wheel detents down, -50 to 50, below zero up (scroll).
    #[arg(long, visible_alias = "delta-y", value_name = "N", allow_negative_numbers = true)]
    dy: Option<String>,
    /// How long the movement takes, 0 to 10000 (drag). Default: 500.
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    duration_ms: Option<String>,
    /// How many moves it is made of, 1 to 200 (drag). Default: 20.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<String>,
    /// From one character to the next, 0 to 200 (type_text). Default: 30.
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    delay_ms: Option<String>,
    /// How the text is put in (type_text): keys presses a key for each character, paste puts it on
    /// the clipboard, presses shift+insert and puts back what was there. Default: keys.
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// What a scroll over an element goes by: line or page. Default: line.
    #[arg(long, value_name = "UNIT")]
    by: Option<String>,
    /// Number the elements in the picture (observe, on a page).
    #[arg(long)]
    marks: bool,
}

/// What the words after an action's name are.
enum Words {
    /// These fields, strings, in this order.
    Strings(&'static [&'static str]),
    /// These fields, numbers, in this order.
    Numbers(&'static [&'static str]),
    /// A text, one word.
    Text,
    /// One key, with its modifiers in front: `ctrl+s`.
    Key,
    /// Keys, as words or joined by `+`.
    Keys,
    /// A condition and what it is about.
    Condition,
    /// `accept` or `dismiss`, and an answer.
    Dialog,
    /// A tab's number, `open` and an address, or `close` and a number.
    Tab,
}

fn words_of(action: &str) -> Words {
    match action {
        "click" | "right_click" | "double_click" | "hover" | "scroll" => {
            Words::Numbers(&["x", "y"])
        }
        "drag" => Words::Numbers(&["from_x", "from_y", "to_x", "to_y"]),
        "wait" => Words::Numbers(&["seconds"]),
        "wait_for" => Words::Condition,
        "navigate" => Words::Strings(&["url"]),
        "scroll_to_element" => Words::Strings(&["ref"]),
        "dialog" => Words::Dialog,
        "tab" => Words::Tab,
        "type_text" => Words::Text,
        "key" => Words::Key,
        "hotkey" => Words::Keys,
        _ => Words::Numbers(&[]),
    }
}

/// The name of the action that a word stands for: `right-click` and `type` are accepted.
pub(super) fn action_name(word: &str) -> Option<String> {
    let name = match word {
        "type" => "type_text".to_owned(),
        word => word.replace('-', "_"),
    };
    crate::front::wire::act::is_action_name(&name).then_some(name)
}

/// The JSON that an action's name, the words after it and the options stand for. Nothing is
/// checked here but that no word is left over.
///
/// # Errors
/// One line that names the word that has no meaning.
pub(super) fn object(
    action: &str,
    words: &[String],
    fields: &FieldArgs,
) -> Result<Map<String, Value>, String> {
    let mut object = Map::new();
    object.insert("action".to_owned(), action.into());
    fields.put(&mut object);
    if let Some((target, rest)) = words.split_first().filter(|(first, _)| is_reference(first))
        && let Some(names) = fields_by_reference(action)
    {
        object.insert("ref".to_owned(), target.as_str().into());
        let value = |word: &str| if action == "scroll" { number(word) } else { word.into() };
        put_each(action, rest, names, value, &mut object)?;
        return Ok(object);
    }
    match words_of(action) {
        Words::Numbers(names) => put_each(action, words, names, number, &mut object)?,
        Words::Strings(names) => put_each(action, words, names, |word| word.into(), &mut object)?,
        Words::Text => put_text(words, &mut object)?,
        Words::Key => put_key(words, &mut object)?,
        Words::Keys => {
            let keys: Vec<&str> = words.iter().flat_map(|word| parts(word)).collect();
            object.insert("keys".to_owned(), keys.into());
        }
        Words::Condition => put_condition(words, &mut object)?,
        Words::Dialog => put_dialog(words, &mut object)?,
        Words::Tab => put_tab(words, &mut object)?,
    }
    Ok(object)
}

/// The words that follow a reference in place of a point.
fn fields_by_reference(action: &str) -> Option<&'static [&'static str]> {
    Some(match action {
        "click" | "right_click" | "double_click" | "hover" => &[],
        "drag" => &["to_ref"],
        "scroll" => &["direction", "amount"],
        "type_text" => &["text"],
        _ => return None,
    })
}

/// Whether a word is the reference of an element, such as `3:a`.
fn is_reference(word: &str) -> bool {
    word.parse::<ElementRef>().is_ok()
}

fn put_condition(words: &[String], object: &mut Map<String, Value>) -> Result<(), String> {
    let subject = match words {
        [condition, subject, ..] => match (condition.as_str(), is_reference(subject)) {
            ("visible" | "enabled" | "gone", true) => "ref",
            ("visible" | "enabled", false) => "name",
            ("text", _) => "text",
            ("url", _) => "url",
            _ => "image",
        },
        _ => "image",
    };
    put_each("wait_for", words, &["condition", subject], |word| word.into(), object)
}

fn put_dialog(words: &[String], object: &mut Map<String, Value>) -> Result<(), String> {
    let accept = match words.first().map(String::as_str) {
        Some("accept") => true,
        Some("dismiss") => false,
        _ => return Err("dialog takes accept or dismiss, and the answer to a prompt".to_owned()),
    };
    object.insert("accept".to_owned(), accept.into());
    put_each("dialog", &words[1..], &["text"], |word| word.into(), object)
}

fn put_tab(words: &[String], object: &mut Map<String, Value>) -> Result<(), String> {
    match words.first().map(String::as_str) {
        Some("open") => put_each("tab open", &words[1..], &["url"], |word| word.into(), object),
        Some("close") => {
            object.insert("close".to_owned(), true.into());
            put_each("tab close", &words[1..], &["tab"], number, object)
        }
        _ => put_each("tab", words, &["tab"], number, object),
    }
}

impl FieldArgs {
    /// Whether any of them is given.
    pub(super) fn is_empty(&self) -> bool {
        let mut object = Map::new();
        self.put(&mut object);
        object.is_empty()
    }

    fn put(&self, object: &mut Map<String, Value>) {
        let numbers = [
            ("count", &self.count),
            ("delta_x", &self.dx),
            ("delta_y", &self.dy),
            ("duration_ms", &self.duration_ms),
            ("steps", &self.steps),
            ("delay_ms", &self.delay_ms),
        ];
        for (name, word) in numbers {
            if let Some(word) = word {
                object.insert(name.to_owned(), number(word));
            }
        }
        for (name, word) in [("button", &self.button), ("method", &self.method), ("by", &self.by)] {
            if let Some(word) = word {
                object.insert(name.to_owned(), word.as_str().into());
            }
        }
        if self.marks {
            object.insert("marks".to_owned(), true.into());
        }
        if !self.modifiers.is_empty() {
            object.insert("modifiers".to_owned(), json!(self.modifiers));
        }
    }
}

fn put_each(
    action: &str,
    words: &[String],
    names: &[&str],
    value: impl Fn(&str) -> Value,
    object: &mut Map<String, Value>,
) -> Result<(), String> {
    if let Some(word) = words.get(names.len()) {
        let takes = if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
        return Err(format!("{action} takes {takes}: '{word}' is left over"));
    }
    for (name, word) in names.iter().zip(words) {
        object.insert((*name).to_owned(), value(word));
    }
    Ok(())
}

fn put_text(words: &[String], object: &mut Map<String, Value>) -> Result<(), String> {
    if words.len() > 1 {
        return Err(format!(
            "type_text takes one text, not {} words: put it in quotes",
            words.len()
        ));
    }
    for text in words {
        object.insert("text".to_owned(), text.as_str().into());
    }
    Ok(())
}

fn put_key(words: &[String], object: &mut Map<String, Value>) -> Result<(), String> {
    if let Some(word) = words.get(1) {
        return Err(format!("key takes one key such as ctrl+s: '{word}' is left over"));
    }
    let Some(parts) = words.first().map(|word| parts(word)) else { return Ok(()) };
    let Some((key, modifiers)) = parts.split_last() else { return Ok(()) };
    object.insert("key".to_owned(), (*key).into());
    if !modifiers.is_empty() {
        object.insert("modifiers".to_owned(), json!(modifiers));
    }
    Ok(())
}

/// `ctrl+shift+s` as its keys; a lone word stays whole.
fn parts(word: &str) -> Vec<&str> {
    if word.len() > 1 { word.split('+').collect() } else { vec![word] }
}

/// A word as the JSON number it is, else as a string, which no number field takes.
fn number(word: &str) -> Value {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let number = word.parse::<f64>().ok().filter(|number| plain && number.is_finite());
    match (word.parse::<i64>(), number) {
        (Ok(whole), _) => whole.into(),
        (Err(_), Some(number)) => number.into(),
        _ => word.into(),
    }
}

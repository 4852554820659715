//! Durations as people write them.

use std::time::Duration;

use crate::error::{Error, Result};

/// The longest duration taken: a day.
const MAX_SECONDS: f64 = 86_400.0;

/// Reads `5s`, `250ms`, `1.5s`, `2m` or `0`. A number without a unit is refused, for it means
/// milliseconds in one tool and seconds in the next.
pub(super) fn parse_duration(text: &str) -> Result<Duration> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        _ => return Err(wrong(text)),
    };
    let number: f64 = digits.parse().map_err(|_| wrong(text))?;
    let seconds = number * unit;
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return Err(Error::usage(format!("duration '{text}' is not between 0 and a day")));
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn wrong(text: &str) -> Error {
    Error::usage(format!("duration '{text}' is not a number with ms, s or m, such as 250ms or 5s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, milliseconds) in [
            ("0", Some(0)),
            ("0ms", Some(0)),
            ("250ms", Some(250)),
            ("1.5s", Some(1500)),
            ("2m", Some(120_000)),
            ("5", None),
            ("", None),
            ("s", None),
            ("-1s", None),
            ("NaNs", None),
            ("infs", None),
            ("1e99s", None),
            ("5h", None),
            ("5 µs", None),
        ] {
            let parsed = parse_duration(text).ok().map(|duration| duration.as_millis());
            assert_eq!(parsed, milliseconds, "{text}");
        }
    }
}

//! Text of X properties, and how it is shown to people.

/// How the bytes of a property spell text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// `UTF8_STRING`.
    Utf8,
    /// `STRING`: each byte is a character's number.
    Latin1,
    /// `COMPOUND_TEXT`: pieces in the character sets that escape sequences name.
    Compound,
    /// Any other type: UTF-8 where it is that, else Latin-1.
    Unsaid,
}

impl Encoding {
    pub(super) fn decode(self, bytes: &[u8]) -> String {
        match (self, std::str::from_utf8(bytes)) {
            (Self::Compound, _) => Compound::default().decode(bytes),
            (Self::Utf8 | Self::Unsaid, Ok(text)) => text.to_owned(),
            (Self::Utf8, Err(_)) => String::from_utf8_lossy(bytes).into_owned(),
            (Self::Latin1 | Self::Unsaid, _) => bytes.iter().copied().map(char::from).collect(),
        }
    }
}

const ESCAPE: u8 = 0x1b;
/// Starts a mark of the writing direction, which ends with `]`.
const DIRECTION: u8 = 0x9b;

/// A reader of compound text. ASCII, Latin-1 and UTF-8 are read; a character of any other set
/// becomes U+FFFD.
#[derive(Default)]
struct Compound {
    /// The set of the bytes from 0x21 to 0x7e, and that of those from 0xa0 on.
    left: Set,
    right: Set,
    text: String,
}

#[derive(Clone, Copy, Default)]
enum Set {
    /// Each byte is a character's number.
    #[default]
    Latin1,
    /// So many bytes make a character that is not known here.
    Unknown(usize),
}

impl Compound {
    fn decode(mut self, bytes: &[u8]) -> String {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            rest = match *first {
                ESCAPE => self.escape(after),
                DIRECTION => past(after, b"]"),
                byte => self.character(byte, rest),
            };
        }
        self.text
    }

    /// Reads one character; gives what follows it.
    fn character<'b>(&mut self, first: u8, bytes: &'b [u8]) -> &'b [u8] {
        let set = match first {
            0x21..=0x7e => self.left,
            0xa0.. => self.right,
            _ => Set::Latin1,
        };
        let (letter, length) = match set {
            Set::Latin1 => (first.into(), 1),
            Set::Unknown(length) => (char::REPLACEMENT_CHARACTER, length),
        };
        self.text.push(letter);
        // One that is cut short does not swallow what stands behind it.
        let is_part = |byte: &&u8| **byte > b' ' && (**byte < 0x80) == (first < 0x80);
        let length = bytes.iter().take(length).take_while(is_part).count().max(1);
        &bytes[length..]
    }

    /// Carries out what stands behind an escape character; gives what follows it.
    fn escape<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        match bytes {
            // JIS Roman too is ASCII but for two signs.
            [b'(', b'B' | b'J', rest @ ..] => self.use_left(Set::Latin1, rest),
            [b'-', b'A', rest @ ..] => self.use_right(Set::Latin1, rest),
            [b'(', _, rest @ ..] => self.use_left(Set::Unknown(1), rest),
            [b')' | b'-', _, rest @ ..] => self.use_right(Set::Unknown(1), rest),
            [b'$', b'(', _, rest @ ..] => self.use_left(Set::Unknown(2), rest),
            [b'$', b')', _, rest @ ..] => self.use_right(Set::Unknown(2), rest),
            [b'$', _, rest @ ..] => self.use_left(Set::Unknown(2), rest),
            [b'%', b'G', rest @ ..] => self.utf8(rest),
            [b'%', b'/', _, high, low, rest @ ..] => self.foreign([*high, *low], rest),
            [b'%', _, rest @ ..] => rest,
            _ => bytes,
        }
    }

    fn use_left<'b>(&mut self, set: Set, rest: &'b [u8]) -> &'b [u8] {
        self.left = set;
        rest
    }

    fn use_right<'b>(&mut self, set: Set, rest: &'b [u8]) -> &'b [u8] {
        self.right = set;
        rest
    }

    /// UTF-8 up to the sequence that leads back.
    fn utf8<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        const BACK: &[u8] = b"\x1b%@";
        let rest = past(bytes, BACK);
        let piece = &bytes[..bytes.len() - rest.len()];
        let piece = piece.strip_suffix(BACK).unwrap_or(piece);
        self.text.push_str(&String::from_utf8_lossy(piece));
        rest
    }

    /// A piece in an encoding given by name, whose length comes first, in base 128.
    fn foreign<'b>(&mut self, length: [u8; 2], bytes: &'b [u8]) -> &'b [u8] {
        let [high, low] = length.map(|digit| usize::from(digit & 0x7f));
        self.text.push(char::REPLACEMENT_CHARACTER);
        bytes.get(high * 128 + low..).unwrap_or_default()
    }
}

/// What follows the first `end`; nothing when there is none.
fn past<'b>(bytes: &'b [u8], end: &[u8]) -> &'b [u8] {
    let at = bytes.windows(end.len()).position(|window| window == end);
    at.map_or(&[], |at| &bytes[at + end.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Shown;

    #[test]
    fn properties_are_read_as_their_type_says() {
        use Encoding as E;
        for (encoding, bytes, text) in [
            (E::Utf8, &b"caf\xc3\xa9"[..], "café"),
            (E::Utf8, b"caf\xe9", "caf\u{fffd}"),
            (E::Latin1, b"caf\xe9", "café"),
            (E::Latin1, b"caf\xc3\xa9", "cafÃ©"),
            (E::Unsaid, b"caf\xc3\xa9", "café"),
            (E::Unsaid, b"caf\xe9", "café"),
            (E::Compound, b"caf\xe9\tau lait", "café\tau lait"),
            (E::Compound, b"a\x1b$(B4A;z\x1b(Bb", "a\u{fffd}\u{fffd}b"),
            (E::Compound, b"a\x1b$)A\xba\xba \xd7\x1b-A\xe9", "a\u{fffd} \u{fffd}é"),
            (E::Compound, b"\x1b-F\xe1\xe2 abc", "\u{fffd}\u{fffd} abc"),
            (E::Compound, b"\xe9\x1b%G\xe6\xbc\xa2\x1b%@\xe9", "é漢é"),
            (E::Compound, b"\x1b%G\xe6\xbc\xa2", "漢"),
            (E::Compound, b"a\x1b%/1\x80\x84koi\x02b", "a\u{fffd}b"),
            (E::Compound, b"a\x1b%/1\xff\xffb", "a\u{fffd}"),
            (E::Compound, b"\x9b1]a\x9b]b", "ab"),
            (E::Compound, b"a\x1b", "a"),
            (E::Compound, b"a\x1b$(", "a"),
            (E::Compound, b"\x1b$(B4", "\u{fffd}"),
        ] {
            assert_eq!(encoding.decode(bytes), text, "{encoding:?} {bytes:?}");
        }
    }

    #[test]
    fn what_steers_a_terminal_is_spelled_out() {
        for (text, shown) in [
            ("q\u{1b}[31mz\n", r"q\u{1b}[31mz\n"),
            ("\u{9b}31m\u{7f}", r"\u{9b}31m\u{7f}"),
            ("a\u{202e}b\u{2028}c", r"a\u{202e}b\u{2028}c"),
            ("café 漢字 \"x\" \\", "café 漢字 \"x\" \\"),
        ] {
            assert_eq!(Shown(text).to_string(), shown);
        }
    }
}

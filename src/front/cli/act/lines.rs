//! Lines from a stream, each of a bounded length, without blocking the one who waits for them.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::clock::Cancel;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::front) enum Line {
    /// At most as many bytes as are allowed.
    Text(Vec<u8>),
    /// More than are allowed; what they were is gone.
    TooLong,
}

/// How often a cancellation is looked for while no line comes.
const GLANCE: Duration = Duration::from_millis(20);

/// The lines of a stream, read by a thread of their own: a reader that blocks cannot be woken by a
/// signal.
pub(super) struct Lines(Receiver<io::Result<Line>>);

impl Lines {
    /// Reads `input` line by line; a line is read when the one before was taken.
    pub(super) fn of(input: impl Read + Send + 'static, max_bytes: usize) -> Self {
        let (sender, receiver) = sync_channel(0);
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Some(line) = read_line(&mut input, max_bytes).transpose() {
                let is_last = line.is_err();
                if sender.send(line).is_err() || is_last {
                    return;
                }
            }
        });
        Self(receiver)
    }

    /// The next line; `None` at the end of the stream or when `cancel` fires.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub(super) fn next(&self, cancel: &Cancel) -> io::Result<Option<Line>> {
        while !cancel.is_cancelled() {
            match self.0.recv_timeout(GLANCE) {
                Ok(line) => return line.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        Ok(None)
    }
}

/// Reads one line and keeps no more than `max_bytes` of it.
pub(in crate::front) fn read_line(
    input: &mut impl BufRead,
    max_bytes: usize,
) -> io::Result<Option<Line>> {
    let (mut line, mut length) = (Vec::new(), 0);
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        let is_end_of_stream = buffer.is_empty();
        if is_end_of_stream && length == 0 {
            return Ok(None);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        length += part.len();
        line.extend_from_slice(&part[..part.len().min(max_bytes - line.len())]);
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() || is_end_of_stream {
            let is_whole = length <= max_bytes;
            return Ok(Some(if is_whole { Line::Text(line) } else { Line::TooLong }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_end() {
        let text = |text: &str| Line::Text(text.into());
        for (input, lines) in [
            ("", vec![]),
            ("\n", vec![text("")]),
            ("ab\ncd\n", vec![text("ab"), text("cd")]),
            ("ab\n\ncd", vec![text("ab"), text(""), text("cd")]),
            ("12345678\n123456789\n1", vec![text("12345678"), Line::TooLong, text("1")]),
            ("123456789", vec![Line::TooLong]),
        ] {
            // A buffer of three bytes cuts every line.
            let mut reader = BufReader::with_capacity(3, input.as_bytes());
            let mut read = Vec::new();
            while let Some(line) = read_line(&mut reader, 8).unwrap() {
                read.push(line);
            }
            assert_eq!(read, lines, "{input:?}");
        }
    }

    #[test]
    fn an_endless_line_keeps_nothing() {
        let mut endless = BufReader::new(io::repeat(b'x').take(100 << 20));
        assert_eq!(read_line(&mut endless, 1000).unwrap(), Some(Line::TooLong));
    }

    #[test]
    fn a_reader_that_blocks_does_not_keep_a_cancelled_one_waiting() {
        struct Blocks;
        impl Read for Blocks {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                std::thread::park();
                Ok(0)
            }
        }
        let cancel = Cancel::new();
        let lines = Lines::of(Blocks, 10);
        cancel.cancel();
        assert_eq!(lines.next(&cancel).unwrap(), None);
    }
}

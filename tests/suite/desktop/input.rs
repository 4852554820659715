//! Input arrives as sent, and what is held is known.

use std::fs;

use seechange::act::{Button, Driver as _, Held, InputEvent, Wheel};
use seechange::surface::x11::X11;
use seechange::wait::Source as _;
use seechange::{Point, Size};

use super::harness::{Desktop, chord, click, type_text};

/// Every character a US keyboard types, after the line the brief gives.
const ASCII: &str = concat!(
    "echo \"q\" 'a' $(x) A1!@#\n",
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]_{|}~",
    "abcdefghijklmnopqrstuvwxyz\n"
);

fn type_and_read(
    desktop: &Desktop,
    window: &mut X11,
    file: &std::path::Path,
    text: &str,
) -> String {
    fs::write(file, "").unwrap();
    type_text(window, text);
    desktop.until("the typed lines", || {
        let typed = fs::read_to_string(file).unwrap();
        (typed.matches('\n').count() >= text.matches('\n').count()).then_some(typed)
    })
}

#[test]
#[ignore = "needs Xvfb"]
fn ascii_arrives_exactly_under_three_layouts() {
    let mut desktop = Desktop::managed();
    let (mut window, file) = desktop.catching_terminal();
    let size = window.geometry().unwrap().size;
    click(&mut window, size.rect().center());
    for layout in ["us", "de", "fr", "us"] {
        desktop.run("setxkbmap", &[layout]);
        let typed = type_and_read(&desktop, &mut window, &file, ASCII);
        assert_eq!(typed.trim_start_matches('\0'), ASCII, "{layout}");
    }
}

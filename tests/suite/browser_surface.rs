//! The surface `browser`: pages served here, in a real Chromium.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use seechange::act::{
    Action, Button, Driver as _, Executor, ExecutorOptions, ImagePoint, InputEvent, RefusalKind,
    Request, Status, Text,
};
use seechange::surface::browser::{self, BrowserOptions, Click, Elements, Fill, Page};
use seechange::wait::{Capture, Condition, Source as _, WaitOptions, wait};
use seechange::{Cancel, Clock, Frame, Point, Rect, Size};

mod actions;
mod tabs;
#[cfg(feature = "mcp")]
mod agent;
#[cfg(feature = "mcp")]
mod sessions;

/// How the profile folders of browsers begin.
const PREFIX: &str = "seechange-browser-";

const HEAD: &str = "<!doctype html><meta charset=utf-8><style>body{margin:0;font:16px sans-serif}\
                    </style>";

/// Pages by path; counts what was posted.
struct Server {
    address: SocketAddr,
    posts: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pages: HashMap<String, String> =
            pages.iter().map(|(path, page)| ((*path).to_owned(), (*page).to_owned())).collect();
        let (pages, posts) = (Arc::new(pages), Arc::<Mutex<Vec<String>>>::default());
        let told = posts.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (pages, told) = (pages.clone(), told.clone());
                thread::spawn(move || answer(stream.unwrap(), &pages, &told));
            }
        });
        Self { address, posts }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn answer(stream: TcpStream, pages: &HashMap<String, String>, posts: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    // A browser opens connections that it never uses.
    if reader.read_line(&mut first).is_err() || first.is_empty() {
        return;
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    if first.starts_with("POST") {
        posts.lock().unwrap().push(String::from_utf8(body).unwrap());
    }
    let path = first.split(' ').nth(1).unwrap();
    if path.starts_with("/slow") {
        Clock::system().sleep(Duration::from_secs(4));
    }
    let (status, page) = match pages.get(path) {
        Some(page) => ("200 OK", format!("{HEAD}{page}")),
        None => ("404 Not Found", String::new()),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    let mut stream = stream;
    // Nobody may be there any more to read it.
    drop(stream.write_all(answer.as_bytes()));
}

/// Waits until there is nothing left, and fails with what is: a process that is killed while it
/// waits for the disk ends once that has answered.
fn none_left<T: std::fmt::Debug + PartialEq>(left: impl Fn() -> Vec<T>) {
    let clock = Clock::system();
    let give_up = clock.now() + Duration::from_secs(5);
    while !left().is_empty() && clock.now() < give_up {
        clock.sleep(Duration::from_millis(20));
    }
    assert_eq!(left(), []);
}

/// A page of this HTML in a browser of its own; `None`, with the reason printed, without one.
struct Open {
    server: Server,
    page: Page,
    clock: Clock,
}

fn open(html: &str) -> Option<Open> {
    open_with(html, &BrowserOptions::new().viewport(Size::new(800, 600).unwrap()))
}

fn open_with(html: &str, options: &BrowserOptions) -> Option<Open> {
    open_pages(&[("/", html)], options)
}

fn open_pages(pages: &[(&str, &str)], options: &BrowserOptions) -> Option<Open> {
    if let Err(error) = browser::find() {
        println!("skipped: {error}");
        return None;
    }
    let (server, clock) = (Server::start(pages), Clock::system());
    let page = Page::open(&server.url("/"), options, &clock).unwrap();
    Some(Open { server, page, clock })
}

impl Open {
    fn capture(&mut self, region: Option<Rect>) -> Frame {
        let mut frame = Frame::default();
        let give_up = self.clock.now() + Duration::from_secs(10);
        let taken = self.page.capture(region, give_up, &mut frame).unwrap();
        assert!(matches!(taken, Capture::Taken { .. }), "{taken:?}");
        frame
    }

    /// Presses a key and lets go of it.
    fn press(&mut self, name: &str) {
        let code = self.page.key_named(name).unwrap().unwrap();
        for down in [true, false] {
            self.page.send(InputEvent::Key { code, down }).unwrap();
        }
    }

    /// Waits until the page's title is this.
    fn until_title(&mut self, title: &str) {
        for _ in 0..500 {
            if self.page.title().unwrap() == title {
                return;
            }
            self.clock.sleep(Duration::from_millis(10));
        }
        panic!("the title is {:?}, not {title:?}", self.page.title().unwrap());
    }

    fn title(&mut self) -> String {
        self.page.title().unwrap()
    }

    fn click(&mut self, reference: &str) -> Click {
        let elements = self.page.elements().unwrap();
        let reference = format!("{}:{reference}", number(&elements));
        self.page.click(&elements, &reference, Duration::ZERO).unwrap()
    }

    fn refused(&mut self, reference: &str) -> String {
        match self.click(reference) {
            Click::Refused(refusal) => refusal.to_string(),
            sent => panic!("{sent:?}"),
        }
    }

    fn lines(&mut self) -> Vec<String> {
        self.page.elements().unwrap().lines()
    }
}

/// The snapshot's number, as its references have it.
fn number(elements: &Elements) -> String {
    elements.as_slice()[0].reference.split(':').next().unwrap().to_owned()
}

fn is_sent(click: &Click) -> bool {
    matches!(click, Click::Sent { .. })
}

fn rgb(frame: &Frame, x: u32, y: u32) -> [u8; 3] {
    let [red, green, blue, _] = frame.as_ref().rgba(Point::new(x, y));
    [red, green, blue]
}

const COLOURS: &str = "<body style='height:3000px;background:linear-gradient(#fff,#fff)'>\
    <div style='position:absolute;left:10px;top:20px;width:30px;height:40px;background:#f00'></div>\
    <div style='position:absolute;left:100px;top:1000px;width:50px;height:50px;background:#00f'></div>";

#[test]
#[ignore = "needs chromium"]
fn frames_have_device_pixels_and_parts_are_those_of_the_whole() {
    for (scale, size) in [(1.0, "800x600"), (1.5, "1200x900"), (2.0, "1600x1200")] {
        let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap()).scale(scale);
        let Some(mut open) = open_with(COLOURS, &options) else { return };
        let whole = open.capture(None);
        assert_eq!(whole.size().to_string(), size);
        let geometry = open.page.geometry().unwrap();
        assert_eq!((geometry.size, geometry.scale), (whole.size(), scale));
        let px = |css: f32| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let pixels = (css * scale) as u32;
            pixels
        };
        assert_eq!(rgb(&whole, px(10.0), px(20.0)), [255, 0, 0]);
        assert_eq!(rgb(&whole, px(40.0) - 1, px(60.0) - 1), [255, 0, 0]);
        assert_eq!(rgb(&whole, px(40.0), px(60.0)), [255, 255, 255]);
        for region in ["0,0,100,100", "7,13,33,51", "799,599,1,1", "11,0,1,600"] {
            let region = region.parse().unwrap();
            let part = open.capture(Some(region));
            assert!(part == whole.crop(region).unwrap(), "{region} at {scale}");
        }
        // Parts are of what is seen, wherever the document was scrolled to.
        open.press("end");
        let options = WaitOptions::new().timeout(Duration::from_secs(10));
        let clock = open.clock.clone();
        wait(&mut open.page, &Condition::stable(), &options, &clock, &Cancel::never()).unwrap();
        let scrolled = open.capture(None);
        assert_eq!(rgb(&scrolled, px(10.0), px(20.0)), [255, 255, 255], "it has scrolled");
        let region = "50,50,200,200".parse().unwrap();
        assert!(open.capture(Some(region)) == scrolled.crop(region).unwrap(), "at {scale}");
    }
}

#[test]
#[ignore = "needs chromium"]
fn ids_advance_and_a_part_outside_is_another_size() {
    let Some(mut open) = open(COLOURS) else { return };
    let mut frame = Frame::default();
    let give_up = open.clock.now() + Duration::from_secs(10);
    for id in 1..4 {
        let taken = open.page.capture(None, give_up, &mut frame).unwrap();
        assert_eq!(taken, Capture::Taken { id });
    }
    let outside = Some("700,500,101,100".parse().unwrap());
    assert_eq!(open.page.capture(outside, give_up, &mut frame).unwrap(), Capture::Resized);
    let past = open.clock.now();
    assert_eq!(open.page.capture(None, past, &mut frame).unwrap(), Capture::Stalled);
    assert_eq!(open.page.capture(None, give_up, &mut frame).unwrap(), Capture::Taken { id: 4 });
}

#[test]
#[ignore = "needs chromium"]
fn elements_are_numbered_named_and_told_in_lines() {
    let inner = "<button id=in>Inner</button>";
    let page = "<h1>Shop</h1><a href=/x>Terms</a><label for=e>Email</label><input id=e value=a@b>\
        <input type=password value=abc placeholder=Password><input type=hidden value=h>\
        <select><option>One<option selected>Two</select><textarea>some\ntext</textarea>\
        <label><input type=checkbox checked>Agree</label><button disabled>Send</button>\
        <div role=tab aria-selected=true>Tab</div><span onclick='1'>Pressed</span>\
        <div tabindex=0>Stop</div><div tabindex=-1>Not this</div><p contenteditable>Edit me</p>\
        <button style='display:none'>Hidden</button><b style='cursor:pointer'>Hand</b>\
        <div id=host></div><iframe src=/inner width=200 height=60></iframe>\
        <script>host.attachShadow({mode:'open'}).innerHTML='<button>Shadow</button>'</script>\
        <div style='height:2000px'></div><button>Below</button>";
    let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap());
    let Some(mut open) = open_pages(&[("/", page), ("/inner", inner)], &options) else { return };
    assert_eq!(
        open.lines(),
        [
            "1:a Link \"Terms\"",
            "1:b Label \"Email\"",
            "1:c Textbox \"Email\" = \"a@b\"",
            "1:d Textbox \"Password\" = \"•••\"",
            "1:e Combobox \"\" = \"Two\"",
            "1:f Textbox \"\" = \"some text\"",
            "1:g Label \"Agree\"",
            "1:h Checkbox \"Agree\" [checked]",
            "1:i Button \"Send\" [disabled]",
            "1:j Tab \"Tab\" [selected]",
            "1:k Clickable \"Pressed\"",
            "1:l Clickable \"Stop\"",
            "1:m Textbox \"\" = \"Edit me\"",
            "1:n Clickable \"Hand\"",
            "1:o Button \"Shadow\"",
            "1:p Button \"Inner\"",
            "1:q Button \"Below\" (scrolled out of view)",
        ]
    );
}

/// What a click on one element of a page does: the page, the element's letter, and the title after,
/// or what the refusal says of it.
#[test]
#[ignore = "needs chromium"]
fn a_click_reaches_its_element_or_says_what_is_in_the_way() {
    let says = "onclick=\"document.title='clicked'\"";
    let button = format!("<button id=b {says}>Save</button>");
    let inner = "<div style='height:900px'></div>\
        <button onclick=\"top.document.title='clicked'\">Inner</button>";
    let far = "<div style='height:2000px'></div>";
    for (name, html, letter, expected) in [
        ("plain", button.clone(), "a", Ok("clicked")),
        ("scrolled away", format!("{far}{button}{far}"), "a", Ok("clicked")),
        (
            "sticky header",
            format!("<div style='position:sticky;top:0;height:500px;background:#ccc'>Head</div>{far}{button}{far}\
                <script>scrollTo(0,99999)</script>"),
            "a",
            Ok("clicked"),
        ),
        (
            "modal",
            format!("{button}<div id=modal style='position:fixed;inset:0;background:#0008'>We use cookies <button>Close</button></div>"),
            "a",
            Err("1:a Button \"Save\" is covered by <div id=\"modal\"> \"We use cookies Close\": close or move that, or act on it instead"),
        ),
        (
            "transparent cover",
            format!("{button}<div class=veil style='position:fixed;inset:0'></div>"),
            "a",
            Err("1:a Button \"Save\" is covered by <div class=\"veil\">: close or move \
                 that, or act on it instead"),
        ),
        (
            "cover that lets through",
            format!("{button}<div style='position:fixed;inset:0;pointer-events:none'></div>"),
            "a",
            Ok("clicked"),
        ),
        (
            "half covered",
            format!("<button {says} style='width:200px;height:40px'>Wide</button>\
                <div style='position:fixed;left:0;top:0;width:130px;height:99px;background:#ccc'></div>"),
            "a",
            Ok("clicked"),
        ),
        (
            "shadow root",
            "<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML=\
                `<button onclick=\"document.title='clicked'\"><slot></slot></button>`;host.append('Label')</script>".to_owned(),
            "a",
            Ok("clicked"),
        ),
        ("frame", "<p>x</p><iframe src=/inner width=300 height=200 style='border:7px solid;padding:5px'></iframe>".to_owned(), "a", Ok("clicked")),
        (
            "nested scrollers",
            format!("<div style='height:150px;overflow:auto'>{far}<div style='height:90px;overflow:auto'>{far}{button}</div></div>"),
            "a",
            Ok("clicked"),
        ),
        ("disabled", "<button disabled>Save</button>".to_owned(), "a",
            Err("1:a Button \"Save\" is disabled: fill in what it waits for, or wait until it is enabled")),
        (
            "moving",
            format!("<style>@keyframes m{{to{{margin-left:500px}}}}#b{{animation:m 2s linear infinite}}</style>{button}"),
            "a",
            Err("1:a Button \"Save\" is moving: wait until the page is stable, then take fresh elements"),
        ),
        ("spinner beside", format!("<style>@keyframes s{{to{{rotate:1turn}}}}i{{display:block;width:40px;height:40px;\
            border-top:4px solid;border-radius:50%;animation:s 1s linear infinite}}</style><i></i>{button}"), "a", Ok("clicked")),
        ("label", format!("<label for=c>Agree</label><input id=c type=checkbox {says}>"), "a", Ok("clicked")),
        ("link over two lines", format!("<div style='width:120px'>word word <a href='#' {says}>a link that wraps over lines</a></div>"), "a", Ok("clicked")),
    ] {
        let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap());
        let pages = [("/", html.as_str()), ("/inner", inner)];
        let Some(mut open) = open_pages(&pages, &options) else { return };
        open.clock.sleep(Duration::from_millis(100));
        match expected {
            Ok(title) => {
                let click = open.click(letter);
                assert!(is_sent(&click), "{name}: {click:?}");
                assert_eq!(open.title(), title, "{name}");
            }
            Err(message) => {
                assert_eq!(open.refused(letter), message, "{name}");
                assert_eq!(open.title(), "", "{name}");
            }
        }
        assert!(open.page.held().unwrap().is_empty(), "{name}");
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_reference_never_means_a_neighbour() {
    let page = "<button onclick=\"document.title='first'\">First</button>\
        <button onclick=\"document.title='second'\">Second</button>";
    let Some(mut open) = open(page) else { return };
    let old = open.page.elements().unwrap();
    let new = open.page.elements().unwrap();
    for (elements, reference, message) in [
        (&old, "1:a", "1:a is of snapshot 1 and the last one is 2: take the reference from that"),
        (&new, "1:a", "there is no element 1:a here: the valid ones are 2:a, 2:b"),
        (&new, "2:c", "there is no element 2:c here: the valid ones are 2:a, 2:b"),
    ] {
        let click = open.page.click(elements, reference, Duration::ZERO).unwrap();
        let Click::Refused(refusal) = click else { panic!("{click:?}") };
        assert_eq!(refusal.to_string(), message);
        assert_eq!(refusal.kind(), RefusalKind::StaleObservation);
    }
    assert_eq!(open.title(), "");
    // The element is gone; what stands in its place now is another.
    let page = "<div id=d><button>Save</button></div><script>onkeydown=()=>{d.innerHTML=\
        `<button onclick=\"document.title='wrong'\">Save</button>`}</script>";
    let Some(mut open) = self::open(page) else { return };
    let elements = open.page.elements().unwrap();
    open.press("escape");
    let click = open.page.click(&elements, "1:a", Duration::ZERO).unwrap();
    let Click::Refused(refusal) = click else { panic!("{click:?}") };
    assert_eq!(
        refusal.to_string(),
        "1:a Button \"Save\" is not in the page any more: take fresh elements and choose again"
    );
    assert_eq!(open.title(), "");
}

#[test]
#[ignore = "needs chromium"]
fn what_moves_under_the_pointer_is_not_pressed() {
    let accept = "<button onclick=\"document.title='accepted'\">Accept all</button>";
    for (name, page, message) in [
        (
            "shifts",
            format!("<div id=d></div><button onmouseover=\"if(!d.innerHTML)d.innerHTML=`{}`\" \
                onclick=\"document.title='saved'\">Save</button>", accept.replace('"', "'").replace("'accepted'", "&#39;accepted&#39;")),
            "moving",
        ),
        (
            "is renamed",
            "<button onmouseover=\"this.textContent='Accept all'\" onclick=\"document.title='accepted'\">Save</button>".to_owned(),
            "is now called \"Accept all\"",
        ),
        (
            "is covered",
            "<button onmouseover=\"v.style.display='block'\" onclick=\"document.title='saved'\">Save</button>\
             <div id=v style='display:none;position:fixed;inset:0'>Menu</div>".to_owned(),
            "is covered by <div id=\"v\"> \"Menu\"",
        ),
    ] {
        let Some(mut open) = open(&page) else { return };
        let refused = open.refused("a");
        assert!(refused.contains(message), "{name}: {refused}");
        assert_eq!(open.title(), "", "{name}");
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_button_that_gets_enabled_is_waited_for() {
    let page = "<button disabled id=b onclick=\"document.title='sent'\">Send</button>\
        <script>setTimeout(()=>b.disabled=false,700)</script>";
    let Some(mut open) = open(page) else { return };
    let elements = open.page.elements().unwrap();
    let click = open.page.click(&elements, "1:a", Duration::from_secs(10)).unwrap();
    assert!(is_sent(&click), "{click:?}");
    assert_eq!(open.title(), "sent");
}

#[test]
#[ignore = "needs chromium"]
fn fields_are_filled_whole_and_changes_told_by_element() {
    let page = "<input value=old placeholder=Name oninput=\"document.title=this.value\">\
        <textarea>some text</textarea><p contenteditable>Edit <b>me</b></p>\
        <select aria-label=Size><option>One<option>Two</select><input readonly value=r>\
        <button onclick=\"this.textContent='Count '+(++window.n)\">Count 0</button><script>n=0</script>";
    let Some(mut open) = open(page) else { return };
    let text = "Grüße, 世界 🙂👩‍👩‍👧 \"x\" עברית";
    let before = open.page.elements().unwrap();
    for reference in ["1:a", "1:b", "1:c"] {
        assert_eq!(open.page.fill(&before, reference, text).unwrap(), Fill::Sent, "{reference}");
    }
    let Fill::Refused(refusal) = open.page.fill(&before, "1:e", text).unwrap() else { panic!() };
    assert_eq!(
        refusal.to_string(),
        "1:e Textbox \"\" takes no text: choose a field that is not readonly, or click it"
    );
    assert_eq!(open.title(), text);
    assert!(is_sent(&open.page.click(&before, "1:f", Duration::ZERO).unwrap()));
    let after = open.page.elements().unwrap();
    assert_eq!(
        after.changes_since(&before),
        [
            format!("~ title \"\" → \"{text}\""),
            format!("~ 2:a Textbox \"Name\" = \"old\" → \"{}\"", text),
            format!("~ 2:b Textbox \"\" = \"some text\" → \"{text}\""),
            format!("~ 2:c Textbox \"\" = \"Edit me\" → \"{text}\""),
            "~ 2:f Button \"Count 0\" → \"Count 1\"".to_owned(),
        ]
    );
    assert_eq!(open.page.fill(&after, "2:b", "").unwrap(), Fill::Sent);
    assert_eq!(open.lines()[1], "3:b Textbox \"\" = \"\"");
}

#[test]
#[ignore = "needs chromium"]
fn a_select_is_chosen_from_by_keys() {
    let page = "<select aria-label=Size onchange=\"document.title=this.value\">\
        <option>One<option>Two<option>Three</select>";
    let Some(mut open) = open(page) else { return };
    let before = open.page.elements().unwrap();
    for name in ["tab", "down", "down"] {
        open.press(name);
    }
    let after = open.page.elements().unwrap();
    assert_eq!(
        after.changes_since(&before),
        ["~ title \"\" → \"Three\"", "~ 2:a Combobox \"Size\" = \"One\" → \"Three\""]
    );
}

#[test]
#[ignore = "needs chromium"]
fn a_dialog_of_a_press_hangs_nothing_and_the_release_comes_after() {
    let page = "<button style='width:200px;height:100px' onmousedown=\"alert('Really, now?')\" \
        onmouseup=\"document.title+='up'\">Press</button>";
    let Some(mut open) = open(page) else { return };
    let elements = open.page.elements().unwrap();
    let click = open.page.click(&elements, "1:a", Duration::ZERO).unwrap();
    let Click::Sent { dialog: Some(dialog), .. } = click else { panic!("{click:?}") };
    assert_eq!((dialog.kind.as_str(), dialog.text.as_str()), ("alert", "Really, now?"));
    let words = "a dialog is open: alert \"Really, now?\"; accept or dismiss it first";
    let mut frame = Frame::default();
    let give_up = open.clock.now() + Duration::from_secs(60);
    let capture = open.page.capture(None, give_up, &mut frame).unwrap();
    assert_eq!(capture, Capture::Failed(words.to_owned()));
    assert_eq!(open.page.held().unwrap_err().to_string(), words);
    assert!(open.page.elements().unwrap_err().to_string().ends_with(words));
    assert!(open.clock.now() < give_up - Duration::from_secs(30), "nothing waited for the dialog");
    assert_eq!(open.page.handle_dialog(true, None).unwrap(), dialog);
    assert!(open.page.held().unwrap().is_empty());
    assert_eq!(open.title(), "up");
    assert_eq!(open.page.dialog(), None);
    let error = open.page.handle_dialog(true, None).unwrap_err().to_string();
    assert_eq!(error, "no dialog is open: there is nothing to accept or dismiss");
    open.capture(None);
}

#[test]
#[ignore = "needs chromium"]
fn confirm_prompt_and_beforeunload_are_answered() {
    let page = "<button onclick=\"document.title=confirm('Sure?')\">C</button>\
        <button onclick=\"document.title=prompt('Name?','Ada')\">P</button>\
        <button onclick=\"alert(1);alert(2);document.title='both'\">A</button>\
        <script>onbeforeunload=()=>true</script>";
    let Some(mut open) =
        open_pages(&[("/", page), ("/next", "<title>next</title>")], &BrowserOptions::new())
    else {
        return;
    };
    for (letter, accept, text, suggestion, title) in [
        ("a", false, None, "", "false"),
        ("a", true, None, "", "true"),
        ("b", true, Some("Grace"), "Ada", "Grace"),
        ("b", false, None, "Ada", "null"),
    ] {
        let Click::Sent { dialog: Some(dialog), .. } = open.click(letter) else { panic!() };
        assert_eq!(dialog.suggestion, suggestion);
        open.page.handle_dialog(accept, text).unwrap();
        assert_eq!(open.title(), title);
    }
    let Click::Sent { dialog: Some(first), .. } = open.click("c") else { panic!() };
    assert_eq!(open.page.handle_dialog(true, None).unwrap(), first);
    for _ in 0..500 {
        if open.page.dialog().is_some() {
            break;
        }
        open.clock.sleep(Duration::from_millis(10));
    }
    assert_eq!(open.page.handle_dialog(true, None).unwrap().text, "2");
    open.until_title("both");
    let next = open.server.url("/next");
    open.page.navigate(&next).unwrap();
    assert_eq!(open.page.dialog().unwrap().kind, "beforeunload");
    open.page.handle_dialog(false, None).unwrap();
    assert_eq!(open.title(), "both", "it stayed");
    open.page.navigate(&next).unwrap();
    open.page.handle_dialog(true, None).unwrap();
    open.until_title("next");
}

#[test]
#[ignore = "needs chromium"]
fn points_are_exact_at_every_scale() {
    let page = "<body style='height:600px' onmousedown='document.title=[event.clientX,event.clientY,\
        event.button,event.detail,event.shiftKey].join()' oncontextmenu='return false'>";
    for (scale, x, y, title) in
        [(1.0, 7, 13, "7,13"), (2.0, 15, 27, "7,13"), (1.5, 300, 151, "200,101")]
    {
        let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap()).scale(scale);
        let Some(mut open) = open_with(page, &options) else { return };
        for (button, count, bits) in [
            (Button::Left, 1, 0),
            (Button::Left, 2, 0),
            (Button::Right, 1, 2),
            (Button::Middle, 1, 1),
        ] {
            open.page.send(InputEvent::Move(Point::new(x, y))).unwrap();
            for down in [true, false] {
                open.page.send(InputEvent::Button { button, down }).unwrap();
            }
            let told = open.title();
            // Two presses in time are a double click; on a busy machine they may not be in time.
            let counts =
                [format!("{title},{bits},{count},false"), format!("{title},{bits},1,false")];
            assert!(counts.contains(&told), "{told} at {scale}");
        }
    }
}

#[test]
#[ignore = "needs chromium"]
fn the_executor_types_any_script_and_says_what_changed() {
    let page = "<textarea style='position:absolute;left:50px;top:50px;width:600px;height:200px;font-size:20px'></textarea>\
        <script>const t=document.querySelector('textarea');onkeydown=e=>document.title+=e.key.length==1?'.':''</script>";
    let Some(mut open) = open(page) else { return };
    let text = "Hello, World! \u{df}\u{e9}\u{6f22}\u{5b57}\u{1f642}\nnext\tline \u{5e2}";
    let clock = open.clock.clone();
    let mut executor = Executor::new(&mut open.page, clock, ExecutorOptions::new());
    let at = ImagePoint::new(300.0, 150.0).unwrap();
    let click = executor.execute_fresh(&request(Action::click(at))).unwrap();
    assert_eq!(click.status, Status::Delivered, "{click:?}");
    assert_eq!(click.delivery.route, "devtools");
    let typed = executor.execute_fresh(&request(typing(text))).unwrap();
    assert_eq!(typed.status, Status::Delivered, "{typed:?}");
    let change = typed.change.unwrap();
    let field: Rect = "50,50,620,220".parse().unwrap();
    assert!(!change.report.areas.is_empty());
    assert!(
        change.report.areas.iter().all(|area| field.contains_rect(area.rect)),
        "{:?}",
        change.report.areas
    );
    executor.execute_fresh(&request(Action::SelectAll)).unwrap();
    let over = executor.execute_fresh(&request(typing("replaced"))).unwrap();
    assert_eq!(over.status, Status::Delivered);
    assert_eq!(open.lines(), ["9:a Textbox \"\" = \"replaced\""]);
}

#[test]
#[ignore = "needs chromium"]
fn waits_see_late_labels_toasts_spinners_and_new_pages() {
    let page = "<button onclick=\"setTimeout(()=>l.textContent='Saved',600)\">Late</button>\
        <button onclick=\"t.hidden=false;setTimeout(()=>t.hidden=true,138)\">Toast</button>\
        <button onclick=\"setTimeout(()=>location='/next',400)\">Go</button>\
        <h1 id=l style='height:50px'></h1><h1 id=t hidden style='position:fixed;right:0;bottom:0;background:#060;color:#fff'>Toast!</h1>";
    let next = "<title>next</title><a href=/>Back</a>";
    let spinner = "<style>@keyframes s{to{rotate:1turn}}i{position:absolute;left:100px;top:100px;width:40px;height:40px;\
        border-top:4px solid;border-radius:50%;animation:s 1s linear infinite}</style><i></i>";
    let pages = [("/", page), ("/next", next), ("/spinner", spinner)];
    let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap());
    let Some(mut open) = open_pages(&pages, &options) else { return };
    let clock = open.clock.clone();
    let never = Cancel::never();

    let before = open.capture(None);
    let options = WaitOptions::new().timeout(Duration::from_secs(15)).baseline(before);
    open.click("a");
    let outcome = wait(&mut open.page, &Condition::changed(), &options, &clock, &never).unwrap();
    assert!(outcome.is_met(), "{}", outcome.sentence());

    // Gone before anybody could call it a change, and told all the same.
    open.page.send(InputEvent::Move(Point::new(700, 300))).unwrap();
    open.clock.sleep(Duration::from_millis(500));
    let before = open.capture(None);
    let options = WaitOptions::new().timeout(Duration::from_secs(2)).baseline(before);
    open.click("b");
    let outcome = wait(&mut open.page, &Condition::changed(), &options, &clock, &never).unwrap();
    // How long it was to be seen is up to the machine: a look that fell into it tells of it.
    assert!(!outcome.is_met(), "{}", outcome.sentence());
    println!("toast: {}; {} transients", outcome.sentence(), outcome.transients.len());

    let before = open.page.elements().unwrap();
    let reference = before.as_slice()[2].reference.clone();
    assert!(is_sent(&open.page.click(&before, &reference, Duration::ZERO).unwrap()));
    open.until_title("next");
    let after = open.page.elements().unwrap();
    let url = open.server.url("/");
    assert_eq!(
        after.changes_since(&before),
        [
            format!("~ url \"{url}\" → \"{url}next\""),
            "~ title \"\" → \"next\"".to_owned(),
            "~ another document".to_owned(),
            format!("+ {} Link \"Back\"", after.as_slice()[0].reference),
        ]
    );

    let spinner = open.server.url("/spinner");
    open.page.navigate(&spinner).unwrap();
    let options = WaitOptions::new().timeout(Duration::from_secs(3));
    let outcome = wait(&mut open.page, &Condition::stable(), &options, &clock, &never).unwrap();
    assert!(!outcome.is_met());
    let sentence = outcome.sentence();
    assert!(
        sentence.contains("x=1") || sentence.contains("x=9"),
        "the spinner is named: {sentence}"
    );
}

#[test]
#[ignore = "needs chromium"]
fn a_form_is_sent_once_however_long_it_takes() {
    let page = "<form method=post action=/save><input name=who><button>Save</button></form>";
    let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap());
    let Some(mut open) = open_pages(&[("/", page), ("/save", "<title>saved</title>")], &options)
    else {
        return;
    };
    let elements = open.page.elements().unwrap();
    assert_eq!(open.page.fill(&elements, "1:a", "Ada").unwrap(), Fill::Sent);
    assert!(is_sent(&open.page.click(&elements, "1:b", Duration::ZERO).unwrap()));
    open.until_title("saved");
    assert_eq!(*open.server.posts.lock().unwrap(), ["who=Ada"]);
}

#[test]
#[ignore = "needs chromium"]
fn a_killed_browser_is_told_in_time_and_leaves_nothing() {
    let Some(mut open) = open("<p>x") else { return };
    let group = open.page.process_group().unwrap();
    let clock = open.clock.clone();
    let killer = thread::spawn(move || {
        Clock::system().sleep(Duration::from_millis(300));
        let group = rustix::process::Pid::from_raw(i32::try_from(group).unwrap()).unwrap();
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    });
    let options = WaitOptions::new().timeout(Duration::from_secs(60));
    let condition = Condition::stable().hold(Duration::from_secs(50));
    let error = wait(&mut open.page, &condition, &options, &clock, &Cancel::never());
    let gone = "the browser has ended: it was closed, killed or has crashed; open it again";
    assert_eq!(error.unwrap_err().to_string(), gone);
    killer.join().unwrap();
    assert_eq!(open.page.elements().unwrap_err().to_string(), gone);
    assert_eq!(open.page.held().unwrap_err().to_string(), gone);
    drop(open);
    assert!(
        processes(&format!("{PREFIX}{}-", std::process::id()))
            .iter()
            .all(|id| group_of(*id) != Some(group))
    );
}

/// Processes whose command line contains a text.
fn processes(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    ids.filter(has).collect()
}

/// The process group of a process that runs.
fn group_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(2)?.parse().ok()
}

fn request(action: Action) -> Request {
    Request::without_observation(action)
}

fn typing(text: &str) -> Action {
    Action::type_text(Text::new(text).unwrap())
}

/// However the command ends, neither a process nor a profile folder is left a moment later.
#[cfg(feature = "cli")]
#[test]
#[ignore = "needs chromium"]
fn a_command_that_is_ended_in_any_way_leaves_nothing() {
    use rustix::process::{Pid, Signal, kill_process};
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let server = Server::start(&[("/", "<p>x")]);
    let clock = Clock::system();
    for signal in [Some(Signal::TERM), Some(Signal::INT), Some(Signal::KILL), None] {
        let folder = tempfile::tempdir().unwrap();
        let timeout = if signal.is_some() { "60s" } else { "1s" };
        let mut child = Command::new(env!("CARGO_BIN_EXE_seechange"))
            .args(["wait", "changed", "--timeout", timeout, "--surface"])
            .arg(format!("browser:{}", server.url("/")))
            .env("TMPDIR", folder.path())
            .spawn()
            .unwrap();
        let text = format!("user-data-dir={}", folder.path().display());
        let until = |what: &str, is: &dyn Fn() -> bool| {
            for _ in 0..1500 {
                if is() {
                    return;
                }
                clock.sleep(Duration::from_millis(20));
            }
            panic!("{signal:?}: {what}");
        };
        if let Some(signal) = signal {
            until("it starts", &|| processes(&text).len() > 3);
            clock.sleep(Duration::from_millis(500));
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        child.wait().unwrap();
        until("no process is left", &|| processes(&text).is_empty());
        until("no profile is left", &|| {
            let mut left = fs::read_dir(folder.path()).unwrap().filter_map(Result::ok);
            !left.any(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        });
    }
}

/// A browser of somebody else's, that can be attached to.
struct Running {
    child: std::process::Child,
    /// Of the browser itself.
    address: String,
    _profile: tempfile::TempDir,
}

impl Running {
    fn start(program: &std::path::Path, url: &str) -> Self {
        let (profile, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let root = rustix::process::geteuid().is_root().then_some("--no-sandbox");
        let child = Command::new(program)
            .args(["--headless=new", "--remote-debugging-port=0", "--no-first-run"])
            .args(root)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(url)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let told = profile.path().join("DevToolsActivePort");
        let mut port = String::new();
        for _ in 0..1000 {
            port = fs::read_to_string(&told).unwrap_or_default();
            if port.lines().count() == 2 {
                break;
            }
            clock.sleep(Duration::from_millis(20));
        }
        let mut lines = port.lines();
        let address = format!("ws://127.0.0.1:{}{}", lines.next().unwrap(), lines.next().unwrap());
        Self { child, address, _profile: profile }
    }

    /// The address of the one page that is at a URL, for a session of its own.
    fn page_address(&self, url: &str) -> String {
        let host = self.address.split('/').nth(2).unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let asked = format!("GET /json/list HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(asked.as_bytes()).unwrap();
        // It says how long its answer is and leaves the connection open.
        let mut reader = BufReader::new(stream);
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut list = vec![0; length];
        reader.read_exact(&mut list).unwrap();
        let list: serde_json::Value = serde_json::from_slice(&list).unwrap();
        let page = list.as_array().unwrap().iter().find(|page| page["url"] == url).unwrap();
        page["webSocketDebuggerUrl"].as_str().unwrap().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that a test has ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_running_browser_is_attached_to_and_stays() {
    let Ok(program) = browser::find() else { return println!("skipped: no chromium") };
    let server = Server::start(&[(
        "/",
        "<title>here</title><button onclick=\"document.title='clicked'\">Go</button>",
    )]);
    let mut running = Running::start(&program, &server.url("/"));
    let (address, clock) = (running.address.clone(), Clock::system());
    for title in ["here", "clicked"] {
        let page = Page::attach(&address, &clock).unwrap();
        let mut open = Open { server: Server::start(&[]), page, clock: clock.clone() };
        open.until_title(title);
        let size = open.page.geometry().unwrap().size;
        assert_eq!(open.capture(None).size(), size);
        let part = "5,5,50,20".parse().unwrap();
        assert!(open.capture(Some(part)) == open.capture(None).crop(part).unwrap());
        assert!(is_sent(&open.click("a")));
        open.until_title("clicked");
        assert_eq!(open.page.process_group(), None);
    }
    let nobody =
        Page::attach("ws://127.0.0.1:1/devtools/browser/x", &clock).err().unwrap().to_string();
    assert!(
        nobody.starts_with(
            "ws://127.0.0.1:1/devtools/browser/x cannot be attached to: nobody listens there"
        ),
        "{nobody}"
    );
    let mut last = Page::attach(&address, &clock).unwrap();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let error = last.url().unwrap_err().to_string();
    assert_eq!(error, "the browser has ended: it was closed, killed or has crashed; open it again");
}

#[test]
#[ignore = "needs chromium"]
fn what_cannot_be_opened_says_why() {
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let clock = Clock::system();
    let size = |width, height| Size::new(width, height).unwrap();
    for (url, options, message) in [
        (
            "http://127.0.0.1:1/",
            BrowserOptions::new(),
            "http://127.0.0.1:1/ cannot be opened: net::err_unsafe_port",
        ),
        (
            "example",
            BrowserOptions::new(),
            "example cannot be opened: it is no address: begin it with https:// or http://",
        ),
        ("about:blank", BrowserOptions::new().scale(9.0), "scale 9 is not within 0.5 to 4"),
        (
            "about:blank",
            BrowserOptions::new().scale(1.5).viewport(size(801, 600)),
            "a viewport of 801x600 at scale 1.5 is no whole number of pixels: use even edges",
        ),
        (
            "about:blank",
            BrowserOptions::new().program("/nowhere/chromium"),
            "the browser has ended: it was closed, killed or has crashed; open it again",
        ),
    ] {
        let error = Page::open(url, &options, &clock).err().unwrap().to_string();
        assert_eq!(error, message, "{url}");
    }
}

#[test]
#[ignore = "needs chromium"]
fn the_picture_numbers_every_element_and_leaves_text_alone() {
    let page = "<style>body{margin:20px}nav a{margin-right:12px}td{padding:4px 10px}</style>\
        <nav><a href=#a>Home</a><a href=#b>Products</a><a href=#c>About us</a></nav>\
        <h1 style='position:absolute;left:20px;top:60px;margin:0'>A small shop</h1>\
        <p style='margin-top:90px'>Some text above the form, readable with the numbers on it, \
        <a href=#t>terms</a> and <a href=#p>privacy</a> included.</p>\
        <label for=e>Email</label> <input id=e> <label><input type=checkbox> Send me news</label><br><br>\
        <textarea rows=4 cols=40>hello</textarea><br><br><select><option>One</select> \
        <button>Count 0</button> <button disabled>Save</button>\
        <table><tr><td>Apple<td><button>Add</button><td><button>Remove</button>\
        <tr><td>Pear<td><button>Add</button><td><button>Remove</button></table>\
        <button style='position:absolute;left:500px;top:400px;width:120px;height:40px'>Alert</button>";
    let Some(mut open) = open(page) else { return };
    let frame = open.capture(None);
    let elements = open.page.elements().unwrap();
    let picture = elements.picture(&frame).unwrap();
    assert_eq!(picture.size(), frame.size());
    // To be looked at.
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    seechange::frame::write_png(&folder.join("browser-elements.png"), &picture).unwrap();
    let heading: Rect = "20,60,300,40".parse().unwrap();
    assert!(picture.crop(heading).unwrap() == frame.crop(heading).unwrap());
    assert_eq!(elements.as_slice().len(), 18);
    for element in elements.as_slice() {
        // The outline's strong colour is on every side of the box.
        let rect = element.rect.unwrap();
        let above = Point::new(rect.center().x, rect.y() - 1);
        assert_eq!(element.covered_by, None, "{}", element.line());
        assert_ne!(picture.as_ref().rgba(above), frame.as_ref().rgba(above), "{}", element.line());
    }
}

#[test]
#[ignore = "needs chromium"]
fn two_hundred_clicks_in_a_row_all_count() {
    let page =
        "<button onclick=\"this.textContent='Count '+ ++n\">Count 0</button><script>n=0</script>";
    let Some(mut open) = open(page) else { return };
    let mut before = open.page.elements().unwrap();
    for count in 1..=200 {
        let reference = before.as_slice()[0].reference.clone();
        assert!(is_sent(&open.page.click(&before, &reference, Duration::ZERO).unwrap()));
        let after = open.page.elements().unwrap();
        let now = &after.as_slice()[0];
        assert_eq!(now.name, format!("Count {count}"));
        let old = count - 1;
        let line = format!("~ {} Button \"Count {old}\" → \"Count {count}\"", now.reference);
        assert_eq!(after.changes_since(&before), [line]);
        before = after;
    }
}

/// The command that is told to stop in the middle of a drag lets go, and says so.
#[cfg(feature = "cli")]
#[test]
#[ignore = "needs chromium"]
fn a_drag_that_is_told_to_stop_lets_go() {
    use rustix::process::{Pid, Signal, kill_process};
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let page = "<script>onmousedown=()=>fetch('/down',{method:'POST',body:'down'});\
        onmouseup=()=>fetch('/up',{method:'POST',body:'up'})</script>";
    let server = Server::start(&[("/", page)]);
    let child = Command::new(env!("CARGO_BIN_EXE_seechange"))
        .args([
            "act",
            "drag",
            "20",
            "20",
            "600",
            "400",
            "--duration-ms",
            "10000",
            "--json",
            "--surface",
        ])
        .arg(format!("browser:{}", server.url("/")))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let clock = Clock::system();
    let posts = || server.posts.lock().unwrap().join(" ");
    for _ in 0..3000 {
        if posts() == "down" {
            break;
        }
        clock.sleep(Duration::from_millis(20));
    }
    assert_eq!(posts(), "down");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let receipt: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(receipt["status"], "unknown");
    assert_eq!(receipt["held_after"]["verified"], true);
    assert_eq!(receipt["held_after"]["buttons"].as_array().unwrap().len(), 0);
    let message = receipt["message"].as_str().unwrap();
    assert!(message.contains("never repeat this action"), "{message}");
}

#[test]
#[ignore = "needs chromium and a display"]
fn a_headed_page_is_seen_and_clicked_as_a_headless_one() {
    let options = BrowserOptions::new().headed(true).viewport(Size::new(800, 600).unwrap());
    if std::env::var_os("DISPLAY").is_none() {
        let error = Page::open("about:blank", &options, &Clock::system()).err().unwrap();
        let message = error.to_string();
        if browser::find().is_ok() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
            let words = "a headed browser takes a display: set DISPLAY, or leave it headless";
            assert_eq!(message, words);
        }
        return println!("skipped: DISPLAY is not set");
    }
    let page = "<button onclick=\"document.title='clicked'\">Go</button>";
    let Some(mut open) = open_with(page, &options) else { return };
    assert_eq!(open.capture(None).size().to_string(), "800x600");
    assert!(is_sent(&open.click("a")));
    assert_eq!(open.title(), "clicked");
    let region = "0,0,60,30".parse().unwrap();
    assert!(open.capture(Some(region)) == open.capture(None).crop(region).unwrap());
}

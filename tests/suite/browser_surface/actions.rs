//! Actions on a page through the executor: by reference, with what they led to.

use seechange::act::{
    Action, Address, Awaited, Deed, Direction, ElementAction, Modifiers, PageReport, Policy,
    Receipt, ScrollUnit, Sought, WaitFor, Which,
};

use super::*;

/// An executor on a page, whose elements are found by name.
struct Hand<'p> {
    executor: Executor<'p>,
    address: String,
}

impl Hand<'_> {
    fn run(&mut self, request: &Request) -> Receipt {
        self.executor.execute(request).unwrap()
    }

    /// Goes to another of the server's pages.
    fn go(&mut self, path: &str) -> Receipt {
        let url = Address::new(format!("{}{path}", self.address)).unwrap();
        let receipt = self.run(&Request::without_observation(Action::Navigate { url }));
        assert_eq!(receipt.status, Status::Delivered, "{receipt:?}");
        receipt
    }

    fn request(&self, name: &str, deed: Deed) -> Request {
        let current = self.executor.current().unwrap();
        let list = &current.elements.as_ref().unwrap().list;
        let found = list.iter().find(|element| element.name == name);
        let found = found.unwrap_or_else(|| panic!("no {name} among {list:?}"));
        let target = found.reference.parse().unwrap();
        Request::new(Action::Element(ElementAction::new(target, deed)), current.id)
    }

    fn on(&mut self, name: &str, deed: Deed) -> Receipt {
        let request = self.request(name, deed);
        self.run(&request)
    }

    fn click(&mut self, name: &str) -> Receipt {
        self.on(name, click())
    }

    /// A click after which this must come true.
    fn click_until(&mut self, name: &str, sought: Sought, timeout_ms: u64) -> Receipt {
        let mut request = self.request(name, click());
        request.postcondition = Some(until(sought, timeout_ms));
        self.run(&request)
    }

    fn reference(&self, name: &str) -> seechange::act::ElementRef {
        match self.request(name, click()).action {
            Action::Element(asked) => asked.target,
            _ => unreachable!(),
        }
    }

    fn plain(&mut self, action: Action) -> Receipt {
        let id = self.executor.current().unwrap().id;
        self.run(&Request::new(action, id))
    }

    fn title(&self) -> String {
        self.executor.current().unwrap().elements.as_ref().unwrap().title.clone()
    }
}

fn click() -> Deed {
    Deed::Click { button: Button::Left, count: 1, modifiers: Modifiers::none() }
}

fn typing(text: &str) -> Deed {
    Deed::TypeText(Text::new(text).unwrap())
}

fn until(sought: Sought, timeout_ms: u64) -> WaitFor {
    let timeout = Duration::from_millis(timeout_ms);
    WaitFor { condition: Awaited::Page(sought), timeout, region: None, or: Vec::new() }
}

fn page(receipt: &Receipt) -> &PageReport {
    receipt.page.as_ref().unwrap()
}

/// The lines of what changed, without the errors a missing icon makes.
fn changes(receipt: &Receipt) -> Vec<&str> {
    let lines = page(receipt).changes.iter().map(String::as_str);
    lines.filter(|line| !line.contains("favicon")).collect()
}

fn refused(receipt: &Receipt) -> (RefusalKind, &str) {
    let refusal = receipt.refusal.as_ref().unwrap_or_else(|| panic!("{receipt:?}"));
    (refusal.kind(), refusal.message())
}

/// Runs `test` on pages of this HTML by path, in one browser; nothing without one.
fn with_pages(pages: &[(&str, &str)], test: impl FnOnce(&mut Hand<'_>, &Server)) {
    with_options(pages, ExecutorOptions::new(), 1.0, test);
}

fn with_options(
    pages: &[(&str, &str)],
    executor: ExecutorOptions,
    scale: f32,
    test: impl FnOnce(&mut Hand<'_>, &Server),
) {
    let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap()).scale(scale);
    let Some(mut open) = open_pages(pages, &options) else { return };
    let mut hand = Hand {
        executor: Executor::new(&mut open.page, open.clock.clone(), executor),
        address: open.server.url(""),
    };
    hand.executor.observe().unwrap();
    test(&mut hand, &open.server);
}

pub(super) const COUNTER: &str = "<button onclick=\"this.textContent='Count '+ ++n\">Count 0</button>\
                       <script>n=0</script>";

/// A page, what is done on it to the element of a name, and the lines that tell what changed.
#[test]
#[ignore = "needs chromium"]
fn every_action_by_reference_does_what_it_says() {
    let none = Modifiers::none;
    let far = "<div style='height:2000px'></div>";
    let rows: Vec<(&str, String, &str, Deed, Vec<&str>)> = vec![
        ("click", COUNTER.into(), "Count 0", click(), vec!["~ # Button \"Count 0\" → \"Count 1\""]),
        (
            "double_click",
            "<button ondblclick=\"document.title='double'\">B</button>".into(),
            "B",
            Deed::DoubleClick { modifiers: none() },
            vec!["~ title \"\" → \"double\""],
        ),
        (
            "right_click",
            "<button oncontextmenu=\"document.title='menu';return false\">B</button>".into(),
            "B",
            Deed::RightClick { modifiers: none() },
            vec!["~ title \"\" → \"menu\""],
        ),
        (
            "hover",
            "<button onmouseover=\"this.textContent='Over'\">B</button>".into(),
            "B",
            Deed::Hover,
            vec!["~ # Button \"B\" → \"Over\""],
        ),
        (
            "input",
            "<input aria-label=F value='old text'>".into(),
            "F",
            typing("é 你好 \"q\""),
            vec!["~ # Textbox \"F\" = \"old text\" → \"é 你好 \"q\"\""],
        ),
        (
            "textarea",
            "<textarea aria-label=F>old</textarea>".into(),
            "F",
            typing("two\nlines"),
            vec!["~ # Textbox \"F\" = \"old\" → \"two lines\""],
        ),
        (
            "contenteditable",
            "<div contenteditable title=F>old <b>bold</b></div>".into(),
            "F",
            typing("new"),
            vec!["~ # Textbox \"F\" = \"old bold\" → \"new\""],
        ),
        (
            "select",
            "<select aria-label=F onchange=\"document.title=value\"><option>One<option>Two</select>"
                .into(),
            "F",
            typing("Two"),
            vec!["~ title \"\" → \"Two\"", "~ # Combobox \"F\" = \"One\" → \"Two\""],
        ),
        (
            "date",
            "<input type=date aria-label=F onchange=\"document.title=value\">".into(),
            "F",
            typing("2026-12-31"),
            vec!["~ title \"\" → \"2026-12-31\"", "~ # Textbox \"F\" = \"\" → \"2026-12-31\""],
        ),
        (
            "nested scroller",
            format!(
                "<div style='height:150px;overflow:auto' onscroll=\"document.title=scrollTop\">\
                 <button>B</button>{far}</div>"
            )
            .replace("scrollTop", "this.scrollTop"),
            "B",
            Deed::Scroll { direction: Direction::Down, amount: 2, by: ScrollUnit::Line },
            vec!["~ title \"\" → \"200\""],
        ),
        (
            "scroll by page",
            format!("<button>B</button>{far}<script>onscroll=()=>document.title=scrollY</script>"),
            "B",
            Deed::Scroll { direction: Direction::Down, amount: 1, by: ScrollUnit::Page },
            vec!["~ title \"\" → \"500\""],
        ),
        (
            "scroll_to_element",
            format!("{far}<button>B</button>{far}\
                     <script>onscroll=()=>document.title=scrollY>1000</script>"),
            "B",
            Deed::ScrollTo,
            vec!["~ title \"\" → \"true\""],
        ),
        (
            "shadow root",
            "<div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML=\
             `<button onclick=\"this.textContent='Pressed'\">B</button>`</script>"
                .into(),
            "B",
            click(),
            vec!["~ # Button \"B\" → \"Pressed\""],
        ),
        (
            "frame",
            "<iframe src=/inner width=300 height=200></iframe>".into(),
            "Inner",
            click(),
            vec!["~ # Button \"Inner\" → \"Pressed\""],
        ),
        (
            "sticky header",
            format!(
                "<div style='position:sticky;top:0;height:500px;background:#ccc'>Head</div>{far}\
                 {COUNTER}{far}<script>scrollTo(0,99999)</script>"
            ),
            "Count 0",
            click(),
            vec!["~ # Button \"Count 0\" → \"Count 1\""],
        ),
        (
            "enables within a second",
            "<button disabled onclick=\"this.textContent='Pressed'\" id=b>B</button>\
             <script>onmousemove=0;b.parentNode.onclick=0;window.later=()=>b.disabled=false;\
             setTimeout(later,700)</script>"
                .into(),
            "B",
            click(),
            vec!["~ # Button \"B\" [disabled] → [] → \"Pressed\""],
        ),
        (
            "spinner beside",
            format!(
                "<style>@keyframes s{{to{{rotate:1turn}}}}i{{display:block;width:40px;height:40px;\
                 border:4px solid;animation:s 1s linear infinite}}</style><i></i>{COUNTER}"
            ),
            "Count 0",
            click(),
            vec!["~ # Button \"Count 0\" → \"Count 1\""],
        ),
    ];
    let paths: Vec<String> = (0..rows.len()).map(|nth| format!("/{nth}")).collect();
    let mut pages: Vec<(&str, &str)> =
        paths.iter().map(String::as_str).zip(rows.iter().map(|row| row.1.as_str())).collect();
    pages.push(("/", "start"));
    pages.push(("/inner", "<button onclick=\"this.textContent='Pressed'\">Inner</button>"));
    with_pages(&pages, |hand, _| {
        for ((name, _, element, deed, expected), path) in rows.iter().zip(&paths) {
            hand.go(path);
            let receipt = hand.on(element, deed.clone());
            assert_eq!(receipt.status, Status::Delivered, "{name}: {receipt:?}");
            let now = format!(
                "{}:a",
                hand.executor.current().unwrap().elements.as_ref().unwrap().snapshot
            );
            let told: Vec<String> =
                changes(&receipt).iter().map(|line| line.replace(&now, "#")).collect();
            if *name == "enables within a second" {
                assert_eq!(told, ["~ # Button \"B\" → \"Pressed\" [disabled] → []"]);
                continue;
            }
            let told: Vec<&str> = told.iter().map(String::as_str).collect();
            assert_eq!(told, *expected, "{name}");
            assert_eq!(page(&receipt).reference.as_deref().map(|r| r.ends_with(":a")), Some(true));
            let target = page(&receipt).target.as_ref().unwrap();
            assert!(target.contains(&format!("\"{element}\"")), "{name}: {target}");
        }
    });
}

/// A page, the element, and what the refusal begins with; nothing is pressed.
#[test]
#[ignore = "needs chromium"]
fn what_cannot_be_acted_on_is_refused_with_the_reason_and_a_fresh_look() {
    use RefusalKind::{Covered, NotReady, StaleObservation};
    let said = "<script>onmousedown=()=>document.title='pressed'</script>";
    let rows = [
        (
            "disabled",
            "<button disabled>B</button>",
            NotReady,
            "# Button \"B\" is disabled: fill in what it waits for, or wait until it is enabled",
        ),
        (
            "modal",
            "<button>B</button><div id=modal style='position:fixed;inset:0;background:#0008'>\
             We use cookies</div>",
            Covered,
            "# Button \"B\" is covered by <div id=\"modal\"> \"We use cookies\": close or move \
             that, or act on it instead",
        ),
        (
            "transparent cover",
            "<button>B</button><div class=veil style='position:fixed;inset:0'></div>",
            Covered,
            "# Button \"B\" is covered by <div class=\"veil\">: close or move that",
        ),
        (
            "covered as the pointer arrives",
            "<button onmouseover='v.hidden=false'>B</button>\
             <div id=v hidden style='position:fixed;inset:0;background:#ccc'></div>",
            Covered,
            "# Button \"B\" is covered by <div id=\"v\">",
        ),
        (
            "another name as the pointer arrives",
            "<button onmouseover=\"this.textContent='Accept all'\">B</button>",
            StaleObservation,
            "# Button \"B\" is now called \"Accept all\": take fresh elements and choose again",
        ),
        (
            "moves away as the pointer arrives",
            "<button onmouseover=\"this.style.marginLeft='400px'\">B</button>",
            NotReady,
            "# Button \"B\" is moving",
        ),
    ];
    let html: Vec<String> = rows.iter().map(|row| format!("{}{said}", row.1)).collect();
    let paths: Vec<String> = (0..rows.len()).map(|nth| format!("/{nth}")).collect();
    let pages: Vec<(&str, &str)> =
        paths.iter().map(String::as_str).zip(html.iter().map(String::as_str)).collect();
    let pages = [&pages[..], &[("/", "start")]].concat();
    with_pages(&pages, |hand, _| {
        for ((name, _, kind, message), path) in rows.iter().zip(&paths) {
            hand.go(path);
            let before = hand.executor.current().unwrap().id;
            let reference = hand.reference("B");
            let receipt = hand.click("B");
            let (was, told) = refused(&receipt);
            assert_eq!(was, *kind, "{name}: {told}");
            let told = told.replace(reference.as_str(), "#");
            assert!(told.starts_with(message), "{name}: {told}");
            let now = hand.executor.current().unwrap();
            assert!(now.id > before, "{name}: a fresh look");
            assert!(told.contains(&format!("the current observation is {} now", now.id)), "{told}");
            assert_eq!(hand.title(), "", "{name}: nothing was pressed");
        }
        // A reference of an earlier look, and one that never was.
        hand.go("/0");
        let old = hand.request("B", click());
        hand.plain(Action::Observe);
        let id = hand.executor.current().unwrap().id;
        let stale = Request { observation: Some(id), ..old };
        let receipt = hand.run(&stale);
        let (kind, told) = refused(&receipt);
        assert_eq!(kind, RefusalKind::UnknownRef);
        let valid = hand.reference("B");
        assert!(told.contains("it is of an earlier observation"), "{told}");
        assert!(told.ends_with(&format!("the valid refs are {valid}")), "{told}");
        assert_eq!(page(&receipt).elements.as_ref().unwrap().list.len(), 1);
    });
}

/// A page, and in which lines a click on `B` is told to have led where.
#[test]
#[ignore = "needs chromium"]
fn what_a_click_led_to_is_told() {
    let rows: [(&str, &str, &[&str]); 8] = [
        (
            "a toast of 138 ms",
            "<button onclick=\"t=document.createElement('p');t.textContent='Saved!';\
             document.body.append(t);setTimeout(()=>t.remove(),138)\">B</button>",
            &["± text \"Saved!\" (came and went within "],
        ),
        (
            "a label",
            "<button onclick=\"l.textContent='Done'\">B</button><p id=l>Ready</p>",
            &["~ text \"Ready\" → \"Done\""],
        ),
        (
            "a new element",
            "<button onclick=\"document.body.append(Object.assign(document.createElement('button'),\
             {textContent:'New'}))\">B</button>",
            &["+ #:b Button \"New\""],
        ),
        ("nothing", "<button>B</button>", &[]),
        (
            "an error",
            "<button onclick=\"console.error('bad',3);nosuch()\">B</button>",
            &["! console error: bad 3", "! console error: ReferenceError: nosuch is not defined"],
        ),
        ("a tab", "<a href=/next target=_blank>B</a>", &["+ tab 2 \"Next\" http://"]),
        (
            "a download",
            "<a href=/next download=report.html>B</a>",
            &["+ download \"report.html\" from http://", "~ download \"report.html\" was not kept"],
        ),
        (
            "another page",
            "<a href=/next>B</a>",
            &[
                "~ url \"http://",
                "~ title \"\" → \"Next\"",
                "~ another document",
                "+ #:a Link \"Back\"",
            ],
        ),
    ];
    let paths: Vec<String> = (0..rows.len()).map(|nth| format!("/{nth}")).collect();
    let mut pages: Vec<(&str, &str)> =
        paths.iter().map(String::as_str).zip(rows.iter().map(|row| row.1)).collect();
    pages.push(("/", "start"));
    pages.push(("/next", "<title>Next</title><a href=/>Back</a>"));
    with_pages(&pages, |hand, _| {
        for ((name, _, expected), path) in rows.iter().zip(&paths) {
            hand.go(path);
            let receipt = hand.click("B");
            assert_eq!(receipt.status, Status::Delivered, "{name}: {receipt:?}");
            let snapshot = page(&receipt).elements.as_ref().unwrap().snapshot;
            let told = changes(&receipt);
            assert_eq!(told.len(), expected.len(), "{name}: {told:?}");
            for (line, begin) in told.iter().zip(*expected) {
                let begin = begin.replace('#', &snapshot.to_string());
                assert!(line.starts_with(&begin), "{name}: {told:?}");
            }
            assert_eq!(page(&receipt).has_navigated, *name == "another page", "{name}");
        }
    });
}

/// What must come true after a click on `B`, and whether it did in time.
#[test]
#[ignore = "needs chromium"]
fn a_postcondition_must_come_true_newly() {
    let text = |text: &str| Sought::Text(text.to_owned());
    let named =
        |name: &str| Which::Named { name: name.to_owned(), role: Some("button".to_owned()) };
    let b = "<button onclick='f()'>B</button>";
    let rows: Vec<(&str, String, Sought, bool)> = vec![
        ("an old label", format!("<p>Saved</p>{b}<script>f=()=>0</script>"), text("Saved"), false),
        (
            "the old label drawn anew as it was",
            format!(
                "<div id=d><p>Saved</p></div>{b}<script>f=()=>d.innerHTML='<p>Saved</p>'</script>"
            ),
            text("Saved"),
            false,
        ),
        (
            "the old label, gone for a while",
            format!(
                "<p id=p>Saved</p>{b}<script>f=()=>{{p.textContent='Saving';\
                     setTimeout(()=>p.textContent='Saved',60)}}</script>"
            ),
            text("Saved"),
            true,
        ),
        (
            "a second one",
            format!(
                "<p>Saved</p>{b}<p id=q></p><script>f=()=>q.textContent='It is Saved now'</script>"
            ),
            text("Saved"),
            true,
        ),
        (
            "one that was hidden",
            format!("<p id=p hidden>Saved</p>{b}<script>f=()=>p.hidden=false</script>"),
            text("Saved"),
            true,
        ),
        (
            "for a moment",
            format!(
                "<p id=p></p>{b}<script>f=()=>{{p.textContent='Saved';\
                     setTimeout(()=>p.textContent='',5)}}</script>"
            ),
            text("Saved"),
            true,
        ),
        (
            "late label",
            format!(
                "<p id=p></p>{b}<script>f=()=>setTimeout(()=>p.textContent='Saved',700)</script>"
            ),
            text("Saved"),
            true,
        ),
        ("never", format!("{b}<script>f=()=>0</script>"), text("Saved"), false),
        (
            "a button that enables",
            format!(
                "{b}<button id=s disabled>Send</button><script>f=()=>setTimeout(()=>s.disabled=false,200)</script>"
            ),
            Sought::Enabled(named("Send")),
            true,
        ),
        (
            "one that was enabled before",
            format!("{b}<button>Send</button><script>f=()=>0</script>"),
            Sought::Enabled(named("Send")),
            false,
        ),
        (
            "a button that comes",
            format!(
                "{b}<button id=s style='display:none'>Send</button><script>f=()=>s.style.display=''</script>"
            ),
            Sought::Visible(named("Send")),
            true,
        ),
        (
            "one that goes",
            format!(
                "{b}<button id=s>Send</button><script>f=()=>setTimeout(()=>s.remove(),200)</script>"
            ),
            Sought::Gone(named("Send")),
            true,
        ),
        (
            "a page 400 ms after",
            format!("{b}<script>f=()=>setTimeout(()=>location='/next',400)</script>"),
            Sought::Url(seechange::act::Glob::new("*/next")),
            true,
        ),
    ];
    let paths: Vec<String> = (0..rows.len()).map(|nth| format!("/{nth}")).collect();
    let mut pages: Vec<(&str, &str)> =
        paths.iter().map(String::as_str).zip(rows.iter().map(|row| row.1.as_str())).collect();
    pages.push(("/", "start"));
    pages.push(("/next", "<title>Next</title>"));
    with_pages(&pages, |hand, _| {
        for ((name, _, sought, met), path) in rows.iter().zip(&paths) {
            hand.go(path);
            let timeout = if *met { 10_000 } else { 400 };
            let receipt = hand.click_until("B", sought.clone(), timeout);
            assert_eq!(receipt.status, Status::Delivered, "{name}: {receipt:?}");
            let postcondition = receipt.postcondition.as_ref().unwrap();
            assert_eq!(
                postcondition.is_met(),
                *met,
                "{name}: {}",
                postcondition.outcome.sentence()
            );
            assert_eq!(receipt.is_fulfilled(), *met);
        }
        // Without a postcondition the page that comes 400 ms later is not waited for; the element
        // of before is then refused.
        hand.go(paths.last().unwrap());
        let receipt = hand.click("B");
        let old = hand.request("B", click());
        let wait = Action::WaitFor(until(Sought::Url(seechange::act::Glob::new("*/next")), 10_000));
        assert_eq!(receipt.status, Status::Delivered);
        let url = hand.run(&Request::without_observation(wait));
        assert!(url.is_fulfilled(), "{url:?}");
        let (kind, told) = (hand.run(&old), "stale");
        assert_eq!(refused(&kind).0, RefusalKind::StaleObservation, "{told}");
    });
}

#[test]
#[ignore = "needs chromium"]
fn a_list_is_sorted_by_dragging_one_element_onto_another() {
    let html = "<style>p{margin:0;height:40px}</style>\
        <div id=list><p draggable=true tabindex=0>One</p><p draggable=true tabindex=0>Two</p>\
        <p draggable=true tabindex=0>Three</p></div><script>moves=0;\
        for(const p of list.children){p.ondragstart=e=>{held=p;e.dataTransfer.setData('text/plain','x')};\
        p.ondragover=e=>{e.preventDefault();moves++};\
        p.ondrop=e=>{e.preventDefault();p.after(held);document.title='dropped '+(moves>1)}}</script>";
    with_pages(&[("/", html)], |hand, _| {
        let to = hand.reference("Three");
        let (duration, steps) = (Duration::from_millis(300), 20);
        let (button, modifiers) = (Button::Left, Modifiers::none());
        let receipt = hand.on("One", Deed::Drag { to, duration, steps, button, modifiers });
        assert_eq!(receipt.status, Status::Delivered, "{receipt:?}");
        let elements = page(&receipt).elements.as_ref().unwrap();
        let names: Vec<&str> = elements.list.iter().map(|each| each.name.as_str()).collect();
        assert_eq!(names, ["Two", "Three", "One"]);
        assert_eq!(hand.title(), "dropped true", "with moves on the way");
    });
}

#[test]
#[ignore = "needs chromium"]
fn a_dialog_makes_the_outcome_unknown_until_it_is_answered() {
    let html = "<button onmousedown=\"alert('down')\" onmouseup=\"document.title='up'\">Press</button>\
        <button onclick=\"document.title=confirm('Sure?')\">Ask</button>\
        <button onclick=\"document.title=prompt('Name?','x')\">Name</button>\
        <button onclick=\"alert(1);alert(2);document.title='two'\">Two</button>";
    with_pages(&[("/", html)], |hand, _| {
        let answer = |accept, text: Option<&str>| Action::Dialog {
            accept,
            text: text.map(|text| Text::new(text).unwrap()),
        };
        for (element, dialog, answers, title) in [
            ("Press", "alert \"down\"", vec![answer(true, None)], "up"),
            ("Ask", "confirm \"Sure?\"", vec![answer(false, None)], "false"),
            ("Ask", "confirm \"Sure?\"", vec![answer(true, None)], "true"),
            ("Name", "prompt \"Name?\"", vec![answer(true, Some("Zoë"))], "Zoë"),
            ("Two", "alert \"1\"", vec![answer(true, None), answer(true, None)], "two"),
        ] {
            let receipt = hand.click(element);
            assert_eq!(receipt.status, Status::Unknown, "{element}");
            assert!(!receipt.is_fulfilled());
            assert_eq!(page(&receipt).dialog.as_deref(), Some(dialog));
            let message = receipt.message.as_ref().unwrap();
            assert!(message.starts_with(&format!("a dialog is open: {dialog}")), "{message}");
            let looked = hand.run(&Request::without_observation(Action::Observe));
            assert_eq!(refused(&looked).0, RefusalKind::DialogOpen);
            let last = answers.len() - 1;
            for (nth, answer) in answers.into_iter().enumerate() {
                let receipt = hand.run(&Request::without_observation(answer));
                let status = if nth == last { Status::Delivered } else { Status::Unknown };
                assert_eq!(receipt.status, status, "{element}: {receipt:?}");
                if nth == last {
                    let held = receipt.held_after.as_ref().unwrap();
                    assert!(held.verified && held.is_empty(), "{element}");
                    let line = format!("→ \"{title}\"");
                    assert!(
                        changes(&receipt).iter().any(|each| each.ends_with(&line)),
                        "{element}"
                    );
                }
            }
            assert_eq!(hand.title(), title, "{element}");
        }
        let receipt = hand.run(&Request::without_observation(answer(true, None)));
        assert_eq!(refused(&receipt).1, "no dialog is open: there is nothing to accept or dismiss");
    });
}

#[test]
#[ignore = "needs chromium"]
fn a_session_that_is_read_only_follows_links_and_nothing_else() {
    let html = "<a href=/next onclick=\"fetch('/bad',{method:'POST',body:'script'})\">Link</a>\
        <a href=\"javascript:fetch('/bad',{method:'POST',body:'js'})\">Script</a>\
        <form method=post action=/bad><button>Send</button></form>";
    let options = ExecutorOptions::new().policy(Policy::read_only());
    let pages = [("/", html), ("/next", "<title>Next</title><a href=/>Back</a>")];
    with_options(&pages, options, 1.0, |hand, server| {
        for element in ["Script", "Send"] {
            let receipt = hand.click(element);
            let (kind, told) = refused(&receipt);
            assert_eq!(kind, RefusalKind::ReadOnly, "{told}");
            assert!(told.contains("follows links over http or https alone"), "{told}");
        }
        let receipt = hand.on("Link", Deed::Hover);
        assert_eq!(refused(&receipt).0, RefusalKind::ReadOnly);
        let receipt = hand.click("Link");
        assert_eq!(receipt.status, Status::Delivered, "{receipt:?}");
        assert!(page(&receipt).has_navigated);
        assert_eq!(hand.title(), "Next");
        assert!(server.posts.lock().unwrap().is_empty(), "no script has run and no form was sent");
    });
}

#[test]
#[ignore = "needs chromium"]
fn elements_are_hit_at_every_scale_and_in_every_image() {
    for scale in [1.0, 1.5, 2.0] {
        let far = "<div style='height:1700px'></div>";
        let html = format!(
            "{COUNTER}{far}<button style='width:9px;height:9px;padding:0' \
            aria-label=Tiny onclick=\"document.title='tiny'\"></button>{far}"
        );
        let options = ExecutorOptions::new().max_edge(300);
        with_options(&[("/", &html)], options, scale, |hand, _| {
            let receipt = hand.click("Count 0");
            let line = changes(&receipt).join(" ");
            assert!(line.ends_with("\"Count 0\" → \"Count 1\""), "{scale}: {line}");
            let receipt = hand.click("Tiny");
            assert_eq!(
                (receipt.status, hand.title()),
                (Status::Delivered, "tiny".into()),
                "{scale}"
            );
        });
    }
}

#[test]
#[ignore = "needs chromium"]
fn points_keys_and_chords_work_beside_references() {
    let html = "<input aria-label=F value=old onkeydown=\"if(key=event.key,key=='Enter')\
                document.title=value\"><script></script>";
    with_pages(&[("/", html)], |hand, _| {
        let current = hand.executor.current().unwrap();
        let rect = current.elements.as_ref().unwrap().list[0].rect.unwrap();
        let middle = rect.center();
        let at = ImagePoint::new(f64::from(middle.x), f64::from(middle.y)).unwrap();
        let receipt = hand.plain(Action::click(at));
        assert!(page(&receipt).target.as_ref().unwrap().contains("Textbox \"F\" = \"old\""));
        for action in [
            Action::SelectAll,
            Action::type_text(Text::new("new ß").unwrap()),
            Action::hotkey(["shift", "home"]).unwrap(),
            Action::type_text(Text::new("typed").unwrap()),
            Action::key("return".parse().unwrap()),
        ] {
            let name = action.name();
            assert_eq!(hand.plain(action).status, Status::Delivered, "{name}");
        }
        assert_eq!(hand.title(), "typed");
    });
}

#[test]
#[ignore = "needs chromium"]
fn a_browser_killed_in_the_middle_of_an_action_is_told() {
    use rustix::process::{Pid, Signal, kill_process_group};
    let page = "<script>onmousedown=()=>fetch('/down',{method:'POST',body:'down'})</script>";
    let Some(mut open) = open(page) else { return };
    let group = open.page.process_group().unwrap();
    let (clock, posts) = (open.clock.clone(), open.server.posts.clone());
    let mut executor = Executor::new(&mut open.page, clock.clone(), ExecutorOptions::new());
    let id = executor.observe().unwrap().id;
    let killer = thread::spawn(move || {
        while posts.lock().unwrap().is_empty() {
            clock.sleep(Duration::from_millis(5));
        }
        let pid = Pid::from_raw(i32::try_from(group).unwrap()).unwrap();
        kill_process_group(pid, Signal::KILL).unwrap();
    });
    let at = |x: f64| ImagePoint::new(x, 300.0).unwrap();
    let mut drag = seechange::act::Drag::new(at(20.0), at(700.0));
    drag.duration = Duration::from_secs(8);
    let receipt = executor.execute(&Request::new(Action::Drag(drag), id)).unwrap();
    killer.join().unwrap();
    assert_eq!(receipt.status, Status::Unknown);
    let message = receipt.message.as_ref().unwrap();
    assert!(message.contains("the browser has ended"), "{message}");
    assert!(message.contains("never repeat this action"), "{message}");
    drop(executor);
    drop(open);
    // Of what was killed whoever is its parent may still have to take note.
    let is_left = |stat: &str| {
        let mut after_name = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, group_of) = (after_name.next(), after_name.nth(1));
        state != Some("Z") && group_of == Some(group.to_string().as_str())
    };
    none_left(|| {
        let stats = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let stats = stats.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
        stats.filter(|stat| is_left(stat)).collect()
    });
}

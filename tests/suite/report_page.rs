//! The page of a comparison in a real browser, from `file://`.

use std::fs;
use std::process::Command;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seechange::{Frame, frame};
use serde_json::json;

use crate::browser::Browser;
use crate::command::seechange;
use crate::compare_command::{picture, put};
use crate::report_folder::{Folder, Pair, left_pictures, screen};

const SIZE: (u32, u32) = (640, 400);
const RED: [u8; 3] = [200, 40, 40];

/// The area of `login/dark.png` that is largest.
const BUTTON: [u32; 4] = [300, 300, 80, 30];

/// One of each verdict, and more of those that changed.
fn pairs() -> Vec<Pair> {
    let plain = || screen(SIZE, &[]);
    vec![
        Pair::added("account/new.png", plain()),
        Pair::same("account/same.png"),
        Pair::changed("home/banner.png", plain(), screen(SIZE, &[([0, 0, 640, 120], RED)])),
        Pair::changed("home/clock.png", plain(), screen(SIZE, &[([600, 4, 24, 8], RED)])).allowed(),
        Pair::changed(
            "login/dark.png",
            plain(),
            screen(SIZE, &[(BUTTON, RED), ([20, 350, 40, 12], RED)]),
        ),
        Pair::removed("login/old.png", plain()),
        Pair::unreadable("login/torn.png", plain(), "actual.png: png is cut short"),
        Pair::changed("settings/list.png", plain(), screen((640, 480), &[])),
    ]
}

/// A page of this report; nothing when there is no browser.
fn opened(folder: &Folder, fragment: &str) -> Option<Browser> {
    let mut browser = Browser::start(1280, 800)?;
    browser.open(&format!("{}{fragment}", folder.url()));
    browser.until("document.querySelector('.row')");
    Some(browser)
}

/// The paths in the list, in its order, headings in brackets.
fn listed(browser: &mut Browser) -> Vec<String> {
    let script = "[...document.querySelectorAll('.rows > li')].map(e => e.matches('.heading') \
         ? `[${e.firstChild.textContent}]` : e.querySelector('.path').textContent)";
    let names = browser.eval(script);
    names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn title(browser: &mut Browser) -> String {
    browser.text("document.querySelector('.title h2')?.textContent ?? ''")
}

fn zoom(browser: &mut Browser) -> String {
    browser.text("document.querySelector('.zoom').textContent")
}

/// The pressed view.
fn view(browser: &mut Browser) -> String {
    browser.text("document.querySelector('.tools [data-view][aria-pressed=true]').dataset.view")
}

fn wait_for_pictures(browser: &mut Browser) {
    browser.until(
        "document.querySelector('.stage img') && \
         [...document.querySelectorAll('.stage img')].every(i => i.matches('.loaded'))",
    );
}

/// Nothing was refused, nothing failed, nothing asked: what must hold after every test.
fn is_clean(browser: &mut Browser) {
    browser.eval("0");
    let troubles: Vec<_> = browser
        .events
        .iter()
        .filter(|event| {
            let method = event["method"].as_str().unwrap_or_default();
            matches!(
                method,
                "Runtime.exceptionThrown"
                    | "Runtime.consoleAPICalled"
                    | "Log.entryAdded"
                    | "Page.javascriptDialogOpening"
                    | "Audits.issueAdded"
            )
        })
        .collect();
    assert!(troubles.is_empty(), "{troubles:#?}");
    let requests = browser.events_named("Network.requestWillBeSent");
    let elsewhere: Vec<_> = requests
        .map(|event| event["params"]["request"]["url"].as_str().unwrap())
        .filter(|url| !["file:", "data:", "about:"].iter().any(|own| url.starts_with(own)))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
}

fn keep(browser: &mut Browser, name: &str) {
    wait_for_pictures(browser);
    let picture = STANDARD.decode(browser.screenshot()).unwrap();
    fs::write(left_pictures().join(name), picture).unwrap();
}

#[test]
#[ignore = "needs Chromium"]
fn the_list_is_worst_first_and_filtered() {
    let folder = Folder::new(&pairs());
    let Some(mut browser) = opened(&folder, "") else { return };
    let all = [
        "[Unreadable]",
        "login/torn.png",
        "[Resized]",
        "settings/list.png",
        "[Changed]",
        "home/banner.png",
        "login/dark.png",
        "[Added]",
        "account/new.png",
        "[Removed]",
        "login/old.png",
        "[Allowed]",
        "home/clock.png",
    ];
    assert_eq!(listed(&mut browser), all);
    assert_eq!(browser.text("document.querySelector('.chip.same').textContent"), "same 1");
    assert_eq!(browser.text("document.title"), "7 of 8 differ · seechange");
    browser.click_on(".chip[data-verdict=changed]");
    let changed = ["[Changed]", "home/banner.png", "login/dark.png", "[Allowed]", "home/clock.png"];
    assert_eq!(listed(&mut browser), changed);
    browser.click_on(".controls .check input");
    assert_eq!(listed(&mut browser), &changed[..3]);
    browser.click_on(".chip[data-verdict=removed]");
    assert_eq!(
        listed(&mut browser),
        ["[Changed]", "home/banner.png", "login/dark.png", "[Removed]", "login/old.png"]
    );
    // From the keyboard: the field, its words, and into the list.
    browser.key("/");
    browser.type_text("LOGIN dark");
    assert_eq!(listed(&mut browser), ["[Changed]", "login/dark.png"]);
    browser.key("Enter");
    assert_eq!(title(&mut browser), "login/dark.png");
    assert_eq!(browser.text("document.activeElement.getAttribute('href')"), "#/login/dark.png");
    browser.key("/");
    browser.type_text("nowhere");
    assert_eq!(listed(&mut browser), [""; 0]);
    browser.until("!document.querySelector('.empty').hidden");
    browser.key("Escape");
    assert_eq!(listed(&mut browser).len(), 5);
    browser.until("location.hash.includes('only=changed%2Cremoved')");
    browser.eval(
        "{ const s = document.querySelector('select'); s.value = 'path'; \
                  s.dispatchEvent(new Event('change')); }",
    );
    assert_eq!(listed(&mut browser), ["home/banner.png", "login/dark.png", "login/old.png"]);
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn the_slider_follows_the_mouse_and_the_keys() {
    let folder = Folder::new(&pairs());
    let Some(mut browser) = opened(&folder, "#/login/dark.png?view=slider") else { return };
    wait_for_pictures(&mut browser);
    let now = |browser: &mut Browser| {
        browser.text("document.querySelector('.handle').getAttribute('aria-valuenow')")
    };
    assert_eq!(now(&mut browser), "50");
    let handle = browser.middle(".handle");
    let stage = browser.number("document.querySelector('.stage').getBoundingClientRect().width");
    browser.drag(handle, (handle.0 + stage / 4.0, handle.1 + 90.0));
    assert_eq!(now(&mut browser), "75");
    // The picture above is cut where the divider stands.
    let cut = browser.text("document.querySelectorAll('.layer')[1].style.clipPath");
    assert_eq!(cut, format!("inset(0px 0px 0px {}px)", (stage * 0.75).round()));
    browser.key("ArrowRight");
    assert_eq!(now(&mut browser), "77");
    browser.key("Home");
    assert_eq!(now(&mut browser), "0");
    let start = browser.middle(".handle");
    browser.drag(start, (start.0 - 300.0, start.1));
    assert_eq!(now(&mut browser), "0");
    browser.key("End");
    browser.key("ArrowLeft");
    browser.until("location.hash.includes('split=0.98')");
    // What is left of the divider is before: there is no button there.
    browser.key("Home");
    let seen = |browser: &mut Browser| STANDARD.decode(browser.screenshot()).unwrap();
    let actual = seen(&mut browser);
    browser.key("End");
    assert_ne!(seen(&mut browser), actual);
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn everything_can_be_done_with_keys() {
    let folder = Folder::new(&pairs());
    let Some(mut browser) = opened(&folder, "") else { return };
    let mut visited = vec![title(&mut browser)];
    for key in ["j", "ArrowDown", "j", "j", "k", "ArrowUp"] {
        browser.key(key);
        visited.push(title(&mut browser));
    }
    assert_eq!(
        visited,
        [
            "login/torn.png",
            "settings/list.png",
            "home/banner.png",
            "login/dark.png",
            "account/new.png",
            "login/dark.png",
            "home/banner.png",
        ]
    );
    browser.key("j");
    wait_for_pictures(&mut browser);
    for (key, expected) in [
        ("2", "slider"),
        ("3", "flip"),
        ("4", "onion"),
        ("5", "difference"),
        ("6", "overview"),
        ("1", "side"),
        ("f", "flip"),
    ] {
        browser.key(key);
        wait_for_pictures(&mut browser);
        assert_eq!(view(&mut browser), expected, "{key}");
    }
    let caption =
        |browser: &mut Browser| browser.text("document.querySelector('figcaption').textContent");
    let mut captions = vec![caption(&mut browser)];
    for key in ["f", "f", "ArrowLeft"] {
        browser.key(key);
        captions.push(caption(&mut browser));
    }
    assert_eq!(captions, ["Before", "Actual", "Before", "Actual"]);
    browser.key("4");
    browser.key("ArrowRight");
    assert_eq!(caption(&mut browser), "Before 45 % · actual 55 %");
    browser.key("1");
    let outlines = "document.querySelectorAll('.pane:first-child .label').length";
    assert_eq!(browser.number(outlines), 2.0);
    browser.key("o");
    assert_eq!(browser.number(outlines), 0.0);
    browser.key("o");
    browser.key("a");
    assert_eq!(browser.text("document.querySelector('header .strong').textContent"), "Accept 1…");
    browser.key("A");
    assert_eq!(title(&mut browser), "account/new.png");
    browser.key("?");
    browser.until("document.querySelector('dialog[open] kbd')");
    browser.key("j");
    assert_eq!(title(&mut browser), "account/new.png");
    browser.key("Escape");
    browser.until("!document.querySelector('dialog[open]')");
    // Each thing the Tab key reaches has a name.
    let nameless = "[...document.querySelectorAll('button, input, select, [tabindex=\"0\"]')]\
        .filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))\
        .map(e => e.outerHTML)";
    assert_eq!(browser.eval(nameless), json!([]));
    let mut reached = Vec::new();
    for _ in 0..40 {
        browser.key("Tab");
        reached.push(browser.text("document.activeElement.className || document.activeElement.type || document.activeElement.tagName"));
    }
    for part in ["strong", "chip", "search", "select-one", "checkbox", "A", "stage"] {
        assert!(reached.iter().any(|one| one == part), "{part} is not reached: {reached:?}");
    }
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn zoom_is_one_for_all_panes() {
    let folder = Folder::new(&pairs());
    let Some(mut browser) = opened(&folder, "#/login/dark.png") else { return };
    wait_for_pictures(&mut browser);
    let fitted = zoom(&mut browser);
    let transforms = |browser: &mut Browser| {
        let both =
            browser.eval("[...document.querySelectorAll('.picture')].map(i => i.style.transform)");
        assert_eq!(both[0], both[1]);
        assert_eq!(both.as_array().unwrap().len(), 2);
        both[0].as_str().unwrap().to_owned()
    };
    let at = browser.middle(".pane");
    browser.wheel(at, -400.0);
    browser.until(&format!("document.querySelector('.zoom').textContent !== {}", json!(fitted)));
    browser.key("z");
    assert_eq!(zoom(&mut browser), "100 %");
    browser.key("+");
    assert_eq!(zoom(&mut browser), "150 %");
    assert_eq!(
        browser.text("document.querySelector('.picture').style.imageRendering"),
        "pixelated"
    );
    let before = transforms(&mut browser);
    browser.drag(at, (at.0 + 50.0, at.1 - 30.0));
    let moved = transforms(&mut browser);
    assert_ne!(moved, before);
    browser.key_with("ArrowDown", 8);
    assert_ne!(transforms(&mut browser), moved);
    browser.key("0");
    assert_eq!(zoom(&mut browser), fitted);
    // A click into the button's outline zooms to it, in the second pane too.
    let label = "(() => { const [a] = [...document.querySelectorAll('.pane:nth-child(2) .outline.area .line')]\
        .map(r => r.getBoundingClientRect()); return [a.x + a.width / 2, a.y + a.height / 2]; })()";
    let area = browser.eval(label);
    browser.click((area[0].as_f64().unwrap(), area[1].as_f64().unwrap()));
    browser.until("location.hash.includes('area=1')");
    let [x, y, width, height] = BUTTON;
    let centre = format!("x={}&y={}", x + width / 2, y + height / 2);
    assert!(browser.text("location.hash").contains(&centre), "{}", browser.text("location.hash"));
    assert_eq!(
        browser.text("document.querySelector('.areas [aria-pressed=true]').textContent"),
        "180×30300,3002,400 px"
    );
    browser.key("n");
    browser.until("location.hash.includes('area=2')");
    browser.click_on(".areas button");
    browser.until("location.hash.includes('area=1')");
    browser.double_click(at);
    assert_eq!(zoom(&mut browser), fitted);
    pinch(&mut browser, at);
    assert_ne!(zoom(&mut browser), fitted);
    browser.key("Escape");
    is_clean(&mut browser);
}

/// Two fingers that go from 40 to 120 px apart.
fn pinch(browser: &mut Browser, (x, y): (f64, f64)) {
    let mut touch = |kind: &str, apart: f64| {
        let finger = |id, x| json!({"id": id, "x": x, "y": y});
        let points = match kind {
            "touchEnd" => json!([]),
            _ => json!([finger(1, x - apart / 2.0), finger(2, x + apart / 2.0)]),
        };
        browser.call("Input.dispatchTouchEvent", &json!({"type": kind, "touchPoints": points}));
    };
    touch("touchStart", 40.0);
    (1..=8).for_each(|step| touch("touchMove", 40.0 + f64::from(step) * 10.0));
    touch("touchEnd", 0.0);
}

#[test]
#[ignore = "needs Chromium"]
fn moves_and_what_was_ignored_are_drawn() {
    let mut folder = Folder::new(&pairs());
    let rect = |x, y| json!({"x": x, "y": y, "width": 100, "height": 20});
    let diff = &mut folder.report["rows"][4]["diff"];
    diff["moved"] = json!([{"from": rect(10, 20), "to": rect(210, 120), "dx": 200, "dy": 100}]);
    diff["ignored"]["specks"] = json!({"count": 1, "pixels": 3, "rects": [rect(300, 50)]});
    diff["ignored"]["carets"] = json!([rect(400, 60), rect(420, 70)]);
    folder.write_page();
    let Some(mut browser) = opened(&folder, "#/login/dark.png?zoom=1&x=320&y=200") else { return };
    wait_for_pictures(&mut browser);
    let marks = |browser: &mut Browser, kind: &str| {
        browser.number(&format!("document.querySelectorAll('.pane:first-child {kind}').length"))
    };
    assert_eq!(marks(&mut browser, ".moved"), 2.0);
    assert_eq!(marks(&mut browser, ".set-aside"), 0.0);
    // From the middle of where it was to the middle of where it is.
    let arrow = "(() => { const at = (s) => document.querySelector('.pane:first-child ' + s)\
        .getBoundingClientRect(); const [f, t, p] = [at('.moved.from .line'), at('.moved.to .line'),\
        at('.arrow polygon')]; return [t.x - f.x, t.y - f.y, t.x + t.width / 2 - p.right]; })()";
    let arrow = browser.eval(arrow);
    assert_eq!([&arrow[0], &arrow[1]], [&json!(200), &json!(100)]);
    assert!(arrow[2].as_f64().unwrap().abs() < 2.0, "{arrow}");
    browser.key("x");
    assert_eq!(marks(&mut browser, ".set-aside"), 3.0);
    browser.key("o");
    assert_eq!(marks(&mut browser, ".moved"), 0.0);
    let told = browser.text("document.querySelector('.details').textContent");
    for part in ["right 200", "down 100", "specks1, 3 px", "carets2"] {
        assert!(told.contains(part), "{told}");
    }
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn an_address_survives_reload_and_back() {
    let folder = Folder::new(&pairs());
    let link = "#/login/dark.png?view=slider&zoom=3&x=300&y=310&split=0.25";
    let Some(mut browser) = opened(&folder, link) else { return };
    let is_there = |browser: &mut Browser| {
        wait_for_pictures(browser);
        assert_eq!(title(browser), "login/dark.png");
        assert_eq!(view(browser), "slider");
        assert_eq!(zoom(browser), "300 %");
        let transform = browser.text("document.querySelector('.picture').style.transform");
        let width = browser.number("document.querySelector('.pane').clientWidth");
        assert!(
            transform.starts_with(&format!("translate({}px", (width / 2.0 - 900.0).round())),
            "{transform}"
        );
        let split = browser.text("document.querySelector('.handle').getAttribute('aria-valuenow')");
        assert_eq!(split, "25");
    };
    is_there(&mut browser);
    browser.reload();
    browser.until("document.querySelector('.row')");
    is_there(&mut browser);
    browser.key("j");
    assert_eq!(title(&mut browser), "account/new.png");
    browser.key("a");
    browser.eval("history.back()");
    browser.until("document.querySelector('.title h2').textContent === 'login/dark.png'");
    is_there(&mut browser);
    browser.eval("history.forward()");
    browser.until("document.querySelector('.title h2').textContent === 'account/new.png'");
    // What is ticked is kept too.
    browser.reload();
    browser.until("document.querySelector('.title .check input').checked");
    browser.open(&format!("{}#/no/such.png", folder.url()));
    browser.until("document.querySelector('.nothing')?.textContent.includes('no/such.png')");
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn thousands_of_pairs_load_what_is_seen() {
    let actual = screen((160, 100), &[([40, 40, 30, 30], RED)]);
    let folder = Folder::of_many(&Pair::changed("x", screen((160, 100), &[]), actual), 2000);
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let begin = Instant::now();
    browser.open(&folder.url());
    browser.until("document.querySelector('.stage img.loaded')");
    let seen = begin.elapsed();
    let loaded = browser.number("performance.getEntriesByType('navigation')[0].loadEventEnd");
    let bytes = fs::metadata(folder.path().join("index.html")).unwrap().len();
    println!(
        "2000 pairs, page of {bytes} bytes: load event after {loaded:.0} ms, first picture shown \
         within {} ms",
        seen.as_millis()
    );
    let drawn = browser.number("document.querySelectorAll('.rows > li').length");
    assert!((10.0..60.0).contains(&drawn), "{drawn} rows are in the document");
    let images = |browser: &mut Browser| {
        browser.eval("0");
        browser
            .events_named("Network.requestWillBeSent")
            .filter(|event| event["params"]["type"] == "Image")
            .count()
    };
    assert!(images(&mut browser) <= 4, "{} pictures were asked for", images(&mut browser));
    browser.eval("document.querySelector('.scroller').scrollTop = 1e9");
    browser.until("[...document.querySelectorAll('.row')].some(e => e.dataset.number === '1')");
    let drawn = browser.number("document.querySelectorAll('.rows > li').length");
    assert!((10.0..60.0).contains(&drawn), "{drawn} rows are in the document at the end");
    assert!(images(&mut browser) <= 4, "scrolling asked for pictures");
    browser.key("/");
    let begin = Instant::now();
    browser.type_text("screen-00777");
    browser.until("document.querySelectorAll('.row').length === 1");
    println!("filtered within {} ms", begin.elapsed().as_millis());
    browser.key("Enter");
    assert_eq!(title(&mut browser), "page-17/screen-00777.png");
    is_clean(&mut browser);
}

const HOSTILE: [&str; 12] = [
    "\"><img src=x onerror=alert(1)>.png",
    "</script><script>alert(1)</script>.png",
    "<!--<script>.png",
    "javascript:alert(1)",
    "../../etc/passwd",
    "100% #1 ?x=1&y=2.png",
    "it's \"quoted\" `id` $(id) \\.png",
    "-rf",
    "line\nbreak and end\n",
    "tab\tbell\u{7}escape\u{1b}[31m.png",
    "{{script}}\u{2028}\u{202e}gnp.\u{1f600}",
    " spaces  ",
];

#[test]
#[ignore = "needs Chromium"]
fn hostile_names_stay_text() {
    let tiny = |boxes: &[_]| screen((64, 40), boxes);
    let pairs: Vec<Pair> = HOSTILE
        .iter()
        .map(|name| {
            Pair::changed(name, tiny(&[]), tiny(&[([20, 20, 9, 9], RED)])).with(json!({
                "sentence": name, "rule": name,
                "error": {"side": name, "kind": name, "message": name},
            }))
        })
        .collect();
    let mut folder = Folder::new(&pairs);
    for (row, path) in [
        (0, "javascript:alert(1)"),
        (1, "../../secret.png"),
        (2, "https://example.com/a.png"),
        (3, "pairs/../../x.png"),
        (4, "data:text/html,<script>alert(1)</script>"),
        (5, "pairs\\x.png"),
    ] {
        folder.report["rows"][row]["files"]["actual"]["shown"] = json!(path);
        folder.report["rows"][row]["files"]["actual"]["path"] = json!(path);
    }
    folder.report["base"] = json!(HOSTILE[0]);
    folder.write_page();
    let Some(mut browser) = opened(&folder, "?sort=path") else { return };
    browser.eval(
        "{ const s = document.querySelector('select'); s.value = 'path'; \
                  s.dispatchEvent(new Event('change')); }",
    );
    assert_eq!(listed(&mut browser), HOSTILE);
    for name in HOSTILE {
        let place = HOSTILE.iter().position(|one| *one == name).unwrap();
        browser.click_on(&format!(".row[data-number=\"{}\"] a", place + 1));
        assert_eq!(title(&mut browser), name);
        browser.until("location.hash.length > 3");
        let pictures = if place < 6 { 1.0 } else { 2.0 };
        assert_eq!(
            browser.number("document.querySelectorAll('.stage img').length"),
            pictures,
            "{name}"
        );
        // The same after a reload: the link found its way there and back.
        browser.reload();
        browser.until("document.querySelector('.title')");
        assert_eq!(title(&mut browser), name);
    }
    assert_eq!(browser.number("document.querySelectorAll('script').length"), 2.0);
    assert_eq!(browser.number("document.querySelectorAll('img:not(.picture)').length"), 0.0);
    is_clean(&mut browser);
    // And what the policy would do if the page were wrong: no markup from strings, no inline code.
    let refused = "(() => { try { document.body.innerHTML = '<b>'; return 'done'; } catch (e) { return e.name; } })()";
    assert_eq!(browser.text(refused), "TypeError");
}

#[test]
#[ignore = "needs Chromium"]
fn the_command_gives_a_shell_the_very_names() {
    let tiny = |boxes: &[_]| screen((64, 40), boxes);
    let mut pairs: Vec<Pair> = HOSTILE
        .iter()
        .map(|name| Pair::changed(name, tiny(&[]), tiny(&[([20, 20, 9, 9], RED)])))
        .collect();
    let bytes = b"caf\xe9 \xff\xfe'.png";
    pairs.push(
        Pair::added(&String::from_utf8_lossy(bytes), tiny(&[]))
            .with(json!({"path_bytes": "636166e920fffe272e706e67"})),
    );
    pairs.push(Pair::removed("old.png", tiny(&[])));
    let folder = Folder::new(&pairs);
    let Some(mut browser) = opened(&folder, "") else { return };
    browser.eval("[...document.querySelectorAll('.controls button')].at(-1).click()");
    browser.key("c");
    let command = browser.text("document.querySelector('dialog textarea').value");
    let show = command.replacen("seechange", "show", 1);
    let script = format!("show() {{ printf '%s\\0' \"$@\"; }}\n{show}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut words: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
    assert_eq!(words.pop(), Some(&b""[..]));
    let path = folder.path().display().to_string();
    let mut expected: Vec<&[u8]> = vec![b"accept", b"--delete-removed", b"--", path.as_bytes()];
    expected.extend(HOSTILE.iter().map(|name| name.as_bytes()));
    expected.extend([&bytes[..], b"old.png"]);
    assert_eq!(words, expected);
    // Nothing a terminal would act on is in the text itself, line breaks apart.
    assert!(command.chars().all(|c| c == '\n' || !c.is_control()), "{command:?}");
    // Plain names make a plain command.
    browser.key("Escape");
    browser.until("!document.querySelector('dialog[open]')");
    browser.eval("[...document.querySelectorAll('.controls button')].at(-1).click()");
    browser.click_on(".row[data-number=\"7\"] input");
    browser.key("Tab");
    browser.key("c");
    browser.eval(
        "{ const f = document.querySelector('dialog .field input'); f.value = 'out/report'; \
                  f.dispatchEvent(new Event('input')); }",
    );
    assert_eq!(
        browser.text("document.querySelector('dialog textarea').value"),
        r#"seechange accept out/report 'it'\''s "quoted" `id` $(id) \.png'"#
    );
    browser.eval("document.querySelector('dialog .strong').click()");
    browser.until("/Copied|Ctrl/.test(document.querySelector('dialog [role=status]').textContent)");
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn what_playwright_keeps_playwright_accepts() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "results/home/home-1-expected.png", &picture(200, 100, 0));
    put(root.path(), "results/home/home-1-actual.png", &picture(200, 100, 20));
    let words = ["compare", "results", "--layout", "playwright", "--out", "out"];
    assert_eq!(seechange(root.path(), &words).code, Some(1));
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    browser.open(&format!("file://{}", root.path().join("out/index.html").display()));
    browser.until("document.querySelector('.row')");
    browser.eval("[...document.querySelectorAll('.controls button')].at(-1).click()");
    browser.key("c");
    assert_eq!(
        browser.text("document.querySelector('dialog textarea').value"),
        "npx playwright test --update-snapshots"
    );
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn the_list_rounds_as_the_sentence_does() {
    let root = tempfile::tempdir().unwrap();
    // 6.25 %, of which two ways of rounding make two things.
    put(root.path(), "golden/a.png", &picture(100, 100, 0));
    put(root.path(), "shots/a.png", &picture(100, 100, 25));
    let told = seechange(root.path(), &["compare", "golden", "shots", "--out", "out"]).stdout;
    assert!(told.contains("6.2% of the frame"), "{told}");
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    browser.open(&format!("file://{}", root.path().join("out/index.html").display()));
    browser.until("document.querySelector('.row')");
    let row = browser.text("document.querySelector('.row').textContent");
    assert!(row.contains("6.2 %"), "{row}");
}

#[test]
#[ignore = "needs Chromium"]
fn one_file_is_enough() {
    let folder = Folder::new(&pairs());
    let url = folder.single();
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    browser.open(&format!("{url}#/login/dark.png?view=difference"));
    wait_for_pictures(&mut browser);
    assert_eq!(browser.number("document.querySelector('.stage img').naturalWidth"), 640.0);
    browser.key("6");
    wait_for_pictures(&mut browser);
    for key in ["1", "j", "j"] {
        browser.key(key);
        wait_for_pictures(&mut browser);
    }
    let files = browser.events_named("Network.requestWillBeSent");
    let files = files
        .filter(|event| event["params"]["request"]["url"].as_str().unwrap().starts_with("file:"));
    assert_eq!(files.count(), 1);
    is_clean(&mut browser);
}

/// A screen of an invented application, drawn by the browser.
fn drawn(browser: &mut Browser, body: &str) -> Frame {
    let style = "body{margin:0;font:15px/1.5 'DejaVu Sans',sans-serif;color:#1f2733;\
        background:#f4f6f9;display:flex;height:100vh}\
        nav{width:210px;background:#1d2b4a;color:#b9c6e2;padding:22px;box-sizing:border-box}\
        nav b{color:#fff;font-size:19px}nav p{margin:14px 0}main{flex:1;padding:26px 34px}\
        h1{font-size:24px;margin:0 0 18px}\
        .cards{display:flex;gap:18px}.card{flex:1;background:#fff;border:1px solid #dfe4ec;\
        border-radius:8px;padding:14px 18px}.card b{font-size:24px}table{width:100%;\
        border-collapse:collapse;background:#fff;margin-top:20px}td,th{text-align:left;\
        padding:0 16px;height:42px;line-height:18px;border-bottom:1px solid #e7ebf1}th{color:#6b7789}\
        button{font:inherit;color:#fff;background:#2463d6;border:0;border-radius:6px;\
        padding:10px 22px;margin-top:22px}";
    let nav = "<nav><b>Ledgerly</b><p>Dashboard<p>Invoices<p>Customers<p>Reports<p>Settings</nav>";
    let page = format!(
        "<!doctype html><meta charset=utf-8><style>{style}</style>{nav}<main>{body}</main>"
    );
    browser.open(&format!("data:text/html;base64,{}", STANDARD.encode(page)));
    frame::decode(&STANDARD.decode(browser.screenshot()).unwrap()).unwrap()
}

/// A table of invoices with what stands beside it.
fn invoices(open: &str, rows: &[&str], button: &str) -> String {
    let rows: String =
        rows.iter().map(|row| format!("<tr><td>{}", row.replace('|', "<td>"))).collect();
    format!(
        "<h1>Invoices</h1><div class=cards><div class=card>Open<br><b>{open}</b></div>\
         <div class=card>Paid<br><b>€ 18,204</b></div><div class=card>Overdue<br><b>2</b></div>\
         </div><table><tr><th>Number<th>Customer<th>Due<th>Amount{rows}</table>\
         <button style='background:{button}'>New invoice</button>"
    )
}

const INVOICES: [&str; 6] = [
    "2026-118|Harbour Books|14 Dec|€ 420.00",
    "2026-117|Nordlicht GmbH|12 Dec|€ 1,280.50",
    "2026-116|Atelier Rosa|9 Dec|€ 96.00",
    "2026-115|Kite &amp; Sons|4 Dec|€ 2,310.00",
    "2026-114|Olive Grove|1 Dec|€ 75.20",
    "2026-113|Blue Harbour|28 Nov|€ 640.00",
];

/// A release of an invented application: what a reviewer would see.
fn release(browser: &mut Browser) -> Folder {
    let blue = "#2463d6";
    let list = drawn(browser, &invoices("€ 4,821", &INVOICES, blue));
    let mut rows = INVOICES.to_vec();
    rows.insert(1, "2026-119|Fjord Studio|15 Dec|€ 310.00");
    let inserted = drawn(browser, &invoices("€ 5,131", &rows, blue));
    let button = drawn(browser, &invoices("€ 4,821", &INVOICES, "#1f8a4c"));
    let typo = drawn(browser, &invoices("€ 4,821", &INVOICES, blue).replace("Overdue", "Overdne"));
    browser.resize(1280, 860);
    let taller = drawn(browser, &invoices("€ 4,821", &INVOICES, blue));
    browser.resize(1280, 800);
    Folder::new(&[
        Pair::changed("customers/list-empty.png", list.clone(), button.clone()),
        Pair::changed("dashboard/cards.png", list.clone(), typo).allowed(),
        Pair::removed("help/shortcuts-old.png", list.clone()),
        Pair::changed("invoices/list.png", list.clone(), inserted.clone()),
        Pair::changed("invoices/list-german.png", list.clone(), button),
        Pair::added("invoices/reminder-dialog.png", inserted),
        Pair::unreadable(
            "reports/export.png",
            list.clone(),
            "export.png: png ends after 4096 bytes",
        ),
        Pair::changed("settings/profile.png", list, taller),
        Pair::same("settings/team.png"),
    ])
}

#[test]
#[ignore = "needs Chromium"]
fn a_release_as_a_reviewer_sees_it() {
    let Some(mut browser) = Browser::start(1280, 800) else { return };
    let folder = release(&mut browser);
    browser.open(&format!("{}#/invoices/list.png", folder.url()));
    browser.until("document.querySelector('.arrow')");
    keep(&mut browser, "release-side.png");
    browser.key("5");
    keep(&mut browser, "release-difference.png");
    browser.key("d");
    keep(&mut browser, "release-subtract.png");
    browser.key("2");
    browser.key("n");
    keep(&mut browser, "release-area.png");
    browser.key("0");
    keep(&mut browser, "release-slider.png");
    browser.key("c");
    keep(&mut browser, "release-accept.png");
    browser.key("Escape");
    browser.key("?");
    keep(&mut browser, "release-help.png");
    browser.key("Escape");
    browser.open(&format!("{}#/settings/profile.png", folder.url()));
    browser.until("document.querySelector('.title h2').textContent === 'settings/profile.png'");
    keep(&mut browser, "release-resized.png");
    let corners = "[...document.querySelectorAll('.corner')].map(e => e.textContent)";
    assert_eq!(browser.eval(corners), json!(["Before · 1280×800", "Actual · 1280×860"]));
    browser.open(&format!("{}#/reports/export.png", folder.url()));
    browser.until("document.querySelector('.trouble')");
    keep(&mut browser, "release-unreadable.png");
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn every_view_light_dark_and_narrow() {
    let folder = Folder::new(&pairs());
    let Some(mut browser) = opened(&folder, "#/login/dark.png") else { return };
    let ground = "getComputedStyle(document.body).backgroundColor";
    for (name, key) in [
        ("side", "1"),
        ("slider", "2"),
        ("flip", "3"),
        ("onion", "4"),
        ("difference", "5"),
        ("overview", "6"),
    ] {
        browser.key(key);
        keep(&mut browser, &format!("light-{name}.png"));
    }
    let light = browser.text(ground);
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.call("Emulation.setEmulatedMedia", &dark);
    assert_ne!(browser.text(ground), light);
    browser.key("2");
    keep(&mut browser, "dark-slider.png");
    browser.key("1");
    keep(&mut browser, "dark-side.png");
    // The switch outweighs the system: automatic, light, dark.
    browser.click_on("header [aria-label^=Colours]");
    assert_eq!(browser.text(ground), light);
    browser.reload();
    browser.until("document.querySelector('.row')");
    assert_eq!(browser.text(ground), light);
    browser.resize(390, 800);
    keep(&mut browser, "narrow-pair.png");
    let wide = browser.number("document.documentElement.scrollWidth");
    assert!(wide <= 390.0, "the narrow page is {wide} px wide");
    browser.click_on(".back");
    browser.until("document.querySelector('.list').clientWidth > 300");
    assert_eq!(browser.number("document.querySelector('.viewer').clientWidth"), 0.0);
    browser.click_on(".row[data-number=\"7\"] a");
    browser.until("document.querySelector('.trouble')?.textContent.includes('cut short')");
    is_clean(&mut browser);
}

#[test]
#[ignore = "needs Chromium"]
fn a_pair_without_a_picture_says_why() {
    let mut folder = Folder::new(&pairs());
    folder.report["rows"][6]["files"]["before"] = json!(null);
    folder.report["remarks"] = json!(["3 files were skipped"]);
    folder.write_page();
    let Some(mut browser) = opened(&folder, "#/login/torn.png") else { return };
    browser.until("document.querySelector('.stage').textContent.includes('no picture')");
    for key in ["+", "-", "0", "w", "z", "n", "2", "f", "d", "o", "x", "i", "i", "a", "ArrowLeft"] {
        browser.key(key);
    }
    let stage = browser.middle(".stage");
    browser.wheel(stage, -100.0);
    browser.drag(stage, (stage.0 + 40.0, stage.1));
    browser.double_click(stage);
    for number in 1..=5 {
        browser.click_on(&format!(".tools > :last-child > :nth-child({number})"));
    }
    assert_eq!(
        browser.text("document.querySelector('.remark').textContent"),
        "3 files were skipped"
    );
    // What cannot be read cannot be accepted either.
    assert_eq!(browser.text("document.querySelector('header .strong').textContent"), "Accept…");
    is_clean(&mut browser);
}

//! The tabs of a session: gone to, opened, closed, and what happens in those that are not looked at.

use seechange::act::{Address, PageReport, Receipt, TabDeed};

use super::*;

struct Tabbed<'p> {
    executor: Executor<'p>,
    address: String,
}

impl Tabbed<'_> {
    fn tab(&mut self, deed: TabDeed) -> Receipt {
        self.executor.execute(&Request::without_observation(Action::Tab(deed))).unwrap()
    }

    fn open(&mut self, path: &str) -> Receipt {
        let url = Address::new(format!("{}{path}", self.address)).unwrap();
        self.tab(TabDeed::Open(url))
    }

    /// Clicks the element of a name.
    fn click(&mut self, name: &str) -> Receipt {
        let current = self.executor.current().unwrap();
        let list = &current.elements.as_ref().unwrap().list;
        let found = list.iter().find(|element| element.name == name).unwrap();
        let target = found.reference.parse().unwrap();
        let deed = seechange::act::Deed::Click {
            button: Button::Left,
            count: 1,
            modifiers: seechange::act::Modifiers::none(),
        };
        let action = Action::Element(seechange::act::ElementAction::new(target, deed));
        self.executor.execute(&Request::new(action, current.id)).unwrap()
    }
}

fn with_tabs(pages: &[(&str, &str)], scale: f32, test: impl FnOnce(&mut Tabbed<'_>)) {
    let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap()).scale(scale);
    let Some(mut open) = open_pages(pages, &options) else { return };
    let address = open.server.url("");
    let executor = Executor::new(&mut open.page, open.clock.clone(), ExecutorOptions::new());
    let mut tabbed = Tabbed { executor, address };
    tabbed.executor.observe().unwrap();
    test(&mut tabbed);
}

fn page(receipt: &Receipt) -> &PageReport {
    receipt.page.as_ref().unwrap()
}

/// Number and title of each, the current one with a star.
fn tabs(receipt: &Receipt) -> Vec<String> {
    let tabs = page(receipt).tabs.iter();
    let star = |current| if current { "*" } else { "" };
    tabs.map(|tab| format!("{}{} {}", star(tab.is_current), tab.number, tab.title)).collect()
}

fn refused(receipt: &Receipt) -> (RefusalKind, String) {
    let refusal = receipt.refusal.as_ref().unwrap_or_else(|| panic!("{receipt:?}"));
    (refusal.kind(), refusal.message().to_owned())
}

fn title(receipt: &Receipt) -> &str {
    page(receipt).elements.as_ref().map_or("", |elements| &elements.title)
}

const FIRST: &str = "<title>First</title><a href=/next target=_blank>Away</a>";
const NEXT: &str = "<title>Next</title><button onclick=\"this.textContent='Done'\">Do</button>";

#[test]
#[ignore = "needs chromium"]
fn tabs_are_opened_gone_to_and_closed() {
    with_tabs(&[("/", FIRST), ("/next", NEXT)], 1.0, |hand| {
        let receipt = hand.click("Away");
        let told = &page(&receipt).changes;
        let line = format!("+ tab 2 \"Next\" {}/next", hand.address);
        assert!(told.contains(&line), "{told:?}");
        assert_eq!(
            (title(&receipt), tabs(&receipt)),
            ("First", vec!["*1 First".into(), "2 Next".into()])
        );
        let old = hand.executor.current().unwrap().id;
        let receipt = hand.tab(TabDeed::Go(2));
        assert_eq!((receipt.status, title(&receipt)), (Status::Delivered, "Next"), "{receipt:?}");
        let receipt = hand.click("Do");
        assert_eq!(page(&receipt).elements.as_ref().unwrap().list[0].name, "Done");
        // A ref of the other tab is of an earlier observation.
        let away = Action::Element(seechange::act::ElementAction::new(
            "1:a".parse().unwrap(),
            seechange::act::Deed::Hover,
        ));
        let stale = hand.executor.execute(&Request::new(away, old)).unwrap();
        assert_eq!(refused(&stale).0, RefusalKind::StaleObservation);
        let receipt = hand.open("/next");
        assert_eq!(tabs(&receipt), ["1 First", "2 Next", "*3 Next"]);
        let receipt = hand.tab(TabDeed::Close(2));
        assert_eq!(tabs(&receipt), ["1 First", "*3 Next"]);
        let told = refused(&hand.tab(TabDeed::Go(2)));
        let message = "there is no tab 2: the valid numbers are 1, 3".to_owned();
        assert_eq!(told, (RefusalKind::UnknownTab, message));
        let receipt = hand.tab(TabDeed::Close(3));
        assert_eq!((title(&receipt), tabs(&receipt)), ("First", vec!["*1 First".into()]));
        let told = refused(&hand.tab(TabDeed::Close(1)));
        let message = "tab 1 is the only one, and a session has one at least: open another first";
        assert_eq!(told, (RefusalKind::NotReady, message.to_owned()));
        // The number of a closed tab is not given again.
        assert_eq!(tabs(&hand.open("/next")), ["1 First", "*4 Next"]);
    });
}

#[test]
#[ignore = "needs chromium"]
fn an_address_that_does_not_answer_opens_no_tab() {
    with_tabs(&[("/", FIRST)], 1.0, |hand| {
        let nobody = Address::new("http://127.0.0.1:9/").unwrap();
        let receipt = hand.tab(TabDeed::Open(nobody));
        assert_eq!(refused(&receipt).0, RefusalKind::NotReady);
        assert_eq!(tabs(&receipt), ["*1 First"]);
    });
}

#[test]
#[ignore = "needs chromium"]
fn a_dialog_of_a_tab_behind_hangs_nothing() {
    let opener = "<title>First</title><button onclick=\"window.open('/alert')\">Open</button>";
    let alert = "<title>Alert</title><script>alert('Hello')</script><button>B</button>";
    with_tabs(&[("/", opener), ("/alert", alert)], 1.0, |hand| {
        let receipt = hand.click("Open");
        assert_eq!(page(&receipt).dialog.as_deref(), Some("alert \"Hello\" in tab 2"));
        let told = refused(&hand.tab(TabDeed::Go(2)));
        assert_eq!(told.0, RefusalKind::DialogOpen);
        let accept = Action::Dialog { accept: true, text: None };
        let receipt = hand.executor.execute(&Request::without_observation(accept)).unwrap();
        assert_eq!((receipt.status, title(&receipt)), (Status::Delivered, "First"));
        let receipt = hand.tab(TabDeed::Go(2));
        assert_eq!(title(&receipt), "Alert");
    });
}

/// What ends the tab that is driven, and how that is told.
#[test]
#[ignore = "needs chromium"]
fn a_tab_that_ends_is_told_and_another_is_gone_to() {
    let opener = "<title>First</title><button onclick=\"window.open('/closes')\">Open</button>";
    let closes = "<title>Closes</title><button onclick=window.close()>Close</button>";
    with_tabs(&[("/", opener), ("/closes", closes)], 1.0, |hand| {
        hand.click("Open");
        assert_eq!(title(&hand.tab(TabDeed::Go(2))), "Closes");
        let receipt = hand.click("Close");
        assert_ne!(receipt.status, Status::Refused);
        let observed =
            hand.executor.execute(&Request::without_observation(Action::Observe)).unwrap();
        let message = "the page was closed; go on with tab 1, or tab open URL".to_owned();
        assert_eq!(refused(&observed), (RefusalKind::TabClosed, message));
        assert_eq!(title(&hand.tab(TabDeed::Go(1))), "First");
        let told = refused(&hand.tab(TabDeed::Go(2)));
        assert_eq!(told.0, RefusalKind::UnknownTab);
    });
}

#[test]
#[ignore = "needs chromium"]
fn a_new_tab_has_the_size_and_scale_of_the_first() {
    with_tabs(&[("/", FIRST), ("/next", NEXT)], 2.0, |hand| {
        for _ in 0..2 {
            hand.open("/next");
            let frame = hand.executor.current().unwrap().geometry.size;
            assert_eq!(frame, Size::new(1600, 1200).unwrap());
            assert_eq!(page(&hand.click("Do")).elements.as_ref().unwrap().list[0].name, "Done");
        }
    });
}

/// Every renderer of a browser of this test is killed: all of its tabs crash.
#[test]
#[ignore = "needs chromium"]
fn tabs_that_crash_are_told_and_a_new_one_goes_on() {
    let options = BrowserOptions::new().viewport(Size::new(800, 600).unwrap());
    let Some(mut open) = open_pages(&[("/", FIRST), ("/next", NEXT)], &options) else { return };
    let group = open.page.process_group().unwrap();
    let address = open.server.url("");
    let executor = Executor::new(&mut open.page, open.clock.clone(), ExecutorOptions::new());
    let mut hand = Tabbed { executor, address };
    hand.executor.observe().unwrap();
    hand.open("/next");
    let renderers = processes("--type=renderer").into_iter();
    for id in renderers.filter(|id| group_of(*id) == Some(group)) {
        let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    }
    let crashed = "the page has crashed; go on with tab open URL";
    let mut told = (RefusalKind::NotReady, String::new());
    let mut changes = Vec::new();
    // The browser takes a moment to notice, of each tab its own.
    for _ in 0..200 {
        let observe = Request::without_observation(Action::Observe);
        // A look in the middle of which it crashes is an error.
        let Ok(receipt) = hand.executor.execute(&observe) else { continue };
        changes.extend(page(&receipt).changes.clone());
        if let Some(refusal) = receipt.refusal {
            told = (refusal.kind(), refusal.message().to_owned());
            if told.1 == crashed {
                break;
            }
        }
        Clock::system().sleep(Duration::from_millis(50));
    }
    assert_eq!(told, (RefusalKind::TabClosed, crashed.to_owned()));
    let receipt = hand.tab(TabDeed::Go(1));
    changes.extend(page(&receipt).changes.clone());
    let told = refused(&receipt);
    let message = "tab 1 has crashed: close it with tab close 1".to_owned();
    assert_eq!(told, (RefusalKind::TabClosed, message));
    let receipt = hand.open("/next");
    assert_eq!((title(&receipt), receipt.status), ("Next", Status::Delivered));
    changes.extend(page(&receipt).changes.clone());
    for number in [1, 2] {
        let start = format!("! tab {number} ");
        let is_told = |line: &String| line.starts_with(&start) && line.ends_with("has crashed");
        assert_eq!(changes.iter().filter(|line| is_told(line)).count(), 1, "{changes:?}");
    }
    for number in [1, 2] {
        assert_eq!(hand.tab(TabDeed::Close(number)).status, Status::Delivered);
    }
    let receipt = hand.click("Do");
    assert_eq!(tabs(&receipt), ["*3 Next"]);
    assert_eq!(page(&receipt).elements.as_ref().unwrap().list[0].name, "Done");
}

/// Of a browser of somebody else's only what this session opened is closed.
#[test]
#[ignore = "needs chromium"]
fn tabs_of_an_attached_browser() {
    let Ok(program) = browser::find() else { return println!("skipped: no chromium") };
    let server = Server::start(&[("/", FIRST), ("/next", NEXT)]);
    let running = Running::start(&program, &server.url("/"));
    let clock = Clock::system();
    let mut page_of = Page::attach(&running.address, &clock).unwrap();
    let executor = Executor::new(&mut page_of, clock.clone(), ExecutorOptions::new());
    let mut hand = Tabbed { executor, address: server.url("") };
    hand.executor.observe().unwrap();
    let told = refused(&hand.tab(TabDeed::Close(1)));
    let message = "tab 1 was not opened by this session, and in a browser of somebody else's only \
                   those are closed";
    assert_eq!(told, (RefusalKind::NotPermitted, message.to_owned()));
    // One a page opens is heard of and gone to; what it says at once too.
    let receipt = hand.click("Away");
    assert_eq!(tabs(&receipt), ["*1 First", "2 Next"]);
    let receipt = hand.tab(TabDeed::Go(2));
    assert_eq!((title(&receipt), receipt.status), ("Next", Status::Delivered));
    let receipt = hand.click("Do");
    assert_eq!(page(&receipt).elements.as_ref().unwrap().list[0].name, "Done");
    assert_eq!(tabs(&hand.open("/next")), ["1 First", "2 Next", "*3 Next"]);
    for (number, left) in [(3, vec!["1 First", "*2 Next"]), (2, vec!["*1 First"])] {
        assert_eq!(tabs(&hand.tab(TabDeed::Close(number))), left);
    }
    hand.open("/next");
    drop(hand);
    drop(page_of);
    let own = running.page_address(&server.url("/next"));
    let mut page_of = Page::attach(&own, &clock).unwrap();
    let mut executor = Executor::new(&mut page_of, clock, ExecutorOptions::new());
    executor.observe().unwrap();
    let go = Request::without_observation(Action::Tab(TabDeed::Go(1)));
    let receipt = executor.execute(&go).unwrap();
    assert_eq!(refused(&receipt).0, RefusalKind::Unsupported);
    assert_eq!(page(&receipt).tabs, []);
}

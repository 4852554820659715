//! A page in a Chromium, headless or headed, over the DevTools protocol: looked at, driven, and
//! asked for its elements.
//!
//! A [`Page`] is a [`Source`] and a [`Driver`](crate::act::Driver), so waits, recordings and the
//! executor work on it as on any surface. Beside that it knows what pixels do not tell: which
//! elements there are ([`Page::elements`]), whether one can be clicked and what covers it
//! ([`Page::click`]), and the [`Dialog`] in the way.
//!
//! - **Pixels.** A frame has the page's device pixels: a viewport of 1280x800 at scale 2 is a frame
//!   of 2560x1600. Boxes, regions and points are pixels of that frame everywhere; only
//!   [`BrowserOptions::viewport`] is in CSS pixels. The browser's own tab strip and address bar are
//!   not part of it.
//! - **No hang.** Every call has an end. A dialog, a crash, a browser that was closed or killed is
//!   told in words. While a dialog is open captures fail with its text.
//! - **Nothing stays.** A browser started here ends with its [`Page`], also when this process is
//!   killed, and its profile folder goes with it.
//!
//! A picture is a screenshot on demand: it shows the page as it is now, at full size, and takes 50
//! to 120 ms (1280x800, scale 1 to 2). The frames a page sends by itself (its screencast) tell within
//! some 10 ms that something was drawn, but of which moment they are is not told, so they wake waits,
//! in small, and no pixel of them is compared.
//!
//! ```no_run
//! use std::time::Duration;
//! use seechange::Clock;
//! use seechange::surface::browser::{BrowserOptions, Click, Page};
//!
//! let mut page = Page::open("https://example.com/", &BrowserOptions::new(), &Clock::system())?;
//! let elements = page.elements()?;
//! println!("{}", elements.lines().join("\n")); // 1:a Link "More information"
//! match page.click(&elements, "1:a", Duration::from_secs(2))? {
//!     Click::Sent { at, .. } => println!("clicked at {at}"),
//!     Click::Refused(refusal) => println!("{refusal}"), // what covers it, and what to try
//! }
//! for line in page.elements()?.changes_since(&elements) {
//!     println!("{line}"); // ~ 2:a Button "Count 0" → "Count 1"
//! }
//! # Ok::<(), seechange::Error>(())
//! ```

mod click;
mod dialog;
mod document;
mod elements;
mod go_to_tab;
mod greeter;
mod input;
mod keys;
mod link;
mod news;
mod picture;
mod process;
mod tabs;
mod transport;
mod world;

pub use crate::act::{Element, Elements};
pub use click::{Click, Fill};
pub use dialog::Dialog;
pub use process::find;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result, Shown};
use crate::frame::Frame;
use crate::geometry::{Rect, Size};
use crate::wait::{Capture, Geometry, Rest, Source};

use input::Input;
use link::{Link, Stop};
use process::Process;
use world::World;

/// How long a browser may take until it answers, and a page until its document is there.
const OPEN_PATIENCE: Duration = Duration::from_secs(20);

/// How long a question may take that has no time of its own.
const ASK_PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks at how far a page has loaded.
const LOAD_INTERVAL: Duration = Duration::from_millis(10);

/// The page as it is drawn in small to tell that it was drawn, in pixels an edge.
const CAST_EDGE: u32 = 640;

/// How a browser is started. Each setter changes one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserOptions {
    program: Option<PathBuf>,
    headed: bool,
    viewport: Size,
    scale: f32,
    count_after: u32,
}

impl Default for BrowserOptions {
    fn default() -> Self {
        let viewport = Size::new(1280, 800).unwrap_or(Size::ONE);
        Self { program: None, headed: false, viewport, scale: 1.0, count_after: 0 }
    }
}

impl BrowserOptions {
    /// The system's Chromium, headless, 1280x800 CSS pixels at scale 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Another program than [`find`] finds.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// With a window on the display. Default: headless.
    #[must_use]
    pub const fn headed(mut self, headed: bool) -> Self {
        self.headed = headed;
        self
    }

    /// The page's size in CSS pixels, default 1280x800.
    #[must_use]
    pub const fn viewport(mut self, viewport: Size) -> Self {
        self.viewport = viewport;
        self
    }

    /// Device pixels for one CSS pixel, 0.5 to 4, such as 1.5 or 2. Default 1.
    #[must_use]
    pub const fn scale(mut self, scale: f32) -> Self {
        self.scale = scale;
        self
    }

    /// The number after which snapshots of the elements are counted, so that those of several pages
    /// have no reference in common. Default 0: the first reference is `1:a`.
    #[must_use]
    pub const fn count_after(mut self, number: u32) -> Self {
        self.count_after = number;
        self
    }

    /// The size and scale of every tab, as the browser takes them.
    fn metrics(&self) -> Value {
        json!({
            "width": self.viewport.width(),
            "height": self.viewport.height(),
            "deviceScaleFactor": self.scale,
            "mobile": false,
        })
    }

    /// The size of a frame.
    fn frame_size(&self) -> Result<Size> {
        if !(0.5..=4.0).contains(&self.scale) {
            return Err(Error::usage(format!("scale {} is not within 0.5 to 4", self.scale)));
        }
        let (width, height) = (self.viewport.width(), self.viewport.height());
        let (scaled_width, scaled_height) =
            (picture::device(width, self.scale), picture::device(height, self.scale));
        match (scaled_width, scaled_height) {
            (Some(width), Some(height)) => Size::new(width, height),
            _ => Err(Error::usage(format!(
                "a viewport of {} at scale {} is no whole number of pixels: use even edges",
                self.viewport, self.scale
            ))),
        }
    }
}

/// What every tab tells once it is asked to: dialogs, crashes, errors of its scripts.
fn listening() -> greeter::Welcome {
    let methods = ["Inspector.enable", "Page.enable", "Runtime.enable", "Log.enable"];
    methods.map(|method| (method, json!({}))).to_vec()
}

/// One page, and the browser it is in when that was started here.
///
/// Dropping it lets go of what it holds and ends the browser it started. One that was attached to
/// stays open.
pub struct Page {
    // Before the process: a browser ends when its pipe does.
    link: Link,
    process: Option<Process>,
    clock: Clock,
    geometry: Geometry,
    world: World,
    input: Input,
    /// The number of the last picture.
    pictures: u64,
    snapshots: u32,
    /// The last snapshot.
    latest: Option<Elements>,
    /// The name of the session.
    session: String,
    is_watched: bool,
}

impl Page {
    /// Starts a browser and goes to `url`.
    ///
    /// # Errors
    /// When there is no browser, it does not come up within 20 s, or the page cannot be opened.
    pub fn open(url: &str, options: &BrowserOptions, clock: &Clock) -> Result<Self> {
        Self::open_unless(url, options, clock, &Cancel::never())
    }

    /// As [`Self::open`], given up when `cancel` is thrown: then it ends in an error, or in a page
    /// that is not there yet.
    ///
    /// # Errors
    /// As [`Self::open`], and when it was given up.
    pub fn open_unless(
        url: &str,
        options: &BrowserOptions,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Self> {
        let size = options.frame_size()?;
        let (process, pipes) = Process::start(options, clock)?;
        let mut welcome = listening();
        welcome.push(("Emulation.setDeviceMetricsOverride", options.metrics()));
        let link = Link::over_pipes(pipes.to, pipes.from, welcome, clock)?;
        let geometry = Geometry { size, scale: options.scale, origin: (0, 0) };
        let mut page = Self::new(link, Some(process), geometry, clock);
        page.snapshots = options.count_after;
        page.link.heed(cancel);
        page.link.set_cancellable(true);
        page.find_page().map_err(|stop| stop.into_error("the browser does not come up"))?;
        page.fix_size(&options.metrics())?;
        page.listen_to_news()?;
        page.navigate(url)?;
        page.link.set_cancellable(false);
        Ok(page)
    }

    /// Attaches to a page of a browser that runs with `--remote-debugging-port`, at
    /// `ws://host:port/devtools/page/…` for a certain page, or `ws://host:port/devtools/browser/…`
    /// for the first one the browser tells of. Its size and scale stay as they are.
    ///
    /// # Errors
    /// When nobody listens there, or there is no page.
    pub fn attach(address: &str, clock: &Clock) -> Result<Self> {
        let link = Link::over_socket(address, ASK_PATIENCE, listening(), clock)?;
        let geometry = Geometry { size: Size::ONE, scale: 1.0, origin: (0, 0) };
        let mut page = Self::new(link, None, geometry, clock);
        let found = match address.contains("/devtools/page/") {
            true => page.listen().and_then(|()| page.follow_own_frame()),
            false => page.find_page(),
        };
        found.map_err(|stop| stop.into_error("the browser has no page to attach to"))?;
        page.geometry()?;
        page.listen_to_news()?;
        // References of who was here before are of no snapshot of this session.
        page.snapshots = document::first_snapshot();
        Ok(page)
    }

    fn new(link: Link, process: Option<Process>, geometry: Geometry, clock: &Clock) -> Self {
        Self {
            link,
            process,
            clock: clock.clone(),
            geometry,
            world: World::default(),
            input: Input::default(),
            pictures: 0,
            snapshots: 0,
            latest: None,
            session: document::session_name(),
            is_watched: false,
        }
    }

    fn find_page(&mut self) -> Result<(), Stop> {
        let give_up = self.clock.now() + OPEN_PATIENCE;
        let id = self.link.first_page(self.process.is_some(), give_up)?;
        let session = self.link.attach_to(&id, give_up)?;
        self.link.speak_to(session, &id);
        self.listen()?;
        self.link.tabs_mut().forget_untold();
        Ok(())
    }

    /// From now on dialogs and crashes are told.
    fn listen(&mut self) -> Result<(), Stop> {
        let give_up = self.clock.now() + OPEN_PATIENCE;
        self.link.call("Inspector.enable", &json!({}), give_up)?;
        self.link.call("Page.enable", &json!({}), give_up).map(drop)
    }

    /// On a socket that is the page's own the page itself says which it is.
    fn follow_own_frame(&mut self) -> Result<(), Stop> {
        let give_up = self.clock.now() + OPEN_PATIENCE;
        let tree = self.link.call("Page.getFrameTree", &json!({}), give_up)?;
        let frame = tree["frameTree"]["frame"]["id"].as_str().unwrap_or_default();
        self.link.follow_frame(frame);
        Ok(())
    }

    fn fix_size(&mut self, metrics: &Value) -> Result<()> {
        self.ask("Emulation.setDeviceMetricsOverride", metrics)
            .map(drop)
            .map_err(|stop| stop.into_error("the page does not take a size"))
    }

    /// Goes to another address and waits, for up to 20 s, until its document can be looked at;
    /// what loads later is for a wait to see. A dialog that opens meanwhile ends it: see
    /// [`Self::dialog`].
    ///
    /// # Errors
    /// When the address is none or does not answer, or the page is gone.
    pub fn navigate(&mut self, url: &str) -> Result<()> {
        let give_up = self.clock.now() + OPEN_PATIENCE;
        let what = || format!("{} cannot be opened", Shown(url));
        let answer = match self.link.call("Page.navigate", &json!({"url": url}), give_up) {
            // A page that asks whether it may be left, or says something as it loads.
            Err(Stop::Dialog(_)) => return Ok(()),
            Err(Stop::Refused(_)) => {
                let why = "it is no address: begin it with https:// or http://";
                return Err(Error::surface(format!("{}: {why}", what())));
            }
            answer => answer.map_err(|stop| stop.into_error(&what()))?,
        };
        if let Some(error) = answer["errorText"].as_str() {
            return Err(Error::surface(format!("{}: {}", what(), error.to_lowercase())));
        }
        while self.clock.now() < give_up && !self.link.is_cancelled() {
            match self.where_it_is() {
                Ok(place) if place["ready"] != "loading" => return Ok(()),
                Ok(_) | Err(Stop::Late | Stop::Refused(_)) => self.clock.sleep(LOAD_INTERVAL),
                Err(Stop::Dialog(_)) => return Ok(()),
                Err(Stop::Gone(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// The id of the process group of the browser that was started here: a shell and the browser.
    #[must_use]
    pub fn process_group(&self) -> Option<u32> {
        self.process.as_ref().map(Process::group)
    }

    /// The page's address.
    ///
    /// # Errors
    /// When the page is gone, busy, or a dialog is open.
    pub fn url(&mut self) -> Result<String> {
        self.place("url")
    }

    /// The page's title.
    ///
    /// # Errors
    /// As [`Self::url`].
    pub fn title(&mut self) -> Result<String> {
        self.place("title")
    }

    fn place(&mut self, field: &str) -> Result<String> {
        let what = "the page cannot be asked";
        let place = self.where_it_is().map_err(|stop| stop.into_error(what))?;
        Ok(place[field].as_str().unwrap_or_default().to_owned())
    }

    fn where_it_is(&mut self) -> Result<Value, Stop> {
        let give_up = self.clock.now() + ASK_PATIENCE;
        self.world.call(&mut self.link, "where", &[], give_up)
    }

    /// The dialog that is open. While there is one the page is neither drawn nor does it answer.
    pub fn dialog(&mut self) -> Option<&Dialog> {
        self.link.catch_up();
        self.link.dialog()
    }

    /// Accepts or dismisses the dialog that is open, `text` being the answer to a prompt; then lets
    /// go of the button or key whose press had opened it, unless the next dialog follows at once.
    /// Gives the dialog that was handled.
    ///
    /// # Errors
    /// When no dialog is open, or the page is gone.
    pub fn handle_dialog(&mut self, accept: bool, text: Option<&str>) -> Result<Dialog> {
        self.link.catch_up();
        let Some(dialog) = self.link.take_dialog() else {
            return Err(Error::usage("no dialog is open: there is nothing to accept or dismiss"));
        };
        let mut answer = json!({"accept": accept});
        if let Some(text) = text {
            answer["promptText"] = json!(text);
        }
        let give_up = self.clock.now() + ASK_PATIENCE;
        if let Err(stop) = self.link.answer_dialog(&dialog, &answer, give_up) {
            self.link.put_dialog_back(dialog);
            return Err(stop.into_error("the dialog is not handled"));
        }
        self.release_pending()?;
        Ok(dialog)
    }

    /// A page behind another tab is neither drawn nor takes input.
    fn come_forward(&mut self) -> Result<()> {
        if self.link.take_behind()
            && let Err(Stop::Gone(error)) = self.ask("Page.bringToFront", &json!({}))
        {
            return Err(error);
        }
        Ok(())
    }

    /// Ends the session: lets go of what is held and ends the browser that was started here.
    /// Dropping does the same.
    pub fn close(self) {}

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Stop> {
        let give_up = self.clock.now() + ASK_PATIENCE;
        self.link.call(method, params, give_up)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // A browser that ends takes what it holds along.
        if self.process.is_none() {
            self.release_all();
        }
    }
}

impl Source for Page {
    /// Of a page opened here what was asked for; one that was attached to is asked.
    fn geometry(&mut self) -> Result<Geometry> {
        self.link.catch_up();
        if let Some(error) = self.link.gone() {
            return Err(error);
        }
        if self.process.is_none() && self.link.dialog().is_none() {
            let what = "the page does not tell its size";
            let place = self.where_it_is().map_err(|stop| stop.into_error(what))?;
            self.geometry = picture::geometry(&place)?;
        }
        Ok(self.geometry)
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        if region.is_some_and(|region| !self.geometry.size.rect().contains_rect(region)) {
            return Ok(Capture::Resized);
        }
        self.come_forward()?;
        self.link.set_cancellable(true);
        let picture = self.picture(region, give_up);
        self.link.set_cancellable(false);
        match picture {
            Ok(picture) => {
                let wanted = region.map_or(self.geometry.size, Rect::size);
                if picture.size() != wanted {
                    return Ok(Capture::Resized);
                }
                *frame = picture;
                self.pictures += 1;
                Ok(Capture::Taken { id: self.pictures })
            }
            Err(Stop::Late) => Ok(Capture::Stalled),
            Err(Stop::Dialog(dialog)) => Ok(Capture::Failed(dialog.in_the_way())),
            Err(Stop::Refused(words)) => Ok(Capture::Failed(Shown(&words).to_string())),
            Err(Stop::Gone(error)) => Err(error),
        }
    }

    fn heed(&mut self, cancel: &Cancel) {
        self.link.heed(cancel);
    }

    fn watch_damage(&mut self) -> Result<bool> {
        if !self.is_watched {
            let cast = json!({
                "format": "png", "maxWidth": CAST_EDGE, "maxHeight": CAST_EDGE, "everyNthFrame": 1,
            });
            match self.ask("Page.startScreencast", &cast) {
                Ok(_) => self.is_watched = true,
                Err(Stop::Gone(error)) => return Err(error),
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    fn rest(
        &mut self,
        until: Duration,
        concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Rest> {
        self.link.heed(cancel);
        // A page tells that it was drawn, not where.
        let whole = self.geometry.size.rect();
        if self.is_watched && concerns(whole) {
            self.link.set_cancellable(true);
            let is_damaged = self.link.await_damage(until);
            self.link.set_cancellable(false);
            if is_damaged? {
                return Ok(Rest::Damaged);
            }
        }
        Ok(if clock.sleep_until(until, cancel) { Rest::Elapsed } else { Rest::Cancelled })
    }
}

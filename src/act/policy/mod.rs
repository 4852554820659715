//! What a session is allowed to do: asked after an action's shape and before any state.

mod access;
mod glob;
mod keys;

use std::collections::BTreeSet;

use crate::error::Shown;
use crate::geometry::{Point, Rect};

use super::action::Action;
use super::element::{Deed, ElementAction};
use super::refusal::{Refusal, RefusalKind};
use super::tab::TabDeed;

pub use access::Access;
pub use glob::Glob;
pub use keys::KeyPattern;

use keys::Chord;

/// What a session is allowed to do. The default allows every action.
///
/// Rules only ever narrow: a denial wins over a permission, a second list of what is allowed leaves
/// what both allow, and of an action that holds others each must be allowed. Lists of what is
/// allowed speak of input; observing and waiting end with [`Self::nothing`] or when denied by name.
///
/// ```
/// use seechange::act::{Action, Policy};
/// let policy = Policy::allow_all()
///     .allow_only(["key", "hotkey"])
///     .deny_keys("alt+f4".parse()?)
///     .deny_keys("super+*".parse()?);
/// assert!(policy.permit(&Action::hotkey(["ctrl", "s"])?).is_ok());
/// let refusal = policy.permit(&Action::hotkey(["alt", "F4"])?).unwrap_err();
/// assert_eq!(
///     refusal.message(),
///     "the policy of this session does not allow the keys alt+f4 (its rule is alt+f4)"
/// );
/// assert!(policy.permit(&Action::SelectAll).is_err());
/// # Ok::<(), seechange::act::Refusal>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Why nothing at all is allowed.
    closed: Option<String>,
    read_only: bool,
    allowed: Option<BTreeSet<String>>,
    denied: BTreeSet<String>,
    allowed_keys: Vec<KeyPattern>,
    denied_keys: Vec<KeyPattern>,
    most_characters: Option<usize>,
    no_clipboard: bool,
    allowed_regions: Vec<Rect>,
    denied_regions: Vec<Rect>,
    allowed_windows: Vec<Glob>,
    denied_windows: Vec<Glob>,
}

/// Where input would go: a pixel of the frame and the window there, or the window with the focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) point: Option<Point>,
    /// Where the pointer comes from with a button down, along a straight line.
    pub(super) dragged_from: Option<Point>,
    /// Its title, where the surface can tell.
    pub(super) window: Option<String>,
}

impl Place {
    /// The ends of the line the pointer is dragged along.
    fn way(&self) -> Option<(Point, Point)> {
        self.dragged_from.zip(self.point)
    }
}

impl Policy {
    /// Every action.
    #[must_use]
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Only what sends no input: observing and waiting.
    #[must_use]
    pub fn read_only() -> Self {
        Self::default().without_input()
    }

    /// No action at all, not even observing. `why` ends every refusal.
    #[must_use]
    pub fn nothing(why: impl Into<String>) -> Self {
        Self { closed: Some(why.into()), ..Self::default() }
    }

    /// The same policy without any input.
    #[must_use]
    pub fn without_input(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// The same policy without the action of a name.
    #[must_use]
    pub fn deny(mut self, action: impl Into<String>) -> Self {
        self.denied.insert(action.into());
        self
    }

    /// The same policy with no other input than the actions of these names. A `hold` or a
    /// `sequence` must be named as well as what is in it.
    #[must_use]
    pub fn allow_only<A: Into<String>>(mut self, actions: impl IntoIterator<Item = A>) -> Self {
        let mut named: BTreeSet<String> = actions.into_iter().map(Into::into).collect();
        if let Some(before) = &self.allowed {
            named.retain(|name| before.contains(name));
        }
        self.allowed = Some(named);
        self
    }

    /// The same policy without the chords of a pattern, whatever else is held with them: keys and
    /// hotkeys, select-all, holds, the modifiers of clicks and drags, and the Return and Tab a text
    /// has for its line breaks and tabs.
    #[must_use]
    pub fn deny_keys(mut self, pattern: KeyPattern) -> Self {
        self.denied_keys.push(pattern);
        self
    }

    /// The same policy with no other keys and chords than those of this pattern and of others given
    /// like this. What a text types is not concerned.
    #[must_use]
    pub fn allow_keys(mut self, pattern: KeyPattern) -> Self {
        self.allowed_keys.push(pattern);
        self
    }

    /// The same policy with no longer texts than this.
    #[must_use]
    pub fn most_characters(mut self, characters: usize) -> Self {
        let most = self.most_characters.map_or(characters, |most| most.min(characters));
        self.most_characters = Some(most);
        self
    }

    /// The same policy without the clipboard: texts are typed by keys, never pasted.
    #[must_use]
    pub fn without_clipboard(mut self) -> Self {
        self.no_clipboard = true;
        self
    }

    /// The same policy without points in this box of frame pixels.
    #[must_use]
    pub fn deny_region(mut self, region: Rect) -> Self {
        self.denied_regions.push(region);
        self
    }

    /// The same policy with no other points than those in this box of frame pixels and in others
    /// given like this.
    #[must_use]
    pub fn allow_region(mut self, region: Rect) -> Self {
        self.allowed_regions.push(region);
        self
    }

    /// The same policy without windows of such a title. A surface that cannot name its windows then
    /// takes no input.
    #[must_use]
    pub fn deny_window(mut self, title: Glob) -> Self {
        self.denied_windows.push(title);
        self
    }

    /// The same policy with no other windows than those of this title and of others given like
    /// this. A surface that cannot name its windows then takes no input.
    #[must_use]
    pub fn allow_window(mut self, title: Glob) -> Self {
        self.allowed_windows.push(title);
        self
    }

    /// Whether `action` is allowed, with everything inside it, as far as that can be told without
    /// the surface: regions and windows are asked for once the observation is known to be current.
    ///
    /// # Errors
    /// A refusal that says which rule forbids it.
    pub fn permit(&self, action: &Action) -> Result<(), Refusal> {
        self.permit_name(action)?;
        self.permit_text(action)?;
        keys::chords(action).iter().try_for_each(|chord| self.permit_chord(chord))?;
        action.parts().try_for_each(|part| self.permit(part))
    }

    fn permit_name(&self, action: &Action) -> Result<(), Refusal> {
        let name = action.name();
        if let Some(why) = &self.closed {
            return Err(not_allowed(&format!("{name}: {why}")));
        }
        let only_looks = may_be_link(action) || matches!(action, Action::Tab(TabDeed::Go(_)));
        if self.read_only && action.sends_input() && !only_looks {
            let links = match action {
                Action::Element(_) => ", and a plain click on a link follows it",
                _ => "",
            };
            return Err(Refusal::new(
                RefusalKind::ReadOnly,
                format!(
                    "this session is read-only: {name} would send input; observe and wait do \
                     not{links}"
                ),
            ));
        }
        let is_listed = self.allowed.as_ref().is_none_or(|allowed| allowed.contains(name));
        if self.denied.contains(name) || (action.sends_input() && !is_listed) {
            return Err(not_allowed(name));
        }
        Ok(())
    }

    fn permit_text(&self, action: &Action) -> Result<(), Refusal> {
        if self.no_clipboard && matches!(action, Action::Paste { .. }) {
            return Err(not_allowed("the clipboard; use method keys"));
        }
        let Some(most) = self.most_characters else { return Ok(()) };
        let text = match action {
            Action::TypeText { text, .. }
            | Action::Paste { text }
            | Action::Dialog { text: Some(text), .. } => text,
            Action::Element(ElementAction { deed: Deed::TypeText(text), .. }) => text,
            _ => return Ok(()),
        };
        match text.length() {
            length if length <= most => Ok(()),
            length => {
                Err(not_allowed(&format!("texts of more than {most} characters, such as {length}")))
            }
        }
    }

    fn permit_chord(&self, chord: &Chord) -> Result<(), Refusal> {
        if let Some(rule) = self.denied_keys.iter().find(|rule| rule.is_part_of(chord)) {
            return Err(not_allowed(&format!("the keys {chord} (its rule is {rule})")));
        }
        let is_listed = self.allowed_keys.iter().any(|rule| rule.is(chord));
        if chord.is_pressed_by_name && !self.allowed_keys.is_empty() && !is_listed {
            return Err(not_allowed(&format!("the keys {chord}")));
        }
        Ok(())
    }

    /// Whether nothing but looking is allowed, and following links.
    pub(super) const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether there are rules about windows.
    pub(super) const fn asks_for_windows(&self) -> bool {
        !self.denied_windows.is_empty() || !self.allowed_windows.is_empty()
    }

    /// Whether input may go to all of `places`.
    pub(super) fn permit_places(&self, places: &[Place]) -> Result<(), Refusal> {
        places.iter().try_for_each(|place| {
            place.point.map_or(Ok(()), |point| self.permit_point(point))?;
            place.way().map_or(Ok(()), |(from, to)| self.permit_way(from, to))?;
            if self.asks_for_windows() { self.permit_window(place) } else { Ok(()) }
        })
    }

    /// Whether the pointer may be dragged along the straight line between two pixels.
    fn permit_way(&self, from: Point, to: Point) -> Result<(), Refusal> {
        if self.denied_regions.is_empty() && self.allowed_regions.is_empty() {
            return Ok(());
        }
        let steps = from.x.abs_diff(to.x).max(from.y.abs_diff(to.y));
        (0..=steps).try_for_each(|step| self.permit_point(between(from, to, step, steps)))
    }

    fn permit_point(&self, point: Point) -> Result<(), Refusal> {
        if let Some(region) = self.denied_regions.iter().find(|region| region.contains(point)) {
            return Err(not_allowed(&format!("input at {point}, which lies in {region}")));
        }
        let is_inside = self.allowed_regions.iter().any(|region| region.contains(point));
        if !self.allowed_regions.is_empty() && !is_inside {
            let all: Vec<String> = self.allowed_regions.iter().map(Rect::to_string).collect();
            return Err(not_allowed(&format!("input at {point}, only in {}", all.join(" or "))));
        }
        Ok(())
    }

    fn permit_window(&self, place: &Place) -> Result<(), Refusal> {
        let there = match place.point {
            Some(point) => format!("at {point}"),
            None => "with the focus".to_owned(),
        };
        let Some(title) = &place.window else {
            return Err(not_allowed(&format!(
                "input where it cannot name the window: this surface does not say which is {there}"
            )));
        };
        let shown = Shown(title);
        if let Some(rule) = self.denied_windows.iter().find(|rule| rule.matches(title)) {
            return Err(not_allowed(&format!(
                "the window \"{shown}\" {there} (its rule is {rule})"
            )));
        }
        let is_listed = self.allowed_windows.iter().any(|rule| rule.matches(title));
        if !self.allowed_windows.is_empty() && !is_listed {
            return Err(not_allowed(&format!("the window \"{shown}\" {there}")));
        }
        Ok(())
    }
}

/// The pixel nearest to the line after `step` of `steps`.
fn between(from: Point, to: Point, step: u32, steps: u32) -> Point {
    let along = |from: u32, to: u32| {
        let (from, to, whole) = (u64::from(from), u64::from(to), u64::from(steps.max(1)));
        let (step, left) = (u64::from(step), u64::from(steps - step));
        let nearest = (from * left + to * step + whole / 2) / whole;
        u32::try_from(nearest).unwrap_or(u32::MAX)
    };
    if steps == 0 { from } else { Point::new(along(from.x, to.x), along(from.y, to.y)) }
}

/// Of a session that is read-only a click on an element follows its link, and sends no input.
fn may_be_link(action: &Action) -> bool {
    matches!(action, Action::Element(asked) if asked.is_plain_click())
}

fn not_allowed(what: &str) -> Refusal {
    let message = format!("the policy of this session does not allow {what}");
    Refusal::new(RefusalKind::NotPermitted, message)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::act::fake::{CTRL, Fake, Fault};
    use crate::act::{
        Button, Drag, Executor, ExecutorOptions, Hold, ImagePoint, InputEvent, Modifier, Modifiers,
        Path, Receipt, Request, Status, Step, Text,
    };

    fn at(x: f64, y: f64) -> ImagePoint {
        ImagePoint::new(x, y).unwrap()
    }

    fn rect(text: &str) -> Rect {
        text.parse().unwrap()
    }

    fn keys(text: &str) -> KeyPattern {
        text.parse().unwrap()
    }

    fn chord(text: &str) -> Action {
        Action::hotkey(text.split('+')).unwrap()
    }

    fn typing(text: &str) -> Action {
        Action::type_text(Text::new(text).unwrap())
    }

    fn hold(modifiers: &[Modifier], keys: &[&str], actions: Vec<Action>) -> Action {
        Action::Hold(Hold {
            keys: keys.iter().map(|key| key.parse().unwrap()).collect(),
            modifiers: Modifiers::new(modifiers.iter().copied()).unwrap(),
            duration: Duration::from_millis(900),
            actions,
        })
    }

    fn sequence(actions: impl IntoIterator<Item = Action>) -> Action {
        let step = |action| Step { wait: Duration::from_millis(100), action };
        Action::Sequence(actions.into_iter().map(step).collect())
    }

    fn super_click() -> Action {
        let modifiers = Modifiers::one(Modifier::Super);
        Action::Click { at: at(1.0, 1.0), button: Button::Left, count: 1, modifiers }
    }

    #[test]
    fn names_texts_and_chords() {
        use Modifier::{Alt, Ctrl, Super};
        let all = Policy::allow_all;
        let click = || Action::click(at(1.0, 1.0));
        for (policy, action, forbidden) in [
            (all().allow_only(["click"]), click(), None),
            (all().allow_only(["click"]), Action::Observe, None),
            (all().allow_only(["click"]), Action::SelectAll, Some("select_all")),
            (all().allow_only(["click"]), sequence([click()]), Some("sequence")),
            (all().allow_only(["click", "sequence"]), sequence([click()]), None),
            (all().allow_only(["click", "key"]).deny("click"), click(), Some("click")),
            (all().allow_only(["click", "key"]).allow_only(["key"]), click(), Some("click")),
            (all().deny("observe"), Action::Observe, Some("observe")),
            (all().deny("click"), hold(&[Ctrl], &[], vec![click()]), Some("click")),
            (
                Policy::nothing("the file is gone"),
                Action::Observe,
                Some("observe: the file is gone"),
            ),
            (all().most_characters(3), typing("äöü"), None),
            (
                all().most_characters(3).most_characters(9),
                sequence([typing("abc"), typing("abcd")]),
                Some("texts of more than 3 characters, such as 4"),
            ),
            (
                all().deny_keys(keys("alt+f4")),
                chord("alt+f4"),
                Some("the keys alt+f4 (its rule is alt+f4)"),
            ),
            (
                all().deny_keys(keys("alt+f4")),
                chord("shift+alt+f4"),
                Some("the keys shift+alt+f4 (its rule is alt+f4)"),
            ),
            (all().deny_keys(keys("alt+f4")), chord("ctrl+f4"), None),
            (
                all().deny_keys(keys("alt+ctrl+del")),
                hold(&[Ctrl, Alt], &["a", "delete"], vec![]),
                Some("the keys ctrl+alt+delete (its rule is alt+ctrl+delete)"),
            ),
            (
                all().deny_keys(keys("super+*")),
                chord("win+l"),
                Some("the keys super+l (its rule is super+*)"),
            ),
            (
                all().deny_keys(keys("super+*")),
                hold(&[Super], &[], vec![]),
                Some("the keys super (its rule is super+*)"),
            ),
            (
                all().deny_keys(keys("super+*")),
                sequence([super_click()]),
                Some("the keys super (its rule is super+*)"),
            ),
            (
                all().deny_keys(keys("ctrl+a")),
                Action::SelectAll,
                Some("the keys ctrl+a (its rule is ctrl+a)"),
            ),
            (all().deny_keys(keys("return")), typing("ab"), None),
            (
                all().deny_keys(keys("return")),
                typing("a\nb"),
                Some("the keys return (its rule is return)"),
            ),
            (all().allow_keys(keys("ctrl+*")).allow_keys(keys("tab")), chord("ctrl+s"), None),
            (all().allow_keys(keys("ctrl+*")).allow_keys(keys("tab")), chord("tab"), None),
            (all().allow_keys(keys("ctrl+*")), chord("ctrl+alt+s"), Some("the keys ctrl+alt+s")),
            (all().allow_keys(keys("ctrl+*")), typing("a\tb"), None),
            (all().allow_keys(keys("ctrl+*")), super_click(), None),
        ] {
            let told = format!("{policy:?} {action:?}");
            let refusal = policy.permit(&action).err();
            let message = refusal.as_ref().map(|refusal| refusal.message().to_owned());
            let expected =
                forbidden.map(|what| format!("the policy of this session does not allow {what}"));
            assert_eq!(message, expected, "{told}");
            assert!(refusal.is_none_or(|refusal| refusal.kind() == RefusalKind::NotPermitted));
        }
    }

    #[test]
    fn patterns_say_what_is_wrong() {
        for (text, message) in [
            ("", "there is no key ''"),
            ("alt+", "there is no key ''"),
            ("f4+alt", "'alt' is a modifier"),
            ("hyper+a", "there is no modifier 'hyper'"),
            ("*+a", "there is no modifier of 1 characters"),
            ("alt+alt+a", "the modifier alt stands there twice"),
        ] {
            let refusal = text.parse::<KeyPattern>().unwrap_err();
            assert!(refusal.message().starts_with(message), "{text}: {refusal}");
        }
        assert_eq!(keys("Win + Enter").to_string(), "super+return");
    }

    fn act(fake: &mut Fake, policy: Policy, action: Action) -> Receipt {
        let clock = fake.clock.clone();
        let mut executor = Executor::new(fake, clock, ExecutorOptions::new().policy(policy));
        let id = executor.observe().unwrap().id;
        executor.execute(&Request::new(action, id)).unwrap()
    }

    #[test]
    fn regions_and_windows() {
        let all = Policy::allow_all;
        let click = |x| Action::click(at(x, 10.0));
        let drag = |from, to| Action::Drag(Drag::new(at(from, 10.0), at(to, 10.0)));
        let through = |via: f64| {
            Action::DragAlong(Path {
                from: at(10.0, 10.0),
                via: vec![at(via, 10.0)],
                to: at(20.0, 10.0),
                duration: Duration::ZERO,
            })
        };
        let left = || all().allow_region(rect("0,0,50,100")).allow_region(rect("90,0,10,100"));
        let not_right = || all().deny_region(rect("50,0,50,100"));
        let no_mail = || all().deny_window(Glob::new("*mail*"));
        let notes = || all().allow_window(Glob::new("notes"));
        // The windows: 0..50 "Notes", 50..100 "My Mail". Notes has the focus.
        for (policy, action, forbidden) in [
            (left(), click(10.0), None),
            (left(), click(95.0), None),
            (
                left(),
                click(50.0),
                Some("input at (50, 10), only in x=0 y=0 w=50 h=100 or x=90 y=0 w=10 h=100"),
            ),
            (left(), Action::SelectAll, None),
            (left(), drag(10.0, 60.0), Some("input at (60, 10), only in")),
            (not_right(), click(49.9), None),
            (
                not_right(),
                click(50.0),
                Some("input at (50, 10), which lies in x=50 y=0 w=50 h=100"),
            ),
            (not_right(), through(60.0), Some("input at (60, 10), which lies in")),
            // Neither end lies there, the way does.
            (
                all().deny_region(rect("40,0,9,11")),
                drag(10.0, 60.0),
                Some("input at (40, 10), which lies in x=40 y=0 w=9 h=11"),
            ),
            (all().deny_region(rect("40,0,9,10")), drag(10.0, 60.0), None),
            (
                all().deny_region(rect("31,0,1,100")),
                through(45.0),
                Some("input at (31, 10), which lies in"),
            ),
            (left(), drag(10.0, 95.0), Some("input at (50, 10), only in")),
            (left(), drag(10.0, 49.0), None),
            (
                not_right(),
                hold(&[], &["a"], vec![click(10.0), click(70.0)]),
                Some("input at (70, 10), which lies in"),
            ),
            (left().deny_region(rect("0,0,20,20")), click(10.0), Some("input at (10, 10), which")),
            (no_mail(), click(10.0), None),
            (
                no_mail(),
                sequence([click(10.0), click(70.0)]),
                Some("the window \"My Mail\" at (70, 10) (its rule is *mail*)"),
            ),
            (no_mail(), Action::SelectAll, None),
            (notes(), click(70.0), Some("the window \"My Mail\" at (70, 10)")),
            (notes(), click(10.0), None),
            (
                all().deny_window(Glob::new("notes")),
                typing("ab"),
                Some("the window \"Notes\" with the focus (its rule is notes)"),
            ),
            // What is clicked first gets the keys.
            (all().deny_window(Glob::new("notes")), sequence([click(70.0), typing("ab")]), None),
        ] {
            let mut fake = Fake::new(100, 100);
            fake.windows = vec!["Notes", "My Mail"];
            let told = format!("{policy:?} {action:?}");
            let refusal = act(&mut fake, policy, action).refusal;
            let message = refusal.as_ref().map_or("", |refusal| refusal.message());
            assert_eq!(refusal.is_some(), forbidden.is_some(), "{told}: {message}");
            if let Some(what) = forbidden {
                let expected = format!("the policy of this session does not allow {what}");
                assert!(message.starts_with(&expected), "{told}: {message}");
                assert_eq!(fake.events, [], "{told}");
            }
        }
        let refusal = act(&mut Fake::new(100, 100), no_mail(), click(10.0)).refusal.unwrap();
        assert_eq!(
            refusal.message(),
            "the policy of this session does not allow input where it cannot name the window: this \
             surface does not say which is at (10, 10)"
        );
    }

    #[test]
    fn what_is_revoked_stops_lets_go_and_says_so() {
        let tap = || Action::key("a".parse().unwrap());
        let drag = || Action::Drag(Drag::new(at(2.0, 3.0), at(12.0, 9.0)));
        for (action, index, attempted) in [
            (sequence([tap(), tap(), tap()]), 1, 1),
            (sequence([tap(), drag(), tap()]), 5, 2),
            (drag(), 3, 0),
            (hold(&[Modifier::Ctrl], &["a"], vec![]), 1, 0),
        ] {
            for policy in [Policy::nothing("it is late"), Policy::read_only()] {
                let mut fake = Fake::new(100, 100);
                let access = Access::new(Policy::allow_all());
                fake.fault = Some((index, Fault::Revokes(access.clone(), Box::new(policy))));
                let clock = fake.clock.clone();
                let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new())
                    .with_access(access.clone());
                let id = executor.observe().unwrap().id;
                let receipt = executor.execute(&Request::new(action.clone(), id)).unwrap();
                let told = format!("{action:?}: {:?}", receipt.message);
                assert_eq!(receipt.status, Status::Unknown, "{told}");
                assert_eq!(receipt.delivery.delivered_count, index + 1, "{told}");
                let message = receipt.message.unwrap();
                assert!(message.contains("access was revoked: "), "{told}");
                assert!(message.contains("never repeat this action"), "{told}");
                if let Some(report) = receipt.sequence {
                    assert_eq!(
                        (report.stop_reason, report.attempted),
                        (Some("revoked"), attempted)
                    );
                }
                let held = receipt.held_after.unwrap();
                assert!(held.verified && held.is_empty(), "{told}");
                // Nothing is sent any more.
                let before = receipt.after.unwrap();
                let again = executor.execute(&Request::new(tap(), before)).unwrap();
                assert_eq!(again.status, Status::Refused);
            }
        }
    }

    #[test]
    fn a_change_that_still_allows_the_action_lets_it_go_on() {
        let mut fake = Fake::new(100, 100);
        let access = Access::new(Policy::allow_all());
        let narrower = Policy::allow_all().allow_only(["key"]);
        fake.fault = Some((0, Fault::Revokes(access.clone(), Box::new(narrower))));
        let clock = fake.clock.clone();
        let mut executor =
            Executor::new(&mut fake, clock, ExecutorOptions::new()).with_access(access);
        let id = executor.observe().unwrap().id;
        let action =
            Action::Key { key: "a".parse().unwrap(), modifiers: Modifiers::one(Modifier::Ctrl) };
        let receipt = executor.execute(&Request::new(action, id)).unwrap();
        assert_eq!(receipt.status, Status::Delivered);
        drop(executor);
        assert_eq!(fake.events.first(), Some(&InputEvent::Key { code: CTRL, down: true }));
        assert!(fake.held.is_empty());
    }
}

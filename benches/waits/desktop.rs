//! A scripted desktop: what each of its actions shows at each moment, from the input on.

use seechange::{Frame, PixelFormat, Rect, Size};

/// The desktop's size.
pub(crate) const SIZE: (u32, u32) = (640, 400);

/// A box of one grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fill {
    pub(crate) rect: Rect,
    pub(crate) grey: u8,
}

/// What is shown on top of the page.
pub(crate) type Picture = Vec<Fill>;

/// What one input sets off.
pub(crate) struct Action {
    pub(crate) name: &'static str,
    /// When its last effect is on the screen, in milliseconds after the input.
    pub(crate) done_ms: u64,
    draw: Box<dyn Fn(u64) -> Picture + Send + Sync>,
}

impl Action {
    fn new(
        name: &'static str,
        done_ms: u64,
        draw: impl Fn(u64) -> Picture + Send + Sync + 'static,
    ) -> Self {
        Self { name, done_ms, draw: Box::new(draw) }
    }

    /// What is shown `ms` after the input.
    pub(crate) fn picture(&self, ms: u64) -> Picture {
        (self.draw)(ms)
    }

    /// The same, with a caret that blinks all the while.
    fn beside(self, blink: Blink) -> Self {
        let draw = self.draw;
        Self::new(self.name, self.done_ms, move |ms| {
            let mut picture = draw(ms);
            picture.extend(caret(560, ms, blink));
            picture
        })
    }
}

/// The rhythm of a caret, in milliseconds.
#[derive(Clone, Copy)]
struct Blink {
    /// As long shown as hidden.
    half: u64,
    /// How long before the input it was shown.
    phase: u64,
}

/// Small whole numbers that are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) % limit
    }

    /// Those of Chromium, Windows and GTK.
    fn blink(&mut self) -> Blink {
        let half = match self.below(3) {
            0 => 500,
            1 => 530,
            _ => 600,
        };
        Blink { half, phase: self.below(2 * half) }
    }

    /// `ms`, a tenth more or less.
    fn about(&mut self, ms: u64) -> u64 {
        ms * (90 + self.below(21)) / 100
    }
}

/// The twenty actions. Whatever takes long shows that it is at work: nothing stands still for 250 ms
/// before it is done.
pub(crate) fn twenty(seed: u64) -> Vec<Action> {
    let mut dice = Dice(seed);
    let mut actions = quick(&mut dice);
    actions.extend(animated(&mut dice));
    actions.extend(slow(&mut dice));
    actions
}

fn quick(dice: &mut Dice) -> Vec<Action> {
    let (phase, other) = (dice.blink(), dice.blink());
    let pressed = dice.about(120);
    vec![
        pops("a box is ticked", dice.about(50), fill(60, 60, 12, 12, 40)),
        pops("a tab is chosen", dice.about(80), fill(40, 80, 400, 200, 215)),
        Action::new("a button is pressed and let go", pressed, move |ms| match ms {
            ms if ms < 20 => vec![],
            ms if ms < pressed => vec![fill(480, 40, 80, 24, 150)],
            _ => vec![fill(480, 40, 80, 24, 110)],
        })
        .beside(phase),
        fades("a menu opens", 70, dice.about(150), (40, 30, 120, 160), 40),
        types("one letter is typed", 1, dice.about(200), 0),
        toast_leaves("a list comes while an old toast goes", dice.about(250)).beside(other),
    ]
}

fn animated(dice: &mut Dice) -> Vec<Action> {
    let (fade, tip) = (dice.about(300), dice.about(400));
    let phase = dice.blink();
    vec![
        fades("a dialog fades in", 30, fade, (160, 100, 320, 180), 60),
        fades("a tooltip comes after a while", tip - 180, tip, (300, 200, 110, 22), 30),
        toast_comes("a toast slides in", dice.about(500)),
        types("a word is typed", 10, dice.about(600), 40),
        scrolls("a list scrolls and comes to rest", dice.about(700)).beside(phase),
        loads("a page loads in pieces", dice.about(800)),
    ]
}

fn slow(dice: &mut Dice) -> Vec<Action> {
    let (one, two) = (dice.blink(), dice.blink());
    let window = dice.about(2200);
    let long = dice.about(4000);
    let opens = fades("", 20, 200, (80, 60, 440, 260), 30);
    let bar = progress("", long * 3 / 4, 110);
    vec![
        spins("a spinner, then the answer", 40, dice.about(1000)),
        fades("a picture fades in slowly", 30, dice.about(1200), (60, 80, 300, 200), 30),
        spins("a spinner beside a caret", 20, dice.about(1500)).beside(one),
        progress("a bar fills evenly", dice.about(1800), 120),
        Action::new("a window opens, spins and fills", window, move |ms| {
            let mut picture = opens.picture(ms);
            picture.extend(spinner(ms, 220, window));
            picture.extend((ms >= window).then_some(fill(120, 100, 300, 40, 90)));
            picture
        }),
        progress("a bar fills unevenly", dice.about(2600), 0),
        fades("a banner fades in very slowly", 30, dice.about(3200), (0, 0, 640, 40), 40),
        Action::new("a bar, a spinner, then the answer", long, move |ms| {
            let mut picture = bar.picture(ms);
            picture.extend(spinner(ms, long * 3 / 4, long));
            picture.extend((ms >= long).then_some(fill(60, 100, 240, 30, 80)));
            picture
        })
        .beside(two),
    ]
}

/// Four that show nothing of what they are at until it is done, and where their end can be seen.
pub(crate) fn silent(seed: u64) -> Vec<(Action, Rect)> {
    let mut dice = Dice(!seed);
    let (one, two) = (dice.blink(), dice.about(1400));
    let end = rect(200, 120, 200, 40);
    let answer = move |grey| Fill { rect: end, grey };
    let pressed = move |ms: u64| (ms >= 20).then(|| fill(480, 40, 80, 24, 150));
    let (three, four) = (dice.about(2000), dice.about(3000));
    let after_press = move |name, done: u64| {
        Action::new(name, done, move |ms| {
            pressed(ms).into_iter().chain((ms >= done).then(|| answer(70))).collect()
        })
    };
    vec![
        (pops("a dialog after a silence", dice.about(800), answer(70)), end),
        (after_press("a button's look, then silence", two), end),
        (after_press("the same beside a caret", three).beside(one), end),
        (pops("an answer after a long silence", four, answer(70)), end),
    ]
}

/// Something is there from one moment on.
fn pops(name: &'static str, done: u64, what: Fill) -> Action {
    Action::new(name, done, move |ms| (ms >= done).then_some(what).into_iter().collect())
}

/// A box that gets darker by one level at a time, `levels` in all.
fn fades(
    name: &'static str,
    from: u64,
    done: u64,
    (x, y, width, height): (u32, u32, u32, u32),
    levels: u64,
) -> Action {
    Action::new(name, done, move |ms| {
        let level =
            if ms >= done { levels } else { levels * ms.saturating_sub(from) / (done - from) };
        let grey = PAGE - u8::try_from(level).unwrap_or(PAGE);
        (level > 0).then(|| fill(x, y, width, height, grey)).into_iter().collect()
    })
}

/// Letters one after the other, the caret behind the last one.
fn types(name: &'static str, letters: u64, done: u64, from: u64) -> Action {
    Action::new(name, done, move |ms| {
        let times: Vec<u64> =
            (1..=letters).map(|letter| from + (done - from) * letter / letters).collect();
        let typed = times.iter().filter(|time| **time <= ms).count();
        let x = |letter: usize| 60 + 8 * u32::try_from(letter).unwrap_or(0);
        // Thin upright letters, as carets are.
        let mut picture: Picture =
            (0..typed).map(|letter| fill(x(letter), 352, 2, 12, 50)).collect();
        let last = times[..typed].last();
        // A caret is shown anew at each letter.
        let shown = Blink { half: 530, phase: 0 };
        picture.extend(caret(x(typed), last.map_or(ms + 300, |last| ms - last), shown));
        picture
    })
}

fn caret(x: u32, ms: u64, Blink { half, phase }: Blink) -> Option<Fill> {
    ((ms + phase) % (2 * half) < half).then(|| fill(x, 350, 2, 16, 0))
}

fn toast(height: u32) -> Option<Fill> {
    (height > 0).then(|| fill(420, 400 - height, 200, height, 60))
}

/// Comes in ten steps, stays, and goes by itself long after the action is done.
fn toast_comes(name: &'static str, done: u64) -> Action {
    Action::new(name, done, move |ms| {
        let from = done - 300;
        let step = if ms >= done { 10 } else { ms.saturating_sub(from) / 30 };
        let is_there = ms < done + 3000;
        toast(if is_there { 4 * u32::try_from(step).unwrap_or(0) } else { 0 })
            .into_iter()
            .chain(spinner(ms, 20, from))
            .collect()
    })
}

fn toast_leaves(name: &'static str, done: u64) -> Action {
    Action::new(name, done, move |ms| {
        let list = (ms >= done).then(|| fill(40, 100, 240, 120, 200));
        toast(if ms < 100 { 40 } else { 0 }).into_iter().chain(list).collect()
    })
}

/// Lines that move up and slow down.
fn scrolls(name: &'static str, done: u64) -> Action {
    Action::new(name, done, move |ms| {
        let left = (done.saturating_sub(ms)).min(done);
        // Quadratic, but never without a step for long.
        let travelled = 160 - (160 * left * left / (done * done)).max(left * 8 / done);
        let offset = u32::try_from(travelled).unwrap_or(0);
        (0..6).map(|line| fill(330, 270 - offset + line * 14, 180, 7, 90)).collect()
    })
}

/// Six boxes at uneven times.
fn loads(name: &'static str, done: u64) -> Action {
    Action::new(name, done, move |ms| {
        let shares = [10, 20, 45, 55, 80, 100];
        let boxes = shares.iter().zip(0..).filter(|(share, _)| done * **share / 100 <= ms);
        boxes.map(|(_, index)| fill(40, 80 + index * 40, 380, 28, 180)).collect()
    })
}

fn spins(name: &'static str, from: u64, done: u64) -> Action {
    Action::new(name, done, move |ms| {
        let answer = (ms >= done).then(|| fill(60, 100, 240, 30, 80));
        spinner(ms, from, done).into_iter().chain(answer).collect()
    })
}

/// Eight dots of which one is dark, another every 80 ms; gone when the work is.
fn spinner(ms: u64, from: u64, until: u64) -> Picture {
    const PLACES: [(u32, u32); 8] =
        [(10, 0), (17, 3), (20, 10), (17, 17), (10, 20), (3, 17), (0, 10), (3, 3)];
    if !(from..until).contains(&ms) {
        return vec![];
    }
    let dark = usize::try_from(ms / 80 % 8).unwrap_or(0);
    let dots = PLACES.iter().enumerate();
    dots.map(|(index, (x, y))| fill(300 + x, 180 + y, 5, 5, if index == dark { 40 } else { 200 }))
        .collect()
}

/// A bar that grows every `every` ms, or after uneven times of 60 to 230 ms for 0.
fn progress(name: &'static str, done: u64, every: u64) -> Action {
    let steps = steps(done, every);
    Action::new(name, done, move |ms| {
        let passed = steps.iter().filter(|step| **step <= ms).count();
        let width = u32::try_from(400 * passed / steps.len()).unwrap_or(0);
        let bar = (width > 0).then(|| fill(100, 300, width, 12, 70));
        std::iter::once(fill(100, 296, 400, 2, 120)).chain(bar).collect()
    })
}

fn steps(done: u64, every: u64) -> Vec<u64> {
    const UNEVEN: [u64; 5] = [60, 230, 90, 200, 140];
    let gaps = UNEVEN.iter().cycle().map(|gap| if every > 0 { every } else { *gap });
    let mut steps: Vec<u64> = gaps
        .scan(0, |at, gap| {
            *at += gap;
            Some(*at)
        })
        .take_while(|at| *at < done)
        .collect();
    steps.push(done);
    steps
}

/// The grey of the page.
const PAGE: u8 = 240;

fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
    Rect::new(x, y, width, height).expect("the script's boxes are no empty ones")
}

fn fill(x: u32, y: u32, width: u32, height: u32, grey: u8) -> Fill {
    Fill { rect: rect(x, y, width, height), grey }
}

/// The page without anything on it: lines of "text".
pub(crate) fn page() -> Picture {
    let all = std::iter::once(fill(0, 0, SIZE.0, SIZE.1, PAGE));
    let words = (0..14)
        .flat_map(|line| (0..5).map(move |word| fill(530 + word * 20, 50 + line * 20, 14, 5, 130)));
    all.chain(words).collect()
}

/// A picture as a frame.
pub(crate) fn frame(picture: &[Fill]) -> Frame {
    let size = Size::new(SIZE.0, SIZE.1).expect("a size within the limits");
    let mut frame = Frame::filled(size, PixelFormat::Bgrx, [PAGE, PAGE, PAGE, 255]);
    for fill in page().iter().chain(picture) {
        for y in fill.rect.y()..fill.rect.bottom() {
            let at = |x: u32| (y * SIZE.0 + x) as usize * 4;
            let row = &mut frame.data_mut()[at(fill.rect.x())..at(fill.rect.right())];
            row.chunks_exact_mut(4).for_each(|pixel| pixel[..3].fill(fill.grey));
        }
    }
    frame
}

//! When it is looked: what looks may cost, and damage.

use super::*;

/// A surface drawn as a function of time that also tells damage.
struct Telling<F> {
    inner: Script<F>,
    damage: Vec<(Duration, Rect)>,
    seen_at: Duration,
}

impl<F: FnMut(Duration) -> Shot> Source for Telling<F> {
    fn geometry(&mut self) -> Result<Geometry> {
        self.inner.geometry()
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        self.seen_at = self.inner.clock.now();
        self.inner.capture(region, give_up, frame)
    }

    fn watch_damage(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn rest(
        &mut self,
        until: Duration,
        concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Rest> {
        let is_news = |at: Duration| at > self.seen_at && at < until;
        let mut news = self.damage.iter().filter(|(at, rect)| is_news(*at) && concerns(*rect));
        let woken = news.next().map(|(at, _)| *at);
        let slept = clock.sleep_until(woken.unwrap_or(until), cancel);
        Ok(match woken {
            _ if !slept => Rest::Cancelled,
            Some(_) => Rest::Damaged,
            None => Rest::Elapsed,
        })
    }
}

/// Plays with damage everywhere at these times.
fn play_told(
    draw: impl FnMut(Duration) -> Shot,
    damage: impl IntoIterator<Item = u64>,
    condition: &Condition,
    options: WaitOptions,
) -> Run {
    play_costly(draw, 0, damage, condition, options)
}

fn play_costly(
    draw: impl FnMut(Duration) -> Shot,
    cost: u64,
    damage: impl IntoIterator<Item = u64>,
    condition: &Condition,
    options: WaitOptions,
) -> Run {
    let clock = Clock::simulated();
    let damage = damage.into_iter().map(|at| (ms(at), rect(20, 20, 30, 20))).collect();
    let inner =
        Script { draw, cost: ms(cost), scale: 1.0, clock: clock.clone(), ids: 0, began: vec![] };
    let mut source = Telling { inner, damage, seen_at: Duration::ZERO };
    let outcome = wait(&mut source, condition, &options, &clock, &Cancel::never()).unwrap();
    Run { outcome, began: source.inner.began }
}

fn first_sight() -> Condition {
    Condition::changed().captures(1).hold(Duration::ZERO)
}

fn changes_at(at: u64) -> impl FnMut(Duration) -> Shot {
    move |time| Shot::Shows(with_if(time >= ms(at), (rect(20, 20, 30, 20), 90)))
}

fn damaged_looks(outcome: &Outcome) -> u32 {
    outcome.timeline.entries().map(|entry| entry.damaged).sum()
}

#[test]
fn damage_wakes_at_once_and_pixels_judge() {
    let slow = || timeout(5000).interval(ms(1000));
    for seed in 0..SEEDS {
        let run = play_told(changes_at(420), [420], &first_sight(), slow().seed(seed));
        assert_eq!((run.outcome.met_at, run.began.len()), (Some(ms(420)), 2), "seed {seed}");
        assert_eq!(damaged_looks(&run.outcome), 1);
        // What stands needs its hold and its count all the same.
        let run = play_told(changes_at(420), [420], &Condition::changed(), slow().seed(seed));
        assert_eq!(run.outcome.met_at, Some(ms(670)), "seed {seed}");
        // Seen a moment after the damage.
        let options = timeout(5000).seed(seed);
        let run = play_told(changes_at(430), [420], &first_sight(), options);
        let met_at = run.outcome.met_at.unwrap();
        assert!(ms(430) <= met_at && met_at <= ms(420 + 70), "seed {seed}: {met_at:?}");
        assert_eq!(run.outcome.flags, [], "seed {seed}");
    }
}

#[test]
fn damage_without_change_is_told_as_possibly_missed() {
    for seed in 0..SEEDS {
        let options = || timeout(2000).seed(seed);
        let still = |_| Shot::Shows(page());
        let run = play_told(still, [700], &first_sight(), options());
        assert_eq!(run.outcome.flags, [Flag::DamageWithoutChange]);
        assert_eq!(damaged_looks(&run.outcome), 1);
        let run = play_told(still, [700], &Condition::stable().hold(ms(900)), options());
        assert_eq!(run.outcome.kind, OutcomeKind::Met);
        assert_eq!(run.outcome.flags, [Flag::DamageWithoutChange]);
        // A flash between two looks, and then a change with damage of its own.
        let run = play_told(changes_at(900), [700, 900], &first_sight(), options());
        assert_eq!(run.outcome.met_at, Some(ms(900)), "seed {seed}");
        assert_eq!(run.outcome.flags, [Flag::DamageWithoutChange]);
        // Outside of the scope.
        let elsewhere = Scope::everything().region(rect(100, 60, 50, 30));
        let run = play_told(still, [700], &first_sight().scope(elsewhere), options());
        assert_eq!((run.outcome.flags.len(), damaged_looks(&run.outcome)), (0, 0));
    }
}

#[test]
fn looks_are_seldom_while_nothing_is_told_and_not_too_seldom() {
    let (ten, still) = (timeout(10_000), |_: Duration| Shot::Shows(page()));
    for seed in 0..SEEDS {
        let told = play_told(still, [], &first_sight(), ten.clone().seed(seed)).began;
        assert!((12..=30).contains(&told.len()), "seed {seed}: {}", told.len());
        let longest = told.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(longest <= ms(1050), "seed {seed}: {longest:?}");
        let polled = play(still, 0, &first_sight(), ten.clone().seed(seed)).began.len();
        assert!((150..=260).contains(&polled), "seed {seed}: {polled}");
        // A program that draws the same again and again.
        let storm = (0..10_000).step_by(5);
        let run = play_told(still, storm, &first_sight(), ten.clone().seed(seed));
        assert!(run.began.len() <= 80, "seed {seed}: {}", run.began.len());
        // A caret: a look for each blink, and hardly more.
        let draw = |time: Duration| {
            let time = u64::try_from(time.as_millis()).unwrap();
            Shot::Shows(with(&caret_at(CARET.0, blinks(time, 500, 500, 0))))
        };
        let told = (0..10_000).step_by(500);
        let run = play_told(draw, told, &Condition::changed(), ten.clone().seed(seed));
        assert_eq!(run.outcome.kind, OutcomeKind::TimedOut);
        assert!(run.began.len() <= 60, "seed {seed}: {}", run.began.len());
    }
}

/// A surface that tells some damage, but not what matters.
#[test]
fn untold_changes_end_the_trust_in_damage() {
    for seed in 0..SEEDS {
        let draw = |time: Duration| {
            let step = u8::try_from(time.as_millis() / 800).unwrap();
            Shot::Shows(with(&[(rect(20, 20, 30, 20), 90 + 9 * step)]))
        };
        let options = timeout(8000).seed(seed);
        let condition = Condition::stable().hold(ms(7000));
        let began = play_told(draw, [5000], &condition, options).began;
        let late: Vec<Duration> = began.into_iter().filter(|at| *at > ms(4000)).collect();
        let longest = late.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(longest <= ms(70), "seed {seed}: {longest:?}");
    }
}

#[test]
fn gaps_grow_with_the_cost_of_a_look_and_shrink_on_change() {
    for seed in 0..SEEDS {
        let options = timeout(8000).seed(seed).max_cpu(0.1);
        let condition = Condition::changed().hold(ms(1000));
        let run = play(changes_at(5000), 20, &condition, options);
        let gaps = |from: u64, to: u64| {
            let inside = run.began.iter().filter(move |at| (ms(from)..ms(to)).contains(at));
            let inside: Vec<Duration> = inside.copied().collect();
            inside.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
        };
        let quiet = gaps(2000, 5000);
        assert!(quiet.iter().all(|gap| *gap >= ms(120)), "seed {seed}: {quiet:?}");
        let onset = run.outcome.onset.unwrap();
        let next = run.began.iter().find(|at| **at > onset).unwrap();
        assert!(*next - onset <= ms(90), "seed {seed}: {onset:?} {next:?}");
        assert!(run.outcome.is_met(), "seed {seed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn looks_keep_to_their_share(
        script in scripts(),
        seed: u64,
        cost in 1_u64..60,
        percent in 1_u32..30,
        damage in prop::collection::vec(0_u64..12_000, 0..400),
        restless: bool,
    ) {
        let total = 12_000;
        let draw = |time: Duration| {
            let step = u8::try_from(time.as_millis() / 50 % 5).unwrap();
            Shot::Shows(picture(if restless { step } else { standing(&script, time) }))
        };
        let share = f64::from(percent) / 100.0;
        let options = timeout(total).seed(seed).max_cpu(share);
        let condition = Condition::appears(patch());
        let mut damage = damage;
        damage.sort_unstable();
        let run = play_costly(draw, cost, damage, &condition, options);
        let spent = f64::from(u32::try_from(run.began.len()).unwrap()) * ms(cost).as_secs_f64();
        // What was saved, and two looks on credit: the one that used it up and the last.
        let may = share * (ms(total).as_secs_f64() + 5.0) + 2.0 * ms(cost).as_secs_f64();
        prop_assert!(spent <= may + 1e-9, "{spent} of {may}");
    }

    #[test]
    fn with_damage_a_wait_keeps_its_promises(
        script in scripts(),
        seed: u64,
        hold in 0_u64..600,
        captures in 1_u32..4,
        more in 1_u64..3000,
        cost in 0_u64..40,
        mut damage in prop::collection::vec(0_u64..4000, 0..60),
        honest: bool,
    ) {
        let total = (hold + more).max(50 * u64::from(captures));
        let condition = Condition::stable().hold(ms(hold)).captures(captures);
        let options = timeout(total).seed(seed);
        if honest {
            damage.extend(script.iter().map(|(at, _)| *at));
        }
        damage.sort_unstable();
        let draw = |time| Shot::Shows(picture(standing(&script, time)));
        let run = play_costly(draw, cost, damage.clone(), &condition, options.clone());
        let last = *run.began.last().unwrap();
        prop_assert!(last < ms(total) || run.began.len() == 1);
        prop_assert!(run.outcome.elapsed <= ms(total) + ms(cost));
        if run.outcome.is_met() {
            prop_assert!(last - run.began[0] >= ms(hold));
            prop_assert!(run.began.len() >= captures as usize);
        } else {
            prop_assert!(last + ms(3) + ms(cost) >= ms(total), "last look at {last:?}");
        }
        let again = play_costly(draw, cost, damage.clone(), &condition, options.clone());
        prop_assert_eq!(again.began, run.began);
        prop_assert_eq!(again.outcome.timeline, run.outcome.timeline);
        // Damage is no picture: a source that gives none is never met.
        let stalls = |time| if time < ms(1) { Shot::Shows(page()) } else { Shot::Old(page()) };
        let stalled = play_costly(stalls, cost, damage, &condition.captures(2), options);
        prop_assert!(!stalled.outcome.is_met());
    }
}

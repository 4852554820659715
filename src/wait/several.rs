//! The outcome of several conditions.

use super::outcome::{Outcome, OutcomeKind, SetAside};

/// The outcome of the one condition there is.
pub(super) fn only(mut outcomes: Vec<Outcome>) -> Outcome {
    // A condition that is no `any` has exactly one.
    outcomes.swap_remove(0)
}

/// Of several: that of the one that was met first (ties by their order), or what is true of all.
pub(super) fn combined(outcomes: Vec<Outcome>) -> Outcome {
    let place = met_first(&outcomes).unwrap_or(0);
    let decisive = outcomes[place].clone();
    Outcome {
        kind: kind(&outcomes),
        condition: "any",
        label: "any".to_owned(),
        late: outcomes.iter().filter_map(|one| one.late).min().filter(|_| !decisive.is_met()),
        ignored: ignored(&outcomes),
        transients: distinct(&outcomes, |one| &one.transients),
        standing: distinct(&outcomes, |one| &one.standing),
        conditions: outcomes,
        ..decisive
    }
}

/// The wait is over at the first look that meets any, so those that are met are so at one time.
fn met_first(outcomes: &[Outcome]) -> Option<usize> {
    outcomes.iter().position(Outcome::is_met)
}

/// What they agree on. A source that stalls or is stale does so for all of them, but not all of
/// them can tell; else the time of the last of them was up.
fn kind(outcomes: &[Outcome]) -> OutcomeKind {
    let is_any = |kind: &OutcomeKind| outcomes.iter().any(|one| one.kind == *kind);
    let telling = [
        OutcomeKind::Met,
        OutcomeKind::Cancelled,
        OutcomeKind::CaptureStalled,
        OutcomeKind::SourceStale,
    ];
    let first = outcomes.first().map_or(OutcomeKind::TimedOut, |one| one.kind);
    match telling.into_iter().find(is_any) {
        Some(kind) => kind,
        None if outcomes.iter().all(|one| one.kind == first) => first,
        None => OutcomeKind::TimedOut,
    }
}

fn ignored(outcomes: &[Outcome]) -> SetAside {
    SetAside {
        carets: distinct(outcomes, |one| &one.ignored.carets),
        periodic: distinct(outcomes, |one| &one.ignored.periodic),
    }
}

/// What any of them has, in their order, each once.
fn distinct<T: Clone + PartialEq>(
    outcomes: &[Outcome],
    of: impl Fn(&Outcome) -> &Vec<T>,
) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for one in outcomes.iter().flat_map(of) {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
    all
}

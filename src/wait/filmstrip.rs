//! The looks of a wait worth keeping, in bounded space.

use std::time::Duration;

use crate::frame::Frame;
use crate::geometry::Rect;

use super::timeline::{Entry, LookVerdict};

/// Why a look was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// It was the first that was evidence.
    FirstLook,
    /// It was the first, after the input, in which something had moved.
    FirstChange,
    /// The boxes of what had moved in it were largest; of equals the first.
    BiggestChange,
}

impl Moment {
    /// `first_look`, `first_change` or `biggest_change`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstLook => "first_look",
            Self::FirstChange => "first_change",
            Self::BiggestChange => "biggest_change",
        }
    }
}

/// A look that was kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Why.
    pub moment: Moment,
    /// When its capture began, from the call's start.
    pub at: Duration,
    /// What had moved, in pixels of the surface.
    pub areas: Vec<Rect>,
    /// The pixels of the captured part.
    pub frame: Frame,
}

/// Keeps at most three frames of a wait, whatever its length: the first look, the first change and
/// the biggest. Together with the last look and at most sixteen transients they are its filmstrip.
///
/// For people with a loop of their own around [`Monitor`](super::Monitor): after each look that was
/// evidence, [`Self::see`] takes the latest entry of the timeline and the frame.
#[derive(Clone, Debug, Default)]
pub struct Filmstrip {
    starts_at: Duration,
    first_look: Option<Kept>,
    first_change: Option<Kept>,
    biggest: Option<(u64, Kept)>,
}

impl Filmstrip {
    /// An empty one. Changes before `starts_at`, the moment of the input, are none of its effects.
    #[must_use]
    pub fn new(starts_at: Duration) -> Self {
        Self { starts_at, ..Self::default() }
    }

    /// Takes in a look that was evidence and began at `at`: the latest `entry` of the timeline and
    /// the frame, which is copied only when it is kept.
    pub fn see(&mut self, at: Duration, entry: &Entry, frame: &Frame) {
        let kept = |moment| Kept { moment, at, areas: entry.areas.clone(), frame: frame.clone() };
        if self.first_look.is_none() {
            self.first_look = Some(Kept { areas: Vec::new(), ..kept(Moment::FirstLook) });
            return;
        }
        if entry.verdict != LookVerdict::Moved || at < self.starts_at {
            return;
        }
        if self.first_change.is_none() {
            self.first_change = Some(kept(Moment::FirstChange));
        }
        let pixels = entry.areas.iter().map(|area| area.pixels()).sum();
        match &mut self.biggest {
            Some((most, _)) if pixels <= *most => {}
            Some((most, biggest)) => {
                *most = pixels;
                biggest.at = at;
                biggest.areas.clone_from(&entry.areas);
                biggest.frame.copy_from(frame.as_ref());
            }
            none => *none = Some((pixels, kept(Moment::BiggestChange))),
        }
    }

    /// What was kept: the first look, the first change, the biggest change, as far as there were
    /// any.
    #[must_use]
    pub fn into_kept(self) -> Vec<Kept> {
        let biggest = self.biggest.map(|(_, kept)| kept);
        [self.first_look, self.first_change, biggest].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;

    fn entry(at: u64, sides: &[u32]) -> Entry {
        let at = Duration::from_millis(at);
        let square = |side: &u32| Rect::new(5, 5, *side, *side).unwrap();
        let verdict = if sides.is_empty() { LookVerdict::Still } else { LookVerdict::Moved };
        let areas = sides.iter().map(square).collect();
        Entry { at, until: at, looks: 1, frame: Some(1), verdict, areas, damaged: 0 }
    }

    fn frame(grey: u8) -> Frame {
        Frame::filled(Size::new(40, 30).unwrap(), PixelFormat::Bgrx, [grey, grey, grey, 255])
    }

    #[test]
    fn the_first_the_first_change_and_the_biggest_are_kept() {
        // Each row: when the input came; the sides of what moved in each look, 100 ms apart; which
        // looks are kept.
        for (starts_at, looks, kept) in [
            (0, vec![vec![]], vec![0]),
            (0, vec![vec![], vec![], vec![]], vec![0]),
            (0, vec![vec![], vec![10], vec![]], vec![0, 1, 1]),
            (0, vec![vec![], vec![10], vec![9], vec![20], vec![20], vec![]], vec![0, 1, 3]),
            (0, vec![vec![], vec![10], vec![8, 8]], vec![0, 1, 2]),
            (150, vec![vec![], vec![30], vec![5], vec![6]], vec![0, 2, 3]),
        ] {
            let mut strip = Filmstrip::new(Duration::from_millis(starts_at));
            for (number, sides) in (0_u8..).zip(&looks) {
                let at = u64::from(number) * 100;
                strip.see(Duration::from_millis(at), &entry(at, sides), &frame(number));
            }
            let found: Vec<u8> =
                strip.into_kept().iter().map(|kept| kept.frame.data()[0]).collect();
            assert_eq!(found, kept, "{looks:?}");
        }
    }

    #[test]
    fn a_long_wait_keeps_three_frames() {
        let mut strip = Filmstrip::default();
        for look in 0..3000_u32 {
            strip.see(Duration::ZERO, &entry(0, &[1 + look % 35]), &frame(1));
        }
        assert_eq!(strip.into_kept().len(), 3);
    }
}

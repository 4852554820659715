//! When to look: irregular, repeatable gaps.

use std::time::Duration;

/// The shortest and the longest gap, as parts of the interval.
const SHORTEST: f64 = 0.6;
const LONGEST: f64 = 1.4;

/// A longer interval has gaps past the end of time.
const LONGEST_INTERVAL: Duration = Duration::from_secs(u64::MAX / 2);

/// Gaps of 0.6 to 1.4 of the interval, the same ones for the same seed, so that a pulse cannot
/// hide in step with the looks.
#[derive(Clone, Debug)]
pub(crate) struct Gaps {
    interval: Duration,
    state: u64,
}

impl Gaps {
    pub(crate) fn new(interval: Duration, seed: u64) -> Self {
        Self { interval: interval.min(LONGEST_INTERVAL), state: seed }
    }

    /// The next gap, no longer than `limit`.
    pub(crate) fn draw(&mut self, limit: Duration) -> Duration {
        let shortest = self.interval.min(limit).mul_f64(SHORTEST);
        let longest = self.interval.mul_f64(LONGEST).min(limit);
        shortest + (longest - shortest).mul_f64(self.fraction())
    }

    /// Uniform in 0..1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64")]
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_irregular_bounded_and_repeatable() {
        let interval = Duration::from_millis(100);
        assert!(Gaps::new(Duration::MAX, 1).draw(Duration::MAX) > Duration::from_secs(1 << 60));
        for seed in [0, 1, 7, u64::MAX] {
            let (mut one, mut other) = (Gaps::new(interval, seed), Gaps::new(interval, seed));
            let drawn: Vec<Duration> = (0..200).map(|_| one.draw(Duration::MAX)).collect();
            assert!(drawn.iter().all(|gap| *gap == other.draw(Duration::MAX)));
            let range = Duration::from_millis(60)..=Duration::from_millis(140);
            assert!(drawn.iter().all(|gap| range.contains(gap)));
            let (short, long) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
            assert!(*long - *short > Duration::from_millis(70), "{short:?}..{long:?}");
            let limited: Vec<Duration> =
                (0..200).map(|_| one.draw(Duration::from_millis(50))).collect();
            let range = Duration::from_millis(30)..=Duration::from_millis(50);
            assert!(limited.iter().all(|gap| range.contains(gap)));
        }
    }
}

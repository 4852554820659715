//! Pixels that are not opaque, seen on a background.

pub(super) const BLACK: [u8; 3] = [0; 3];
pub(super) const WHITE: [u8; 3] = [u8::MAX; 3];

/// What is seen on every corner of the colour cube, by channel from what is seen on black and on
/// white; these two come first, for they show most of what is to be seen.
pub(super) fn on_corners(black: [f64; 3], white: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
    [0b000, 0b111, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110].into_iter().map(move |corner| {
        std::array::from_fn(|index| match corner >> index & 1 {
            0 => black[index],
            _ => white[index],
        })
    })
}

/// Whether both pixels are opaque, so that no background shows.
pub(super) const fn are_opaque(before: [u8; 4], after: [u8; 4]) -> bool {
    before[3] == u8::MAX && after[3] == u8::MAX
}

/// The difference of two pixels by channel, both blended onto `background`, -255..=255.
///
/// Whole numbers up to the division, so equal colours come out equal to the last bit.
pub(super) fn difference(before: [u8; 4], after: [u8; 4], background: [u8; 3]) -> [f64; 3] {
    let alphas = [i32::from(before[3]), i32::from(after[3])];
    let channel = |index: usize| {
        let [one, other] = [before[index], after[index]].map(i32::from);
        if alphas == [255, 255] {
            return f64::from(one - other);
        }
        let behind = i32::from(background[index]) * (alphas[0] - alphas[1]);
        f64::from(one * alphas[0] - other * alphas[1] - behind) / 255.0
    };
    [channel(0), channel(1), channel(2)]
}

/// The channels of one pixel blended onto `background`, 0..=255.
pub(super) fn blended(pixel: [u8; 4], background: [u8; 3]) -> [f64; 3] {
    let alpha = u32::from(pixel[3]);
    let channel = |index: usize| {
        let (front, behind) = (u32::from(pixel[index]), u32::from(background[index]));
        f64::from(front * alpha + behind * (255 - alpha)) / 255.0
    };
    [channel(0), channel(1), channel(2)]
}

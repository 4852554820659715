//! Draws a gauge.

/// Width and height of a gauge, in pixels.
pub const SIZE: (u32, u32) = (120, 24);

const BORDER: [u8; 4] = [60, 60, 60, 255];
const FILLED: [u8; 4] = [0, 120, 215, 255];
const EMPTY: [u8; 4] = [240, 240, 240, 255];

/// A gauge filled to `percent`: its width, its height, and four bytes a pixel.
pub fn gauge(percent: u32) -> (u32, u32, Vec<u8>) {
    let (width, height) = SIZE;
    let filled = 1 + (width - 2) * percent.min(100) / 100;
    let pixel = |x: u32, y: u32| match () {
        () if x == 0 || y == 0 || x == width - 1 || y == height - 1 => BORDER,
        () if x < filled => FILLED,
        () => EMPTY,
    };
    let pixels = (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y)));
    (width, height, pixels.collect())
}

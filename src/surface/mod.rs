//! Things that can be seen and driven, one module and one cargo feature each.

#[cfg(feature = "browser")]
pub mod browser;
#[cfg(feature = "demo")]
pub mod demo;
#[cfg(feature = "replay")]
pub mod replay;
#[cfg(feature = "screen")]
pub mod screen;
#[cfg(feature = "x11")]
pub mod x11;

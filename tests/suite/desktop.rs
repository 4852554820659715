//! Real displays: each test starts an Xvfb of its own, and programs on it.
//!
//! Ignored by default, so that `cargo test` needs no display; `make test` runs them with
//! `--include-ignored`. They need Xvfb, openbox, xterm, setxkbmap, mousepad and
//! featherpad; chromium where it is installed.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its display has failed")]

mod act;
mod capture;
mod carets;
mod cost;
mod damage;
mod harness;
mod input;
#[cfg(feature = "mcp")]
mod mcp;
mod painter;
mod paste;
mod reaction;
#[cfg(feature = "cli")]
mod record;
#[cfg(feature = "cli")]
mod safety;
#[cfg(feature = "cli")]
mod scenarios;
#[cfg(feature = "cli")]
mod typing;
#[cfg(all(feature = "cli", feature = "screen"))]
mod screen;

//! What a person or a program outside sees: argv and JSON. Only here is anything printed.

mod change;
pub mod cli;
mod duration;
mod folders;
mod html;
#[cfg(feature = "mcp")]
mod mcp;
mod pictures;
mod wire;

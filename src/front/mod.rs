//! What a person or a program outside sees: argv and JSON. Only here is anything printed.

pub mod cli;
mod wire;

//! Everything that needs the built command, files or real programs.

mod fixtures;
mod formats;
mod properties;
mod shared;

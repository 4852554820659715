//! Everything that needs the built command or real programs.

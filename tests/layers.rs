//! A module imports only from rows above it.

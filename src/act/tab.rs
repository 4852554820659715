//! The tabs of a surface that has several pages, and what is done with one.

use std::ops::RangeInclusive;

use super::action::Address;

/// Numbers of tabs.
pub const TAB_NUMBER: RangeInclusive<u32> = 1..=1_000_000;

/// What is done with a tab. Numbers count from 1 in the order the tabs came; that of a closed one
/// is not given again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabDeed {
    /// Goes to the tab of a number.
    Go(u32),
    /// Opens an address in a new tab and goes there.
    Open(Address),
    /// Closes the tab of a number. Of the current one a neighbour becomes current.
    Close(u32),
}

/// One tab of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// From 1, in the order they came.
    pub number: u32,
    /// Its address, empty before it has one.
    pub url: String,
    /// Its title, as far as the browser has told it.
    pub title: String,
    /// Whether it is the one actions go to.
    pub is_current: bool,
}

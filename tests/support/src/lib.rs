//! Shared parts of the tests of several crates: made-up runs, a browser, other tools, and the pages of the
//! book.

#![forbid(unsafe_code)]

pub mod look;
pub mod made_up;
pub mod pages;
pub mod tools;
pub mod webdriver;

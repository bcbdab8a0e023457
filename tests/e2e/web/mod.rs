//! Pages: the dashboard, reports, the atlas in a browser, and the book.

#[cfg(feature = "atlas")]
mod atlas_page;
mod book;
mod dashboard;
mod public;
mod report;
mod tls;

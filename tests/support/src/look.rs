//! Looking at a page as people do: wide and narrow, light and dark; whatever page it is.

use std::env;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::tools;
use crate::webdriver::Browser;

/// The variable that names the folder for pictures of the pages.
pub const PICTURES: &str = "DIADEM_TEST_PICTURES";

/// The script that finds what some people could not read or reach on a page.
pub const ACCESSIBLE: &str = include_str!("accessible.js");

/// The width of a wide page, in pixels.
pub const WIDE: u32 = 1280;
/// The width of a phone, in pixels.
pub const NARROW: u32 = 390;

/// A browser, if one is installed.
pub fn browser() -> Option<Browser> {
    tools::is_there("chromedriver").then(Browser::start)
}

/// Looks at the page wide and narrow, light and dark.
pub fn look(browser: &Browser, name: &str) {
    for (width, is_dark) in [(WIDE, false), (WIDE, true), (NARROW, false), (NARROW, true)] {
        browser.looks(width, is_dark);
        let found = browser.value(ACCESSIBLE);
        assert_eq!(found, Value::Array(Vec::new()), "{name}, {width} wide, dark: {is_dark}");
        let reach = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(reach <= u64::from(width), "{name} is {reach} wide where {width} can be seen");
        if let Some(folder) = env::var_os(PICTURES) {
            let scheme = if is_dark { "dark" } else { "light" };
            let file = Path::new(&folder).join(format!("{name}-{width}-{scheme}.png"));
            fs::write(file, browser.picture()).unwrap();
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
}

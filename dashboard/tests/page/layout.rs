//! The layout of page and report: nothing is cut off without a hint, and nothing stands alone.

use std::env;
use std::fs;
use std::path::Path;

use domain::{Event, RunStatus};
use serde_json::Value;
use tempfile::TempDir;

use crate::look::{NARROW, PICTURES, WIDE, browser};
use crate::made_up;
use crate::made_up_report::report;
use crate::site::Site;
use crate::webdriver::Browser;

/// The width of A4 paper between its margins, in pixels.
const PAPER: u32 = 718;

/// Opens the page of this run.
fn page(browser: &Browser, status: RunStatus) -> Site {
    let site = Site::open(status);
    browser.go(&site.url("/"));
    browser.until("document.getElementById('link').textContent === 'live'");
    browser.until("document.querySelectorAll('#map rect').length > 0");
    site
}

/// Opens the report of a finished run. Keep the folder while it is looked at.
fn opened_report(browser: &Browser) -> TempDir {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("report.html");
    fs::write(&file, report(&made_up::finished()).page()).unwrap();
    browser.go(&format!("file://{}", file.display()));
    folder
}

/// The texts of the elements that stick out of the cards around them.
fn cut_off(browser: &Browser, selector: &str) -> Value {
    browser.value(&format!(
        "[...document.querySelectorAll('{selector}')].filter((element) => {{ \
         const [inner, outer] = [element, element.closest('.card')].map((e) => e.getBoundingClientRect()); \
         return inner.width > 0 && (inner.left < outer.left || inner.right > outer.right); }}) \
         .map((element) => element.textContent)"
    ))
}

#[test]
fn chart_labels_are_whole_and_a_chart_fills_its_card() {
    let Some(browser) = browser() else { return };
    let _site = page(&browser, made_up::running());
    for width in [WIDE, 700, NARROW] {
        browser.looks(width, false);
        assert_eq!(cut_off(&browser, ".plot span"), Value::Array(Vec::new()), "{width}");
    }
    browser.go("about:blank");
    let _folder = opened_report(&browser);
    browser.looks(WIDE, false);
    let share = "document.querySelector('.plot').clientWidth / document.querySelector('.charts').clientWidth";
    assert!(browser.value(share).as_f64().unwrap() > 0.95, "{}", browser.value(share));
    assert_eq!(cut_off(&browser, ".plot span"), Value::Array(Vec::new()));
}

#[test]
fn map_names_its_axes_on_page_and_report() {
    let Some(browser) = browser() else { return };
    let _site = page(&browser, made_up::running());
    let labels = "[...document.querySelectorAll('svg.map text')].map((text) => text.textContent).join(' ')";
    let on_page = browser.value(labels);
    let columns = "1 5 10 15 20 25";
    let axes = "column of the queen in the first row column of the queen in the last row";
    assert_eq!(on_page.as_str().unwrap(), format!("{columns} {columns} {axes}"));
    let _folder = opened_report(&browser);
    let mut in_report: Vec<_> =
        browser.value(labels).as_str().unwrap().split(' ').map(str::to_owned).collect();
    let mut expected: Vec<_> = on_page.as_str().unwrap().split(' ').map(str::to_owned).collect();
    in_report.sort();
    expected.sort();
    assert_eq!(in_report, expected);
}

#[test]
fn latest_events_are_whole_and_earlier_ones_open() {
    let Some(browser) = browser() else { return };
    let event = |at| Event { at: made_up::NOW - 100 + at, text: format!("event {at}") };
    let _site = page(&browser, RunStatus { events: (0..20).map(event).collect(), ..made_up::running() });
    let shown = "[...document.querySelectorAll('#happened li, #earlier li')].filter((item) => item.checkVisibility()).length";
    assert_eq!(browser.value(shown), Value::from(8));
    assert!(browser.text("#happened").contains("event 19"));
    browser.value("document.querySelector('#earlier summary').click()");
    assert_eq!(browser.value(shown), Value::from(20));
    let scrolls =
        "[...document.querySelectorAll('.events')].some((list) => list.scrollHeight > list.clientHeight + 1)";
    assert_eq!(browser.value(scrolls), Value::Bool(false));
}

#[test]
fn wide_tables_on_a_phone_say_that_they_scroll() {
    let Some(browser) = browser() else { return };
    let _site = page(&browser, made_up::running());
    let hints = "[...document.querySelectorAll('.table')].map((table) => \
                 [table.scrollWidth > table.clientWidth + 1, table.querySelector('.swipe').checkVisibility()])";
    browser.looks(NARROW, false);
    assert_eq!(browser.value(hints), serde_json::json!([[true, true], [true, true], [true, true]]));
    browser.looks(WIDE, false);
    assert_eq!(browser.value(hints), serde_json::json!([[false, false], [false, false], [false, false]]));
}

#[test]
fn touch_screen_is_not_told_of_arrow_keys() {
    let Some(browser) = browser() else { return };
    let _site = page(&browser, made_up::running());
    assert_eq!(browser.text("#map-cell"), "Point at a cell, or use the arrow keys.");
    browser.is_touched(NARROW);
    assert_eq!(browser.text("#map-cell"), "Tap a cell.");
}

#[test]
fn finished_run_asks_for_no_worker() {
    let Some(browser) = browser() else { return };
    let finished = RunStatus { workers: Vec::new(), workers_total: 0, ..made_up::finished() };
    let _site = page(&browser, finished);
    browser.until("document.getElementById('no-workers').innerText.includes('have left')");
    assert!(!browser.text("main").contains("diadem worker"));
    assert_eq!(browser.text("#left"), "the total agrees with the published value");
    assert_eq!(browser.text("#solutions-title"), "SOLUTIONS");
}

#[test]
fn printed_report_has_all_columns_and_full_rows() {
    let Some(browser) = browser() else { return };
    let _folder = opened_report(&browser);
    browser.prints(PAPER);
    if let Some(folder) = env::var_os(PICTURES) {
        fs::write(Path::new(&folder).join("report-print.png"), browser.picture()).unwrap();
    }
    assert_eq!(cut_off(&browser, ".table th, .table td"), Value::Array(Vec::new()));
    let lonely = "(() => { const rows = Map.groupBy(document.querySelectorAll('.hero .facts > div'), \
                  (fact) => Math.round(fact.getBoundingClientRect().top)); \
                  return [...rows.values()].some((row) => row.length === 1); })()";
    assert_eq!(browser.value(lonely), Value::Bool(false));
    browser.looks(WIDE, false);
    assert_eq!(browser.value(lonely), Value::Bool(false));
}

//! Tests in a real headless Chromium: every state, wide and narrow, light and dark. No test may show a script error, a
//! breach of the page's policy, or an unreadable text.

use std::env;
use std::fs;
use std::io::Read;
use std::path::Path;

use coordinator::admission::{Bearers, Right};
use domain::Owner;
use serde_json::Value;

use crate::look::{ACCESSIBLE, PICTURES, WIDE, browser, look};
use crate::made_up::{self, SCRIPT};
use crate::made_up_report::report;
use crate::site::{Site, TOKEN};
use crate::webdriver::Browser;

#[test]
fn each_state_is_readable_in_all_sizes_and_themes() {
    let Some(browser) = browser() else { return };
    let site = Site::open(made_up::empty());
    browser.go(&site.url("/"));
    browser.until("document.getElementById('link').textContent === 'live'");
    browser.until("document.getElementById('left').textContent === 'waiting for workers'");
    assert!(browser.text("#no-workers").contains("diadem worker"), "{}", browser.text("body"));
    look(&browser, "empty");
    browser.go("about:blank");

    let states: [(&str, domain::RunStatus, &[&str]); 5] = [
        (
            "running",
            made_up::running(),
            &[
                "43.21 %",
                "about 3 to 5 weeks left",
                "234,907,967,154,122,528 (published)",
                "0.109",
                "11 min ago",
                "now, leaving",
                "CREDITS",
                "(no name)",
                "1,234,567",
                "2.349 × 10¹⁷",
            ],
        ),
        (
            "disputed",
            made_up::disputed(),
            &[
                "no space left on device",
                "1204411, 1204412",
                "not trusted",
                "quarantined: rack-07",
                "5 differences",
            ],
        ),
        ("huge", made_up::huge(), &["5,123,456", "of 1,000", "extrapolated"]),
        (
            "finished",
            made_up::finished(),
            &["100 %", "agrees with the published value", "proven", "complete"],
        ),
        (
            "withheld",
            made_up::withheld(),
            &["there is no answer", "contradict each other", "answer withheld"],
        ),
    ];
    for (name, status, words) in states {
        // A run has one board, so another board is another page.
        let site = Site::open(status);
        browser.go(&site.url("/"));
        browser.until("document.getElementById('link').textContent === 'live'");
        let text = browser.text("body");
        for word in words {
            assert!(text.contains(word), "{name}: no {word:?} in {text}");
        }
        look(&browser, name);
        browser.go("about:blank");
    }
}

#[test]
fn page_shows_lost_coordinator_and_reconnects() {
    let Some(browser) = browser() else { return };
    let site = Site::open(made_up::running());
    browser.go(&site.url("/"));
    browser.until("document.querySelector('.figure').textContent === '43.21 %'");
    site.goes_on(domain::RunStatus {
        progress: 0.5,
        paused: Some("for the night".into()),
        leased: 0,
        rate: 0.0,
        ..made_up::running()
    });
    browser.until("document.querySelector('.figure').textContent === '50.00 %'");
    browser.until("document.getElementById('paused').textContent.includes('for the night')");
    browser.until("document.getElementById('phase').innerText === 'paused'");
    assert_eq!((browser.text("#left"), browser.text("#rate")), ("paused".into(), "0".into()));
    look(&browser, "paused");
    let address = site.address;
    drop(site);
    browser.until("document.getElementById('gone').textContent.includes('does not answer')");
    // What the run does now is unknown.
    assert_eq!(browser.text(".pills").trim(), "no connection");
    assert_eq!(browser.text("#rate"), "unknown");
    // The browser reports the missing server, and no other error.
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("net::ERR_")), "{complaints:?}");
    assert_eq!(browser.value("document.getElementById('gone').hidden"), Value::Bool(false));
    look_at_gone(&browser);
    let _again = Site::at(address, made_up::finished());
    browser.until("document.getElementById('link').textContent === 'live'");
    browser.until("document.querySelector('.figure').textContent === '100 %'");
    assert_eq!(browser.value("document.getElementById('gone').hidden"), Value::Bool(true));
}

#[test]
fn unchanged_alerts_are_not_written_again() {
    let Some(browser) = browser() else { return };
    let far = |progress| domain::RunStatus { progress, ..made_up::disputed() };
    let site = Site::open(far(0.1));
    browser.go(&site.url("/"));
    browser.until("document.querySelector('.figure').textContent === '10.00 %'");
    browser.until("document.getElementById('link').textContent === 'live'");
    browser.value(
        "(() => { window.written = []; \
         const seen = new MutationObserver((changes) => changes.forEach((change) => written.push(change.target.id))); \
         document.querySelectorAll('[role=alert], [role=status]').forEach((element) => \
         seen.observe(element, { childList: true, characterData: true, subtree: true })); return true; })()",
    );
    site.goes_on(far(0.2));
    browser.until("document.querySelector('.figure').textContent === '20.00 %'");
    site.goes_on(far(0.3));
    browser.until("document.querySelector('.figure').textContent === '30.00 %'");
    assert_eq!(browser.value("window.written"), Value::Array(Vec::new()));
    site.goes_on(domain::RunStatus { trouble: "another one".into(), ..far(0.3) });
    browser.until("window.written.includes('trouble')");
}

/// Like [`look`], but accepts the browser's complaint about the missing server.
fn look_at_gone(browser: &Browser) {
    if let Some(folder) = env::var_os(PICTURES) {
        browser.looks(WIDE, false);
        fs::write(Path::new(&folder).join("gone-1280-light.png"), browser.picture()).unwrap();
    }
    assert_eq!(browser.value(ACCESSIBLE), Value::Array(Vec::new()));
}

#[test]
fn names_that_are_scripts_stay_text() {
    let Some(browser) = browser() else { return };
    let mut status = made_up::running();
    status.machines[0].name = SCRIPT.into();
    status.events[0].text = SCRIPT.into();
    status.trouble = SCRIPT.into();
    status.paused = Some(SCRIPT.into());
    status.assurance.quarantined = vec![SCRIPT.into()];
    let site = Site::open(status);
    browser.go(&site.url("/"));
    browser.until("document.querySelectorAll('#workers tr').length === 14");
    let shown = browser.value(
        "[...document.querySelectorAll('#workers td, #machines td, #happened li, #trouble, #paused, [data-run=worth]')]
            .filter((element) => element.textContent.includes('<script>')).length",
    );
    assert_eq!(shown, Value::from(6));
    assert_eq!(browser.value("window.broken === undefined"), Value::Bool(true));
    assert_eq!(browser.value("document.querySelectorAll('main img, main script').length"), Value::from(0));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn map_is_navigable_by_arrow_keys() {
    let Some(browser) = browser() else { return };
    let site = Site::open(made_up::running());
    browser.go(&site.url("/"));
    browser.until("document.querySelectorAll('#map rect').length === 27 * 27");
    let press = |key: &str| {
        browser.value(&format!(
            "document.getElementById('map').dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', cancelable: true }}))"
        ));
    };
    press("ArrowRight");
    press("ArrowDown");
    let text = browser.text("#map-cell");
    assert!(text.starts_with("Queens in column 2 of the first row and 2 of the last: "), "{text}");
    assert!(text.contains(" of ") && text.ends_with(" done"), "{text}");
    press("ArrowLeft");
    press("ArrowLeft");
    assert!(
        browser.text("#map-cell").contains("column 1 of the first row and 2"),
        "{}",
        browser.text("#map-cell")
    );
}

#[test]
fn viewer_without_token_is_asked_for_token() {
    let Some(browser) = browser() else { return };
    let site = Site::guarded(made_up::running());
    browser.looks(WIDE, false);
    browser.go(&site.url("/"));
    assert!(browser.text("body").contains("Enter the status token"));
    let found = browser.value(ACCESSIBLE);
    assert_eq!(found, Value::Array(Vec::new()));
    if let Some(folder) = env::var_os(PICTURES) {
        fs::write(Path::new(&folder).join("token-1280-light.png"), browser.picture()).unwrap();
    }
    browser.complaints();
    let enter = |token: &str| {
        browser.value("window.isOld = true");
        browser.value(&format!("document.getElementById('token').value = '{token}'"));
        browser.value("document.querySelector('form').requestSubmit()");
    };
    enter(&TOKEN.replace('0', "1"));
    browser.until("window.isOld === undefined && document.querySelector('form') !== null");
    assert_eq!(browser.value("location.href"), Value::from(site.url("/")));
    browser.complaints();
    enter(TOKEN);
    browser.until("document.getElementById('link')?.textContent === 'live'");
    // Neither the address nor a script has the token.
    assert_eq!(browser.value("location.href"), Value::from(site.url("/")));
    assert_eq!(browser.value("document.cookie"), Value::from(""));
    browser.go(&site.url("/"));
    browser.until("document.querySelector('.figure').textContent === '43.21 %'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn report_is_one_page_without_scripts_or_links() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut disputed = report(&made_up::disputed());
    disputed.contributions[0].machine = SCRIPT.into();
    disputed.contributions[1].machine = "rack\u{202e}3".into();
    disputed.commands = vec![SCRIPT.into()];
    for (name, report) in [("report", report(&made_up::finished())), ("report-disputed", disputed)] {
        let page = report.page();
        assert!(page.len() < 300 << 10, "{}", page.len());
        assert_eq!(page.contains("rack\\u{202e}3"), name == "report-disputed", "unseen characters are shown");
        assert!(!page.contains('\u{202e}'));
        // A script in a name is shown as text.
        let page_itself = page.replace("src=x", "");
        for word in ["src=", "href=", "url(", "@import", "<script", "<img"] {
            assert!(!page_itself.contains(word), "{name}: {word}");
        }
        let Some(browser) = browser() else { return };
        let file = folder.path().join(format!("{name}.html"));
        fs::write(&file, page).unwrap();
        browser.go(&format!("file://{}", file.display()));
        let text = browser.text("main");
        for word in ["9f86d081884c7d659a2feaa0c55ad015", "meet/avx512, search/avx512", "with 95 % confidence"]
        {
            let is_proven = name == "report" && word.contains("95 %");
            assert!(is_proven || text.contains(word), "{name}: no {word} in {text}");
        }
        assert_eq!(text.matches("<script>").count(), if name == "report" { 0 } else { 2 });
        look(&browser, name);
    }
}

#[test]
fn refused_page_names_reason_and_asks_for_token() {
    let Some(browser) = browser() else { return };
    let site = Site::guarded(made_up::running());
    browser.go(&site.url(&format!("/?token={TOKEN}")));
    browser.until("document.getElementById('link').textContent === 'live'");
    let mut others = Bearers::default();
    others.admit(&TOKEN.replace('0', "1").parse().unwrap(), Owner::new("status"), Right::Read);
    site.access.replace(others);
    site.goes_on(made_up::disputed());
    browser.until("document.body.textContent.includes('Enter the status token')");

    let site = Site::open(made_up::running());
    let watching: Vec<_> = (0..64).map(|_| site.ask("/events", &[])).collect();
    for mut connection in &watching {
        connection.read_exact(&mut [0; 12]).unwrap();
    }
    browser.go(&site.url("/"));
    browser.until("document.getElementById('gone').textContent.startsWith('Too many people')");
}

#[test]
fn unit_numbers_link_to_the_unit_page() {
    let Some(browser) = browser() else { return };
    let mut status = made_up::disputed();
    status.trouble = "unit 17 is in dispute with 5 others".into();
    status.events.last_mut().unwrap().text = "the dispute about unit 17 is decided".into();
    let site = Site::open(status);
    browser.go(&site.url("/"));
    browser.until("document.querySelectorAll('#happened a').length === 1");
    let links = |place: &str| {
        let script =
            format!("[...document.querySelectorAll('{place} a')].map((link) => link.textContent).join()");
        browser.value(&script)
    };
    assert_eq!(links("#trouble"), "17");
    assert_eq!(links("#aside"), "1204411,1204412");
    assert_eq!(browser.text("#trouble"), "unit 17 is in dispute with 5 others");
    browser.value("document.querySelector('#trouble a').click()");
    browser.until("document.title === 'diadem: unit 17 of 90'");
    assert_eq!(browser.value("document.querySelectorAll('.board .queen').length"), Value::from(1));
    assert!(browser.text("main").contains(SCRIPT), "facts are text");
    assert_eq!(browser.value("window.broken === undefined"), Value::Bool(true));
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let unknown = site.get("/unit/18", &[]);
    assert!(unknown.code == 404 && unknown.body.contains("the plan has no unit 18"), "{unknown:?}");
}

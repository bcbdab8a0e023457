//! The public page: what everybody sees, what nobody sees without a token, and what caches may keep.

use domain::{Event, Owner, RunStatus};
use serde_json::Value;

use crate::look::{WIDE, browser, look};
use crate::made_up;
use crate::site::{Site, TOKEN};

/// All paths that a public page answers without a token.
const PATHS: [&str; 11] = [
    "/",
    "/public.json",
    "/public.js",
    "/run.js",
    "/elements.js",
    "/families.js",
    "/speed.js",
    "/dashboard.css",
    "/diadem.svg",
    "/healthz",
    "/readyz",
];

/// A secret word in every text that may name a machine, a worker, an address or a path.
const SECRET: &str = "hidden-rack-17";

fn secretive() -> RunStatus {
    let mut status = made_up::disputed();
    status.trouble = format!("cannot write /srv/{SECRET}/ledger");
    status.paused = Some(SECRET.into());
    status.events.push(Event { at: made_up::NOW, text: format!("worker {SECRET} joined") });
    status.assurance.quarantined = vec![SECRET.into()];
    status.assurance.expelled = vec![SECRET.into()];
    for incident in &mut status.incidents {
        incident.text += SECRET;
        incident.reason = Some(SECRET.into());
    }
    for machine in &mut status.machines {
        (machine.name, machine.owner) = (SECRET.into(), Owner::new(SECRET));
    }
    for worker in &mut status.workers {
        (worker.name, worker.machine, worker.owner) = (SECRET.into(), SECRET.into(), Owner::new(SECRET));
    }
    status
}

#[test]
fn public_answers_have_no_names_of_machines() {
    let token = [("authorization", &*format!("Bearer {TOKEN}"))];
    for site in [Site::public(secretive()), Site::public_without_keys(secretive())] {
        for path in PATHS {
            let reply = site.get(path, &[]);
            let is_ready = path != "/readyz";
            assert_eq!(reply.code, if is_ready { 200 } else { 503 }, "{path} {reply:?}");
            assert!(!reply.head.contains(SECRET) && !reply.body.contains(SECRET), "{path} {reply:?}");
        }
        let state: Value = serde_json::from_str(&site.get("/public.json", &[]).body).unwrap();
        assert_eq!(state["run"]["percent"], "43.21 %");
        assert_eq!(state["run"]["workers"], "13", "the silent worker does not count");
        assert_eq!(state["run"]["trouble"], "The run waits for its operator, who sees the reason.");
        let happened: Vec<_> =
            state["incidents"]["rows"].as_array().unwrap().iter().map(|row| &row[1]).collect();
        assert_eq!(happened[0], "takeover by another coordinator");
        assert_eq!(happened[1], "counts taken back (12)");
        assert!(state["head"].as_str().unwrap().starts_with("diadem-head run="));
        assert!(state["owners"]["rows"][0][0].is_string());
    }
    let site = Site::public(secretive());
    assert!(site.get("/metrics", &token).body.contains(SECRET), "the secret is in the run");
}

#[test]
fn token_opens_the_whole_dashboard_of_a_public_run() {
    let site = Site::public(made_up::running());
    let token = [("authorization", &*format!("Bearer {TOKEN}"))];
    for path in ["/events", "/metrics", "/?token", "/?token=0123456789abcdef0123456789abcdee"] {
        let reply = site.get(path, &[]);
        assert!(reply.code == 401 && reply.body.contains("Enter the status token"), "{path} {reply:?}");
    }
    assert!(site.get("/", &[]).body.contains("href=\"?token\""));
    assert_eq!(site.get(&format!("/?token={TOKEN}"), &[]).code, 303);
    assert!(site.get("/", &token).body.contains("dashboard.js"));
    assert_eq!(site.get("/metrics", &token).code, 200);

    let site = Site::public_without_keys(made_up::running());
    for path in ["/events", "/metrics"] {
        assert_eq!(site.get(path, &token).code, 403, "{path}");
    }
    for path in ["/", "/?token", &format!("/?token={TOKEN}")] {
        let reply = site.get(path, &token);
        assert!(reply.code == 200 && reply.body.contains("public.js"), "{path} {reply:?}");
    }
    assert_eq!(Site::open(made_up::running()).get("/public.json", &[]).code, 404);
}

#[test]
fn caches_keep_public_files_and_nothing_else() {
    let site = Site::public(made_up::running());
    // As behind a proxy, which passes on the host that the viewer asked for.
    let host = [("host", "queens.example.org")];
    for (path, kept) in [
        ("/public.json", "public, max-age=5"),
        ("/public.js", "public, max-age=300"),
        ("/dashboard.css", "public, max-age=300"),
        ("/", "no-store"),
        ("/events", "no-store"),
        ("/healthz", "no-store"),
    ] {
        let reply = site.get(path, &host);
        assert!(reply.head.contains(&format!("cache-control: {kept}\r\n")), "{path}: {}", reply.head);
        assert!(
            reply.head.contains("frame-ancestors 'none'") && !reply.head.contains("set-cookie"),
            "{path}"
        );
        assert_ne!(reply.code, 421, "{path}");
    }
    assert_eq!(Site::public_without_keys(made_up::running()).get("/", &host).code, 200);
}

#[test]
fn public_page_shows_progress_and_credits() {
    let Some(browser) = browser() else { return };
    let site = Site::public(made_up::running());
    browser.looks(WIDE, false);
    browser.go(&site.url("/"));
    browser.until("document.getElementById('link').textContent === 'live'");
    let text = browser.text("body");
    for word in
        ["43.21 %", "about 3 to 5 weeks left", "CREDITS", "ada", "counts taken back (12)", "diadem-head"]
    {
        assert!(text.contains(word), "no {word:?} in {text}");
    }
    for word in ["rack-", "MACHINES", "metrics", "the memory of"] {
        assert!(!text.contains(word), "{word:?} in {text}");
    }
    look(&browser, "public");
    site.goes_on(RunStatus { progress: 0.5, paused: Some("for the night".into()), ..made_up::running() });
    browser.until("document.querySelector('.figure').textContent === '50.00 %'");
    assert!(!browser.text("body").contains("for the night"));
    // The operator enters the token behind the link.
    browser.value("document.querySelector('footer a').click()");
    browser.until("document.querySelector('form') !== null");
    browser.complaints();
    browser.value(&format!("document.getElementById('token').value = '{TOKEN}'"));
    browser.value("document.querySelector('form').requestSubmit()");
    browser.until("document.getElementById('machines') !== null");
    browser
        .until("document.getElementById('incidents').textContent.includes('the memory of rack-07 is bad')");
    assert_eq!(browser.value("location.href"), Value::from(site.url("/")));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

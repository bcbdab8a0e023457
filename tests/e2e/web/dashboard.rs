//! The dashboard of a real coordinator: its addresses, its access, and its independence from the run.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::credentials::{keys, text};
use crate::harness::{Folder, PATIENCE, Running, published, until};
use crate::http::get;
use crate::web::tls::get_over_tls;

/// A coordinator, its address, and that of its dashboard.
fn serve(folder: &Folder, more: &str) -> (Running, String, String) {
    let args = format!("coordinator --run run --http 127.0.0.1:0 {more}");
    let (mut coordinator, address) = folder.serve(&args, "coordinator.log");
    let http = coordinator.dashboard();
    (coordinator, address, http)
}

#[test]
fn dashboard_and_metrics_follow_a_run_to_its_end() {
    let folder = Folder::new();
    let (coordinator, address, http) = serve(&folder, "--n 14 --json");
    assert!(get(&http, "/").contains("<title>diadem</title>"));
    assert!(get(&http, "/metrics").contains("diadem_run_info{board=\"14\""));
    assert!(get(&http, "/metrics").contains("diadem_units_done 0\n"));
    assert!(get(&http, "/readyz").ends_with("ready\n"));
    let mut events = TcpStream::connect(&http).unwrap();
    events.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(events, "GET /events HTTP/1.1\r\nhost: {http}\r\n\r\n").unwrap();
    let worker = folder.start(&format!("worker --coordinator http://{address} --threads 1"), "worker.log");
    // The stream ends with the coordinator, after viewers have seen the end.
    let mut told = Vec::new();
    events.read_to_end(&mut told).unwrap();
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains("\"phase\":\"counting\"") && told.contains("\"phase\":\"complete\""), "{told}");
    assert!(told.contains("\"threads\":\"1\""), "{told}");
    assert!(told.contains("\"verdict\":\"the total agrees with the published value\""), "{told}");
    assert!(told.contains("\"solutions\":\"365,596\""), "{told}");
    assert_eq!(worker.end().code, Some(0));
    assert_eq!(coordinator.end().json()["total"], published(14).as_str());
}

#[test]
fn taken_or_public_http_port_is_refused() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let http = taken.local_addr().unwrap().to_string();
    let run = |more: &str| folder.run(&format!("coordinator --n 14 --run run --listen 127.0.0.1:0 {more}"));
    run(&format!("--http {http}")).refused(&["cannot listen on", &http, "choose one with --http"]);
    run("--http 0.0.0.0:0").refused(&[
        "other machines can reach 0.0.0.0:0",
        "--keys DIR",
        "--public",
        "--insecure",
    ]);
    run("--http localhost").refused(&["localhost", "an address and a port"]);
    // A token would go over the network unencrypted.
    let token = "0123456789abcdef0123456789abcdef";
    let args = "coordinator --n 14 --run run --listen 127.0.0.1:0 --http 0.0.0.0:0 --insecure";
    let mut command = folder.diadem(args);
    let outcome = command.env("DIADEM_JOIN_TOKEN", token).output().unwrap();
    let stderr = String::from_utf8(outcome.stderr).unwrap();
    assert_eq!(outcome.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("unencrypted") && stderr.contains("--keys DIR") && !stderr.contains(token),
        "{stderr}"
    );
    assert!(!folder.path().join("run").exists());
}

#[test]
fn dashboard_with_keys_needs_tls_and_token() {
    let folder = keys();
    let (coordinator, _, http) = serve(&folder, "--n 18 --keys keys/coordinator");
    assert!(!get(&http, "/metrics").contains("HTTP/1.1 200"));
    let bearer = |file: &str| format!("authorization: Bearer {}\r\n", text(&folder, file));
    assert!(get_over_tls(&folder, &http, "/metrics", "").starts_with("HTTP/1.1 401"));
    let wrong = get_over_tls(&folder, &http, "/metrics", &bearer("others/status/status.token"));
    assert!(wrong.starts_with("HTTP/1.1 401") && !wrong.contains("diadem_units"), "{wrong}");
    let right = get_over_tls(&folder, &http, "/metrics", &bearer("keys/status/status.token"));
    assert!(right.starts_with("HTTP/1.1 200") && right.contains("diadem_units_done"), "{right}");
    let astray = format!("status --coordinator https://{http} --keys keys/status");
    folder.run(&astray).refused(&["HTTP/1", "no coordinator", "--listen"]);
    let log = fs::read_to_string(&coordinator.log).unwrap();
    assert!(log.contains(&format!("the dashboard is at https://{http}")), "{log}");
    for file in ["keys/status/status.token", "others/status/status.token"] {
        assert!(!log.contains(&text(&folder, file)), "{file} is in the log");
    }
    // A replaced token is no longer valid.
    let old = bearer("keys/status/status.token");
    fs::copy(
        folder.path().join("others/status/status.token"),
        folder.path().join("keys/coordinator/status.token"),
    )
    .unwrap();
    until("the old token holds no more", || {
        get_over_tls(&folder, &http, "/metrics", &old).starts_with("HTTP/1.1 401")
    });
}

#[test]
fn idle_dashboard_connections_do_not_block_the_end() {
    let folder = Folder::new();
    let (coordinator, address, http) = serve(&folder, "--n 13 --json");
    let idle: Vec<_> = (0..400)
        .filter_map(|i| {
            let mut connection =
                TcpStream::connect_timeout(&http.parse().unwrap(), Duration::from_secs(1)).ok()?;
            let rubbish =
                if i % 2 == 0 { "GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n" } else { "\x16\x03\x01" };
            connection.write_all(rubbish.as_bytes()).ok();
            Some(connection)
        })
        .collect();
    let worker = folder.start(&format!("worker --coordinator http://{address} --threads 1"), "worker.log");
    assert_eq!(worker.end().code, Some(0));
    assert_eq!(coordinator.end().json()["total"], published(13).as_str());
    drop(idle);
}

#[test]
fn unit_page_has_the_facts_of_diadem_unit() {
    let folder = Folder::new();
    let (coordinator, address, http) = serve(&folder, "--n 20 --families 0,1,0 --double-check none");
    let page = get(&http, "/unit/3");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>diadem: unit 3 of "), "{page}");
    let told = folder.run(&format!("unit 3 --coordinator http://{address}")).stdout;
    let told: Vec<_> = told.lines().collect();
    for fact in [told[0], "held by: nobody", "open: it has no standing count, and no worker is connected"] {
        assert!(page.contains(fact), "{fact}: {page}");
    }
    assert_eq!(page.matches("<rect").count(), 400);
    for (path, code, why) in [
        ("/unit/x", 404, "&quot;x&quot; is not the number of a unit"),
        ("/unit/99999999999", 404, "the plan has no unit 99999999999"),
    ] {
        let refused = get(&http, path);
        assert!(refused.starts_with(&format!("HTTP/1.1 {code}")) && refused.contains(why), "{refused}");
    }
    coordinator.kill();
    let folder = keys();
    let (_coordinator, _, http) = serve(&folder, "--n 18 --keys keys/coordinator");
    let refused = get_over_tls(&folder, &http, "/unit/3", "");
    assert!(refused.starts_with("HTTP/1.1 401") && !refused.contains("unit 3"), "{refused}");
}

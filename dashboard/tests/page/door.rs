//! Access to the dashboard, and the headers of every reply.

use std::io::{ErrorKind, Read, Write};
use std::time::Instant;

use coordinator::admission::{Bearers, Right};
use domain::Owner;

use crate::made_up;
use crate::site::{PATIENCE, Reply, Site, TOKEN};

#[test]
fn missing_or_wrong_token_is_401() {
    let site = Site::guarded(made_up::running());
    let wrong = format!("Bearer {}", TOKEN.replace('0', "1"));
    let basic = format!("Basic {TOKEN}");
    let attempts: [&[(&str, &str)]; 4] =
        [&[], &[("authorization", &wrong)], &[("authorization", &basic)], &[("cookie", "diadem=1")]];
    for path in ["/", "/events", "/metrics", "/?token=0123456789abcdef0123456789abcdee"] {
        for headers in attempts {
            let reply = site.get(path, headers);
            assert_eq!(reply.code, 401, "{path} {reply:?}");
            assert!(reply.head.contains("www-authenticate: bearer"), "{reply:?}");
            assert!(!reply.body.contains("234,907") && !reply.body.contains("diadem_"), "{reply:?}");
        }
    }
    // Files without data of the run are public.
    for path in ["/dashboard.css", "/dashboard.js", "/run.js", "/diadem.svg", "/healthz", "/readyz"] {
        assert_eq!(site.get(path, &[]).code, 200, "{path}");
    }
}

#[test]
fn token_in_address_sets_cookie() {
    let site = Site::guarded(made_up::running());
    let right = format!("Bearer {TOKEN}");
    assert_eq!(site.get("/metrics", &[("authorization", &right)]).code, 200);
    let reply = site.get(&format!("/?token={TOKEN}"), &[]);
    assert_eq!(reply.code, 303, "{reply:?}");
    assert!(reply.head.contains("location: ./\r\n"), "{reply:?}");
    let cookie = reply.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict") && !cookie.contains(TOKEN));
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(site.get("/", &[("cookie", pair)]).code, 200);
}

#[test]
fn typed_token_sets_cookie_and_other_text_is_401() {
    let site = Site::guarded(made_up::running());
    let typed = |body: &str, length: usize| {
        let mut connection = site.send(&format!(
            "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             content-length: {length}\r\n\r\n{body}"
        ));
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).ok();
        Reply::parse(&bytes)
    };
    let form = format!("token={TOKEN}");
    let reply = typed(&form, form.len());
    assert_eq!(reply.code, 303, "{reply:?}");
    let cookie = reply.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert_eq!(site.get("/", &[("cookie", cookie.split(';').next().unwrap())]).code, 200);
    for other in ["", "token=", "token=0123456789abcdef0123456789abcdee", "x=1", &"x".repeat(2000)] {
        assert_eq!(typed(other, other.len()).code, 401, "{}", other.len());
    }
    let begun = Instant::now();
    assert_eq!(typed("token=", 600).code, 401, "the rest never comes");
    assert!(begun.elapsed() < PATIENCE);
}

#[test]
fn event_stream_ends_when_token_is_revoked() {
    let site = Site::guarded(made_up::running());
    let right = format!("Bearer {TOKEN}");
    let mut events = site.ask("/events", &[("authorization", &right)]);
    let mut first = [0; 12];
    events.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut others = Bearers::default();
    others.admit(&"fedcba9876543210fedcba9876543210".parse().unwrap(), Owner::new("status"), Right::Read);
    site.access.replace(others);
    site.goes_on(made_up::disputed());
    let mut rest = Vec::new();
    events.read_to_end(&mut rest).unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains("in dispute"), "the stream has ended before");
    assert_eq!(site.get("/events", &[("authorization", &right)]).code, 401);
}

#[test]
fn every_reply_has_security_headers() {
    let site = Site::guarded(made_up::running());
    for path in ["/", "/dashboard.js", "/metrics", "/healthz", "/nowhere"] {
        let reply = site.get(path, &[]);
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(reply.head.contains(header), "{path}: no {header} in {}", reply.head);
        }
    }
}

#[test]
fn foreign_host_header_is_rejected() {
    let site = Site::open(made_up::running());
    let port = site.address.port();
    for (host, code) in [("evil.example", 421), ("localhost.evil.example", 421), ("localhost", 200)] {
        let host = format!("{host}:{port}");
        for path in ["/", "/events", "/metrics"] {
            let mut first = [0; 12];
            site.ask(path, &[("host", &host)]).read_exact(&mut first).unwrap();
            assert_eq!(String::from_utf8_lossy(&first), format!("HTTP/1.1 {code}"), "{host} {path}");
        }
    }
    let mut reply = Vec::new();
    site.send("GET / HTTP/1.0\r\n\r\n").read_to_end(&mut reply).unwrap();
    assert_eq!(Reply::parse(&reply).code, 421);
}

#[test]
fn unknown_path_is_404_and_other_method_is_405() {
    let site = Site::open(made_up::running());
    for path in ["/nowhere", "/../etc/passwd", "/dashboard.css/..", "//"] {
        assert_eq!(site.get(path, &[]).code, 404, "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
        let request = format!("{method} / HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", site.address);
        let mut reply = Vec::new();
        site.send(&request).read_to_end(&mut reply).unwrap();
        assert_eq!(Reply::parse(&reply).code, 405, "{method}");
    }
}

#[test]
fn large_or_slow_request_is_closed() {
    let site = Site::open(made_up::running());
    let begun = Instant::now();
    let slow: Vec<_> = (0..40).map(|_| site.send("GET / HTTP/1.1\r\nhost: local")).collect();
    let large = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(1 << 20));
    let mut connection = site.send("");
    connection.write_all(large.as_bytes()).ok();
    let mut reply = Vec::new();
    connection.read_to_end(&mut reply).ok();
    assert!(reply.is_empty() || Reply::parse(&reply).code == 431, "{:?}", Reply::parse(&reply));
    let many = (0..500).map(|i| format!("x-{i}: 1\r\n")).collect::<Vec<_>>().concat();
    let mut reply = Vec::new();
    site.send(&format!("GET / HTTP/1.1\r\nhost: localhost\r\n{many}\r\n")).read_to_end(&mut reply).ok();
    assert!(reply.is_empty() || Reply::parse(&reply).code == 431, "{:?}", Reply::parse(&reply));
    assert_eq!(site.get("/healthz", &[]).code, 200);
    for mut connection in slow {
        connection.read_to_end(&mut Vec::new()).ok();
    }
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    assert_eq!(site.get("/healthz", &[]).code, 200);
}

#[test]
fn silent_connections_yield_and_viewers_stay() {
    let site = Site::open(made_up::running());
    let mut viewer = site.ask("/events", &[]);
    let mut seen = [0; 12];
    viewer.read_exact(&mut seen).unwrap();
    // Many more connections than the server holds. Each may be silent for ten seconds.
    let begun = Instant::now();
    let mut silent: Vec<_> = (0..600).map(|_| site.send("")).collect();
    for path in ["/healthz", "/", "/metrics"] {
        assert_eq!(site.get(path, &[]).code, 200, "{path}");
    }
    for gone in &mut silent[..300] {
        assert_eq!(gone.read(&mut [0; 1]).unwrap(), 0);
    }
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    let last = silent.last_mut().unwrap();
    last.set_nonblocking(true).unwrap();
    assert_eq!(last.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    site.goes_on(made_up::finished());
    let mut text = String::new();
    while !text.contains("complete") {
        let mut bytes = [0; 4096];
        let length = viewer.read(&mut bytes).unwrap();
        assert!(length > 0, "the viewer was shown out");
        text += &String::from_utf8_lossy(&bytes[..length]);
    }
}

//! Access to the dashboard: open, or with a token that includes the right to read.
//!
//! A script sends a token with each request. A browser sends it once, from the form or in the address; then the token's
//! hash is stored in a cookie. The cookie is invisible to scripts of the page. Browsers send cookies to every port of
//! the machine, so another server there may see the hash. The hash allows reading the dashboard, but neither joining
//! nor steering the run.
//!
//! Without tokens, a request must name the machine by its address or by a name of its own network. Otherwise a foreign
//! page could point its host name to 127.0.0.1 and read the dashboard with its visitor's browser.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST};
use axum::http::{HeaderMap, HeaderValue};
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use coordinator::admission::{Guard, TokenHash};
use domain::{AccessToken, Owner};

/// How long a browser keeps the cookie: a run takes months.
const COOKIE_AGE: Duration = Duration::days(366);

/// The door.
#[derive(Debug)]
pub struct Door {
    guard: Guard,
    /// True if callers without a token get the public page.
    is_public: bool,
    /// Browsers keep cookies by machine: other coordinators of this one have ports of their own.
    cookie_name: String,
}

impl Door {
    /// The door of a dashboard at that address.
    pub fn new(guard: Guard, address: SocketAddr, is_public: bool) -> Self {
        Self { guard, is_public, cookie_name: format!("diadem-{}", address.port()) }
    }

    /// True if everybody may see the public page.
    pub fn is_public(&self) -> bool {
        self.is_public
    }

    /// True if a viewer needs a token.
    pub fn asks(&self) -> bool {
        self.guard.asks()
    }

    /// True if a request is meant for this machine. Tokens are not sent to other machines. A public page has no secrets, and
    /// a proxy passes on the host of its own.
    pub fn is_meant(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        self.guard.asks() || self.is_public || host.is_some_and(is_local_host)
    }

    /// The owner as which a request may read the dashboard; none if it may not.
    pub fn reader(&self, headers: &HeaderMap) -> Option<Owner> {
        if !self.guard.asks() {
            // Nobody can show a token, so everybody sees the public page.
            return (!self.is_public).then(Owner::default);
        }
        let shown = headers.get(AUTHORIZATION);
        let shown = shown.and_then(|value| AccessToken::from_bearer(value.as_bytes()).ok());
        let shown = shown.map(|token| TokenHash::of(&token));
        shown.into_iter().chain(self.cookies(headers)).find_map(|token| self.guard.reader(token))
    }

    /// The cookie for a token, if that lets in. Without keys no token does.
    pub fn cookie(&self, token: &str) -> Option<HeaderValue> {
        if !self.guard.asks() {
            return None;
        }
        let token: AccessToken = token.parse().ok()?;
        let token = Some(TokenHash::of(&token)).filter(|token| self.guard.reader(*token).is_some())?;
        let cookie = Cookie::build((&self.cookie_name, token.to_string()))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Strict)
            .secure(self.guard.encrypts())
            .max_age(COOKIE_AGE);
        let mut value: HeaderValue = cookie.to_string().parse().ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The hashes of tokens in the cookies of a request.
    fn cookies(&self, headers: &HeaderMap) -> impl Iterator<Item = TokenHash> {
        let cookies = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let cookies = cookies.flat_map(Cookie::split_parse).filter_map(Result::ok);
        cookies
            .filter(|cookie| cookie.name() == self.cookie_name)
            .filter_map(|cookie| cookie.value().parse().ok())
    }
}

/// True if a host, with or without a port, is an address or a name without dots. Foreign servers have no such names.
fn is_local_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let is_label = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    address.parse::<IpAddr>().is_ok() || (!name.is_empty() && name.chars().all(is_label))
}

#[cfg(test)]
mod tests {
    use coordinator::admission::{Access, Bearers, Right};

    use super::*;

    const TOKEN: &str = "0123456789abcdef;\"0123456789abcdef";

    fn door(asks: bool) -> Door {
        let mut bearers = Bearers::default();
        bearers.admit(&TOKEN.parse().unwrap(), Owner::new("status"), Right::Read);
        let access = if asks { Access::guarded(bearers) } else { Access::open() };
        Door::new(Guard::new(access, None), "127.0.0.1:7228".parse().unwrap(), false)
    }

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn only_header_and_cookie_with_token_are_accepted() {
        let door = door(true);
        assert!(door.reader(&headers("authorization", &format!("Bearer {TOKEN}"))).is_some());
        let cookie = door.cookie(TOKEN).unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains(TOKEN));
        let digits: Vec<_> = TOKEN.as_bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!cookie.contains(&digits.concat()), "nor in digits");
        let pair = cookie.split(';').next().unwrap();
        assert!(door.reader(&headers("cookie", &format!("other=1; {pair}"))).is_some());
        assert!(door.reader(&headers("cookie", &pair.replace("7228", "7229"))).is_none());
        assert!(door.reader(&headers("cookie", &format!("{pair}0"))).is_none());
        assert!(door.reader(&headers("cookie", "diadem-7228=zz")).is_none());
        assert!(door.reader(&headers("authorization", &format!("Bearer {TOKEN}x"))).is_none());
        assert!(door.reader(&headers("authorization", &format!("Basic {TOKEN}"))).is_none());
        assert!(door.reader(&HeaderMap::new()).is_none());
        assert!(door.cookie(&TOKEN.replace('0', "1")).is_none());
    }

    #[test]
    fn open_page_accepts_only_hosts_of_this_machine() {
        let door = door(false);
        assert!(door.reader(&HeaderMap::new()).is_some());
        for host in ["127.0.0.1:7228", "localhost", "LocalHost:80", "[::1]:7228", "10.0.0.7", "node-7:7228"] {
            assert!(door.is_meant(&headers("host", host)), "{host}");
        }
        for host in [
            "evil.example:7228",
            "localhost.evil.example",
            "",
            ":7228",
            "127.0.0.1.evil.example",
            "evil.",
            "a@b",
        ] {
            assert!(!door.is_meant(&headers("host", host)), "{host}");
        }
        assert!(!door.is_meant(&HeaderMap::new()));
        assert!(self::door(true).is_meant(&headers("host", "node7.example.org:7228")));
    }
}

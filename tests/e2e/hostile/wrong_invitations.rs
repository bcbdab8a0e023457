//! Invitations that are altered, expired, revoked or lead astray: `diadem join` ends with one sentence, and nobody but the
//! coordinator is shown the token. Each kind is tried 50 times.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use prost::Message;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rcgen::{CertificateParams, KeyPair};

use crate::credentials::{authority_key, certify, keys, serve};
use crate::eavesdropper::Eavesdropper;
use crate::harness::{Completed, Folder, free_address, until};

const TRIES: u64 = 50;

const PREFIX: &str = "diadem-";

/// The first byte of a TLS record with a handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// The first byte of a handshake message (RFC 8446, 4).
const CLIENT_HELLO: u8 = 1;

/// The content of an invitation, which its holder can change.
#[derive(Clone, PartialEq, Message)]
struct Content {
    #[prost(string, repeated, tag = "1")]
    coordinators: Vec<String>,
    #[prost(string, tag = "2")]
    owner: String,
    #[prost(uint64, tag = "3")]
    expires: u64,
    #[prost(string, tag = "4")]
    token: String,
    #[prost(bytes = "vec", tag = "5")]
    authority: Vec<u8>,
}

impl Content {
    /// The invitation of ada to that address, by the keys in that folder.
    fn invite(folder: &Folder, keys: &str, address: &str) -> Self {
        let made = folder.run(&format!("invite {keys} ada --coordinator https://{address}"));
        assert_eq!(made.code, Some(0), "{made:?}");
        let line = made.stdout.trim();
        let bytes = URL_SAFE_NO_PAD.decode(line.strip_prefix(PREFIX).unwrap()).unwrap();
        let content = Self::decode(&bytes[..bytes.len() - 8]).unwrap();
        assert_eq!(content.line(), line);
        content
    }

    fn line(&self) -> String {
        let message = self.encode_to_vec();
        let hash = blake3::hash(&message);
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode([&message, &hash.as_bytes()[..8]].concat()))
    }

    /// The same to another address.
    fn to(&self, url: &str) -> Self {
        Self { coordinators: vec![url.to_owned()], ..self.clone() }
    }

    /// `diadem join` with these words ends with this code and one sentence, which shows no part of the invitation.
    #[track_caller]
    fn refused(&self, folder: &Folder, words: &[&str], code: i32, sentence: &str) {
        let mut command = folder.diadem("join --threads 1 --give-up-after 20s");
        let ended = Completed::of(command.args(words).output().unwrap());
        ended.refused(&[sentence]);
        assert_eq!(ended.code, Some(code), "{words:?}: {ended:?}");
        assert!(!ended.stderr.contains(". ") && !ended.stderr.contains(&self.token), "{ended:?}");
        for part in self.line().as_bytes()[PREFIX.len()..].windows(12) {
            assert!(!ended.stderr.contains(str::from_utf8(part).unwrap()), "{words:?}: {ended:?}");
        }
    }
}

/// The line with a random slip of copying, as the words that a shell makes of it.
fn altered(line: &str, random: &mut StdRng) -> Vec<String> {
    let at = random.random_range(PREFIX.len()..line.len() - 20);
    let (start, end) = line.split_at(at);
    let (one, rest) = end.split_at(1);
    let flipped =
        |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let word = match random.random_range(0..10) {
        0 => format!("{start}{}{rest}", if one == "x" { "y" } else { "x" }),
        1 => start.to_owned(),
        2 => end.to_owned(),
        3 => format!("-{end}"),
        4 => format!("{PREFIX}{end}{}", &start[PREFIX.len()..]),
        5 => format!("{start}{rest}"),
        6 => format!("{start}{one}{end}"),
        7 => format!("{start}{}{}{}", &rest[..1], one, &rest[1..]),
        8 => format!("{start}{}", end.chars().map(flipped).collect::<String>()),
        _ => return vec![start.to_owned(), end.to_owned()],
    };
    vec![word]
}

#[test]
fn altered_invitations_reach_nobody() {
    let folder = keys();
    let listener = Eavesdropper::plain();
    let content = Content::invite(&folder, "keys", &listener.address);
    let line = content.line();
    let mut random = StdRng::seed_from_u64(60);
    let mut tries = 0;
    while tries < TRIES {
        let words = altered(&line, &mut random);
        if words != [&*line] {
            content.refused(&folder, &words.iter().map(|word| &**word).collect::<Vec<_>>(), 2, "invitation");
            tries += 1;
        }
    }
    assert!(listener.heard().is_empty());
}

#[test]
fn expired_invitations_are_refused() {
    let folder = keys();
    let listener = Eavesdropper::plain();
    let content = Content::invite(&folder, "keys", &free_address());
    let tokens = folder.path().join("keys/coordinator/join.token");
    let listed = fs::read_to_string(&tokens).unwrap();
    let (before, _) = listed.split_once("until=").unwrap();
    fs::write(&tokens, format!("{before}until=2026-01-01T00:00:00Z\n")).unwrap();
    let (coordinator, address) = serve(&folder, "keys/coordinator");
    let [url, same] = ["127.0.0.1", "localhost"].map(|host| address.replace("127.0.0.1", host));
    for k in 0..TRIES {
        if k % 2 == 0 {
            // The machine's clock suffices.
            let over = Content {
                expires: 1_000_000_000 + k,
                ..content.to(&format!("https://{}", listener.address))
            };
            over.refused(&folder, &[&over.line()], 1, "the invitation of ada expired on 2001-09-09");
        } else {
            // The holder pretends that it is still valid.
            let urls = [&url, &same].into_iter().take(1 + k as usize / 2 % 2);
            let coordinators = urls.map(|address| format!("https://{address}")).collect();
            let forged = Content { expires: 4_000_000_000 + k, coordinators, ..content.clone() };
            forged.refused(&folder, &[&forged.line()], 1, "the invitation of ada has expired");
        }
    }
    assert!(listener.heard().is_empty());
    assert_eq!((folder.counts("run"), coordinator.says(&content.token)), (0, false));
}

#[test]
fn revoked_invitations_are_refused() {
    let folder = keys();
    let content = Content::invite(&folder, "keys", &free_address());
    assert_eq!(folder.run("keys revoke keys ada").code, Some(0));
    let (coordinator, address) = serve(&folder, "keys/coordinator");
    let urls =
        ["127.0.0.1", "localhost"].map(|host| format!("https://{}", address.replace("127.0.0.1", host)));
    for k in 0..TRIES as usize {
        let coordinators = urls[k % 2..].to_vec();
        let revoked = Content { coordinators, ..content.clone() };
        revoked.refused(&folder, &[&revoked.line()], 1, "the keys of ada have been revoked");
    }
    assert_eq!((folder.counts("run"), coordinator.says(&content.token)), (0, false));
}

#[test]
fn invitations_to_wrong_servers_show_no_token() {
    let folder = keys();
    let (coordinator, address) = serve(&folder, "keys/coordinator");
    let content = Content::invite(&folder, "keys", &address);
    let other_keys = Content::invite(&folder, "others", &address);
    let other_token = Content { token: other_keys.token.clone(), ..content.clone() };
    let no_authority = Content { authority: vec![48; 300], ..content.clone() };
    let plain = Eavesdropper::plain();
    let secure = |host: &str, authority_key| {
        let (certificate, key) =
            certify(CertificateParams::new(vec![host.to_owned()]).unwrap(), authority_key);
        Eavesdropper::tls(&certificate, &key)
    };
    let impostor = secure("127.0.0.1", KeyPair::generate().unwrap());
    let neighbour = secure("node7.example.org", authority_key(&folder));
    let astray = |scheme: &str, server: &Eavesdropper| content.to(&format!("{scheme}://{}", server.address));
    let cases = [
        (other_token, 1, "the token is not one of this coordinator's"),
        (other_keys, 1, "certificate is not of the authority"),
        (no_authority, 1, "certificate is not of the authority"),
        (astray("https", &plain), 1, "does not speak TLS"),
        (astray("http", &plain), 2, "is not encrypted"),
        (astray("https", &impostor), 1, "certificate is not of the authority"),
        (astray("https", &neighbour), 1, "the coordinator's certificate is for"),
    ];
    for (case, code, sentence) in cases.iter().cycle().take(TRIES as usize) {
        case.refused(&folder, &[&case.line()], *code, sentence);
    }
    for server in [&plain, &impostor, &neighbour] {
        until("all connections have ended", || server.heard().len() >= TRIES as usize / cases.len());
        for heard in server.heard() {
            assert!(
                !heard.is_accepted && heard.plain.is_empty() && is_only_greeting(&heard.wire),
                "{heard:?}"
            );
        }
    }
    assert_eq!((folder.counts("run"), coordinator.says(&content.token)), (0, false));
}

/// True for the greeting of a client of TLS, and too little behind it to hold a token: an alert.
fn is_only_greeting(wire: &[u8]) -> bool {
    let [HANDSHAKE, _, _, high, low, CLIENT_HELLO, ..] = wire else { return false };
    let greeting = 5 + usize::from(u16::from_be_bytes([*high, *low]));
    (greeting..greeting + 64).contains(&wire.len())
}

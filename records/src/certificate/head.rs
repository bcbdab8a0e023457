//! The head of a ledger's hash chain. If it is published regularly, it proves that earlier records were not rewritten.
//!
//! ```text
//! diadem-head run=<hash> records=<number> head=<hash> n=20 shard=1/1 plan=<fingerprint> at=2026-11-22T03:26:33Z
//! ```

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use queens::plan::Fingerprint;
use queens::{Board, Class, Classified};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use domain::seen;

use crate::checkpoint::acknowledged::{acknowledged, refuse_loss};
use crate::ledger::{LedgerError, LedgerPosition, LineHash, read_marks};
use crate::replay::beginning;
use crate::run_directory::RunDirectory;
use crate::shard::Shard;

/// The first word of a published line.
const LINE_PREFIX: &str = "diadem-head";

/// The end of a ledger's chain at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedHead {
    /// The hash of the run.
    pub run: LineHash,
    /// Its records at that time.
    pub records: u64,
    /// The hash of the last mark; before the first one that of the run.
    pub head: LineHash,
}

/// A head that a ledger does not have, or no head at all.
#[derive(Debug, Error)]
pub enum HeadError {
    /// The ledger is damaged, or cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A line is none that was published.
    #[error("line {0} is no line of diadem head")]
    Malformed(usize),
    /// A time is none.
    #[error("line {line}: the time \"{said}\" is none of diadem head, which writes 2026-11-22T03:26:33Z")]
    MalformedTime {
        /// The line.
        line: usize,
        /// The value in the line.
        said: String,
    },
    /// There is no head.
    #[error("there is no line of diadem head in it")]
    Empty,
    /// It is of another run.
    #[error(
        "line {line}: the head is of run {published}, this is run {run}; compare heads of a merged part \
         with its own ledger"
    )]
    OtherRun {
        /// The line.
        line: usize,
        /// The run that the head names.
        published: LineHash,
        /// The run whose ledger was read.
        run: LineHash,
    },
    /// It describes this run wrongly.
    #[error("line {line}: the head has {name} = {said}, but this run has {found}")]
    OtherPart {
        /// The line.
        line: usize,
        /// The name of the wrong field.
        name: &'static str,
        /// The value in the line.
        said: String,
        /// The value of the run.
        found: String,
    },
    /// The ledger ends before it.
    #[error("line {line}: {records} records were published, but the ledger ends after {found}")]
    Short {
        /// The line.
        line: usize,
        /// The records that were published.
        records: u64,
        /// The records that the ledger has.
        found: u64,
    },
    /// The ledger has another line there.
    #[error(
        "line {line}: the head {head} after {records} records is not in the chain: the ledger was rewritten since it was \
         published"
    )]
    Rewritten {
        /// The line.
        line: usize,
        /// The records that were published.
        records: u64,
        /// The head that was.
        head: LineHash,
    },
}

impl Classified for HeadError {
    fn class(&self) -> Class {
        match self {
            Self::Malformed(_) | Self::MalformedTime { .. } | Self::Empty => Class::Failed,
            _ => Class::Unsound,
        }
    }
}

impl PublishedHead {
    /// The head of a run's ledger at its last mark. Others may be writing there.
    ///
    /// # Errors
    /// The ledger is damaged, lacks acknowledged records, or cannot be read.
    pub fn of(directory: &RunDirectory) -> Result<Self, LedgerError> {
        let known = acknowledged(directory);
        let tail = read_marks(&directory.ledger(), &beginning(directory), |_| ())?;
        refuse_loss(directory, known.as_ref(), &tail.end)?;
        Ok(Self::at(directory, &tail.end))
    }

    /// The head of a run's ledger at that place, which is behind a mark.
    pub fn at(directory: &RunDirectory, position: &LedgerPosition) -> Self {
        Self { run: directory.run().hash(), records: position.mark.records, head: position.hash }
    }

    /// The line that is published of a run at this time.
    pub fn line(&self, directory: &RunDirectory, at: SystemTime) -> String {
        let (plan, shard) = (directory.plan(), directory.run().shard.fraction());
        let at = humantime::format_rfc3339_seconds(at);
        format!("{self} n={} shard={shard} plan={} at={at}", plan.board(), plan.fingerprint())
    }

    /// The place in a run's ledger that has this head, if there is one.
    ///
    /// # Errors
    /// The ledger is damaged, or cannot be read.
    pub fn find(&self, directory: &RunDirectory) -> Result<Option<LedgerPosition>, LedgerError> {
        let mut found = Some(beginning(directory)).filter(|beginning| self.is_at(beginning));
        read_marks(&directory.ledger(), &beginning(directory), |position| {
            if found.is_none() && self.is_at(position) {
                found = Some(position.clone());
            }
        })?;
        Ok(found.filter(|_| self.run == directory.run().hash()))
    }

    fn is_at(&self, position: &LedgerPosition) -> bool {
        (position.mark.records, position.hash) == (self.records, self.head)
    }
}

impl fmt::Display for PublishedHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LINE_PREFIX} run={} records={} head={}", self.run, self.records, self.head)
    }
}

/// The SHA-256 hash of what is published, as 64 hexadecimal digits: the form that time-stamping services take.
pub fn stamped_hash(published: &str) -> String {
    let hash = digest(&SHA256, published.as_bytes());
    hash.as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// The line is none of `diadem head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it is no line of diadem head")]
pub struct NoHead;

/// The content of a published line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedLine {
    run: LineHash,
    records: u64,
    head: LineHash,
    n: Option<Board>,
    shard: Option<Fraction>,
    plan: Option<Fingerprint>,
    /// When it was printed; nothing can be compared with it.
    at: Option<String>,
}

/// Whether this is a time as it is written there: `2026-11-22T03:26:33Z`.
fn is_time(text: &str) -> bool {
    let time = humantime::parse_rfc3339(text);
    time.is_ok_and(|time| humantime::format_rfc3339_seconds(time).to_string() == text)
}

/// A share as it is written there: `3/400`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Fraction(Shard);

impl TryFrom<String> for Fraction {
    type Error = NoHead;
    fn try_from(text: String) -> Result<Self, NoHead> {
        let shard = text.parse().ok().filter(|shard: &Shard| shard.fraction() == text);
        shard.map(Self).ok_or(NoHead)
    }
}

impl PublishedLine {
    /// The first field that does not match the run: its name, the published value and the actual value.
    fn misfit(&self, directory: &RunDirectory) -> Option<(&'static str, String, String)> {
        let (plan, shard) = (directory.plan(), directory.run().shard.fraction());
        let said = [
            ("n", self.n.map(|n| n.to_string()), plan.board().to_string()),
            ("shard", self.shard.as_ref().map(|Fraction(shard)| shard.fraction()), shard),
            ("plan", self.plan.as_ref().map(ToString::to_string), plan.fingerprint().to_string()),
        ];
        let mut misfits = said.into_iter().filter_map(|(name, said, found)| Some((name, said?, found)));
        misfits.find(|(_, said, found)| said != found)
    }
}

impl FromStr for PublishedLine {
    type Err = NoHead;
    fn from_str(line: &str) -> Result<Self, NoHead> {
        if line.starts_with('{') {
            return serde_json::from_str(line).map_err(|_| NoHead);
        }
        let mut words = line.split_whitespace();
        if words.next() != Some(LINE_PREFIX) {
            return Err(NoHead);
        }
        // In the form of --json, so that both forms accept and refuse the same fields.
        let mut object = Map::new();
        for (name, text) in words.map(|word| word.split_once('=').unwrap_or((word, ""))) {
            let number = text.parse().ok().filter(|number: &u64| number.to_string() == text);
            let value = match number {
                Some(number) if matches!(name, "records" | "n") => Value::from(number),
                _ => Value::from(text),
            };
            if object.insert(name.to_owned(), value).is_some() {
                return Err(NoHead);
            }
        }
        serde_json::from_str(&Value::Object(object).to_string()).map_err(|_| NoHead)
    }
}

/// Heads that were published, with the lines of the file that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedHeads(Vec<(usize, PublishedLine)>);

impl PublishedHeads {
    /// Reads lines of `diadem head`, of any of its forms; empty ones and those that begin with # say nothing.
    ///
    /// # Errors
    /// A line is something else, or there is none.
    pub fn parse(text: &str) -> Result<Self, HeadError> {
        let lines = text.lines().map(str::trim).zip(1..);
        let said = lines.filter(|(text, _)| !text.is_empty() && !text.starts_with('#'));
        let head = |(text, line): (&str, usize)| {
            let head: PublishedLine = text.parse().map_err(|NoHead| HeadError::Malformed(line))?;
            let time = head.at.as_deref().filter(|time| !is_time(time));
            match time.map(|time| seen(time, &[]).into_owned()) {
                Some(said) => Err(HeadError::MalformedTime { line, said }),
                None => Ok((line, head)),
            }
        };
        let heads = said.map(head).collect::<Result<Vec<_>, HeadError>>()?;
        if heads.is_empty() { Err(HeadError::Empty) } else { Ok(Self(heads)) }
    }

    /// How many there are.
    pub fn number(&self) -> usize {
        self.0.len()
    }

    /// Checks that all heads are in the chain of a run's ledger. Returns the number of records before the last head.
    ///
    /// # Errors
    /// One is not, or the ledger cannot be read.
    pub fn check(&self, directory: &RunDirectory) -> Result<u64, HeadError> {
        let run = directory.run().hash();
        for (line, said) in &self.0 {
            if said.run != run {
                return Err(HeadError::OtherRun { line: *line, published: said.run, run });
            }
            if let Some((name, said, found)) = said.misfit(directory) {
                return Err(HeadError::OtherPart { line: *line, name, said, found });
            }
        }
        let mut missing: HashSet<(u64, LineHash)> =
            self.0.iter().map(|(_, said)| (said.records, said.head)).collect();
        let mut note =
            |position: &LedgerPosition| _ = missing.remove(&(position.mark.records, position.hash));
        note(&beginning(directory));
        let tail = read_marks(&directory.ledger(), &beginning(directory), note)?;
        let Some((line, head)) = self.0.iter().find(|(_, said)| missing.contains(&(said.records, said.head)))
        else {
            return Ok(self.0.iter().map(|(_, said)| said.records).max().unwrap_or_default());
        };
        let (line, records, found) = (*line, head.records, tail.end.mark.records);
        Err(if records > found {
            HeadError::Short { line, records, found }
        } else {
            HeadError::Rewritten { line, records, head: head.head }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::Store;
    use crate::testing::known_run;

    #[test]
    fn published_head_is_found_only_at_its_mark() {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, _, _) = Store::open(known_run::options(folder.path())).unwrap();
        let mut text = "# heads\n\n".to_owned();
        let directory = store.directory().clone();
        let mut heads = vec![PublishedHead::of(&directory).unwrap()];
        for unit in 0..6 {
            store.commit(&[known_run::record(unit)], Duration::from_secs(unit), 1).unwrap();
            heads.push(PublishedHead::of(&directory).unwrap());
            text += &format!("{} at=2026-11-22T03:26:33Z\n", heads[heads.len() - 1]);
        }
        text += &serde_json::to_string(&heads[0]).unwrap();
        let parsed = PublishedHeads::parse(&text).unwrap();
        assert_eq!((parsed.number(), parsed.check(&directory).unwrap()), (7, 6));
        for head in &heads {
            assert_eq!(head.find(&directory).unwrap().unwrap().mark.records, head.records);
        }
        let wrong = |change: fn(&mut PublishedHead)| {
            let mut head = heads[3].clone();
            change(&mut head);
            assert_eq!(head.find(&directory).unwrap(), None);
            let text = format!("{}\n{head}\n{}", heads[1], heads[2]);
            PublishedHeads::parse(&text).unwrap().check(&directory).unwrap_err()
        };
        let other = |head: &mut PublishedHead| head.head = LineHash::of(b"other");
        assert!(matches!(wrong(other), HeadError::Rewritten { line: 2, records: 3, .. }));
        assert!(matches!(wrong(|head| head.records = 4), HeadError::Rewritten { line: 2, records: 4, .. }));
        assert!(matches!(wrong(|head| head.records = 9), HeadError::Short { line: 2, found: 6, .. }));
        assert!(matches!(wrong(|head| head.run = head.head), HeadError::OtherRun { line: 2, .. }));
        let other = |said: &str| {
            let text = format!("{} {said}", heads[3]);
            PublishedHeads::parse(&text).and_then(|heads| heads.check(&directory)).unwrap_err()
        };
        for said in ["n=28", "shard=3/9", "plan=ffffffffffffffffffffffffffffffff"] {
            assert!(matches!(other(said), HeadError::OtherPart { line: 1, .. }), "{said}");
        }
        for said in
            ["total=42", "n=+8", "n=0", "n=33", "n=300", "records=3", "shard=0/9", "shard=03/9", "shard=x"]
        {
            assert!(matches!(other(said), HeadError::Malformed(1)), "{said}");
        }
        for time in ["yesterday", "", "2026-13-22T03:26:33Z", "2026-11-22T03:26:33", "2026-11-22T03:26:33.5Z"]
        {
            let refused = other(&format!("at={time}"));
            assert!(
                matches!(&refused, HeadError::MalformedTime { line: 1, said } if said == time),
                "{refused}"
            );
        }
        for (text, line) in [("x", 1), ("#\ndiadem-head run=1", 2), ("{}", 1)] {
            let malformed = PublishedHeads::parse(text);
            assert!(matches!(malformed, Err(HeadError::Malformed(at)) if at == line), "{malformed:?}");
        }
        assert!(matches!(PublishedHeads::parse("# nothing\n"), Err(HeadError::Empty)));
    }
}

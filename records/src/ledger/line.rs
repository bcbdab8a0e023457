//! One line of the ledger as bytes: JSON, the hash of the line before, and a CRC.
//!
//! ```text
//! {"kind":"count","unit":7,...,"prev":"<32 hex digits>","crc":"<8 hex digits>"}
//! ```
//!
//! The CRC is that of all bytes in front of `,"crc"`; the hash of a line is that of all its bytes.

use super::damage::LineError;
use super::hash::LineHash;
use super::record::Record;

const PREV: &str = ",\"prev\":\"";
const CRC: &str = ",\"crc\":\"";
const END: &str = "\"}";
/// Bytes from the start of `,"crc"` to the end of the line.
const CRC_LEN: usize = CRC.len() + 8 + END.len();
/// Bytes from the start of `,"prev"` to the start of `,"crc"`.
const PREV_LEN: usize = PREV.len() + 32 + 1;

/// Appends the line for a record, with its newline, and gives its hash.
pub fn push_line(lines: &mut Vec<u8>, record: &Record, prev: LineHash) -> LineHash {
    let begin = lines.len();
    serde_json::to_writer(&mut *lines, record).expect("a record is plain data");
    lines.pop();
    lines.extend_from_slice(PREV.as_bytes());
    lines.extend_from_slice(&hex::<16, 32>(prev.bytes()));
    lines.push(b'"');
    let crc = crc32fast::hash(&lines[begin..]);
    lines.extend_from_slice(CRC.as_bytes());
    lines.extend_from_slice(&hex::<4, 8>(crc.to_be_bytes()));
    lines.extend_from_slice(END.as_bytes());
    let hash = LineHash::of(&lines[begin..]);
    lines.push(b'\n');
    hash
}

/// Two hexadecimal digits for each byte. The standard formatting of numbers takes ten times as long, a tenth of the
/// time for a line.
fn hex<const BYTES: usize, const DIGITS: usize>(bytes: [u8; BYTES]) -> [u8; DIGITS] {
    std::array::from_fn(|place| {
        let digit = bytes[place / 2] >> (4 * (1 - place % 2)) & 15;
        b"0123456789abcdef"[usize::from(digit)]
    })
}

/// The record of a line (without its newline) and the hash of the line before.
///
/// # Errors
/// The writer never wrote such a line.
pub fn decode(line: &[u8]) -> Result<(Record, LineHash), LineError> {
    match line.split_last() {
        Some((b'\r', line)) => Err(decode_exactly(line).err().unwrap_or(LineError::CarriageReturn)),
        _ => decode_exactly(line),
    }
}

fn decode_exactly(line: &[u8]) -> Result<(Record, LineHash), LineError> {
    let text = std::str::from_utf8(line).map_err(|_| LineError::NotText)?;
    let cut = |len: usize| text.len().checked_sub(len).filter(|at| text.is_char_boundary(*at));
    let (body, crc) = cut(CRC_LEN).map(|at| text.split_at(at)).ok_or(LineError::TooShort)?;
    let crc = crc.strip_prefix(CRC).and_then(|rest| rest.strip_suffix(END)).ok_or(LineError::NoCrc)?;
    if crc.as_bytes() != hex::<4, 8>(crc32fast::hash(body.as_bytes()).to_be_bytes()) {
        return Err(LineError::WrongCrc);
    }
    let at = body.len().checked_sub(PREV_LEN).filter(|at| body.is_char_boundary(*at));
    let (json, prev) = body.split_at(at.ok_or(LineError::TooShort)?);
    let prev = prev.strip_prefix(PREV).and_then(|rest| rest.strip_suffix('"')).ok_or(LineError::NoHash)?;
    let prev = prev.parse().map_err(|_| LineError::MalformedHash)?;
    let record = parse(json).ok_or(LineError::UnknownRecord)?;
    Ok((record, prev))
}

/// The record in a line up to its `prev`. The kind comes first: serde would look for it in all fields, and keep them
/// aside meanwhile, which takes twice as long.
fn parse(json: &str) -> Option<Record> {
    let (kind, fields) = json.strip_prefix("{\"kind\":\"")?.split_once("\",")?;
    let fields = &["{", fields, "}"].concat();
    let record = match kind {
        "count" => serde_json::from_str(fields).map(Record::Count),
        "check" => serde_json::from_str(fields).map(Record::Check),
        "conflict" => serde_json::from_str(fields).map(Record::Conflict),
        "retract" => serde_json::from_str(fields).map(Record::Retract),
        "restore" => serde_json::from_str(fields).map(Record::Restore),
        "expel" => serde_json::from_str(fields).map(Record::Expel),
        "admit" => serde_json::from_str(fields).map(Record::Admit),
        "policy" => serde_json::from_str(fields).map(Record::Policy),
        "draw" => serde_json::from_str(fields).map(Record::Draw),
        "term" => serde_json::from_str(fields).map(Record::Term),
        "replicas" => serde_json::from_str(fields).map(Record::Replicas),
        "merged" => serde_json::from_str(fields).map(Record::Merged),
        "loss" => serde_json::from_str(fields).map(Record::Loss),
        "pause" => serde_json::from_str(fields).map(Record::Pause),
        "resume" => serde_json::from_str(fields).map(Record::Resume),
        "mark" => serde_json::from_str(fields).map(Record::Mark),
        _ => return None,
    };
    record.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double_check::DoubleCheck;
    use crate::ledger::record::{
        AcceptedLoss, CommitMark, Draw, Pause, Policy, Replicas, Resumption, UnitRecord,
    };
    use crate::ledger::term_record::TermRecord;
    use crate::own_checks::OwnChecks;
    use domain::CoordinatorId;
    use queens::UnitId;

    /// The line without its newline.
    fn line_of(record: &Record, prev: LineHash) -> String {
        let mut line = Vec::new();
        let hash = push_line(&mut line, record, prev);
        assert_eq!(line.pop(), Some(b'\n'));
        assert_eq!(hash, LineHash::of(&line));
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn lines_round_trip_and_any_changed_bit_is_detected() {
        let record = Record::Count(UnitRecord {
            unit: UnitId(17),
            count: u64::MAX,
            nodes: 12,
            cpu_us: 5,
            worker: "bücher \"1\"\n".into(),
            machine: "m".into(),
            kernel: "search/portable".into(),
            mirrored: false,
            recount: None,
            of: None,
            owner: String::new(),
            of_owner: String::new(),
            at: 1_790_000_000,
        });
        let prev = LineHash::of(b"before");
        let line = line_of(&record, prev);
        assert!(!line.contains('\n'));
        assert_eq!(decode(line.as_bytes()), Ok((record, prev)));
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut changed = line.clone().into_bytes();
                changed[at] ^= 1 << bit;
                assert!(decode(&changed).is_err(), "byte {at} bit {bit}");
            }
        }
        let mark = Record::Mark(CommitMark { records: 3, elapsed_ms: 1500, threads: 2 });
        let line = line_of(&mark, prev);
        assert_eq!(decode(line.as_bytes()), Ok((mark, prev)));
        let term = |key: Option<&str>| {
            let (coordinator, key) = (CoordinatorId(u128::MAX / 3), key.map(str::to_owned));
            Record::Term(TermRecord { term: 7, coordinator, key, at: 1 })
        };
        let replicas = |reason| Record::Replicas(Replicas { replicas: 2, reason, at: 1 });
        let policy = |reason: Option<String>| {
            let own_checks = Some(OwnChecks { share: DoubleCheck::default(), owner: "ada".to_owned() })
                .filter(|_| reason.is_some());
            let double_check = DoubleCheck::All;
            Record::Policy(Policy { double_check, require_owners: None, own_checks, reason, at: 1 })
        };
        let draw = Record::Draw(Draw { seed: prev, units: vec![UnitId(3)], at: 1 });
        let loss = Record::Loss(AcceptedLoss { records: 3, bytes: 700, files: 0, at: 1 });
        let pause = Record::Pause(Pause { reason: "the night".to_owned(), at: 1 });
        let resume = Record::Resume(Resumption { at: 2 });
        let said = || Some("as it is a record".to_owned());
        let key = "0af9".repeat(16);
        let of_replicas = [replicas(None), replicas(said())];
        let others = [term(None), term(Some(&key)), policy(None), policy(said()), draw, loss, pause, resume];
        for record in others.into_iter().chain(of_replicas) {
            let line = line_of(&record, prev);
            assert_eq!(decode(line.as_bytes()), Ok((record, prev)));
        }
        for key in ["", "0af9", &"0AF9".repeat(16)] {
            let line = line_of(&term(Some(key)), prev);
            assert_eq!(decode(line.as_bytes()), Err(LineError::UnknownRecord));
        }
    }

    #[test]
    fn record_with_unknown_field_is_rejected() {
        let known = line_of(&Record::Mark(CommitMark::default()), LineHash::of(b"before"));
        let at = known.find(PREV).unwrap();
        let body = format!("{},\"weight\":2{}", &known[..at], &known[at..known.len() - CRC_LEN]);
        let line = format!("{body}{CRC}{:08x}{END}", crc32fast::hash(body.as_bytes()));
        assert_eq!(decode(known.as_bytes()).map(|_| ()), Ok(()));
        assert_eq!(decode(line.as_bytes()), Err(LineError::UnknownRecord));
    }
}

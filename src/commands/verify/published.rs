//! Publications of a run, read from the files of `--certificate`, `--heads` and `--export`.

use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, ensure};
use domain::counted;
use records::export::{ExportError, TableSource};
use records::regular_file::open_or_stream;
use records::run_directory::RunDirectory;
use records::{Audit, Certificate, CertificateError, PublishedHeads};
use serde_json::json;

use super::verify_report::VerifyReport;
use crate::args::VerifyArgs;
use crate::progress::during;

/// Heads of a year, one a minute, are shorter, in bytes; a device that has no end is not.
const LONGEST_HEADS: u64 = 1 << 28;

/// A certificate names 200 machines and owners at most: it is shorter, in bytes. To be compared with its own words it takes fifty times
/// as much memory.
const LONGEST_CERTIFICATE: u64 = 1 << 20;

pub fn read_certificate(
    path: &Path,
    args: &VerifyArgs,
    report: &mut VerifyReport,
) -> anyhow::Result<Certificate> {
    let file = path.display();
    let text = read_text("reading the certificate", path, LONGEST_CERTIFICATE)?;
    let certificate = Certificate::parse(&text).with_context(|| file.to_string())?;
    let key = certificate.key().to_owned();
    if let Some(wanted) = args.signer.clone().filter(|wanted| *wanted != key) {
        let other = CertificateError::OtherKey { found: key, wanted };
        return Err(anyhow::Error::new(other).context(file.to_string()));
    }
    let (n, part, total) = certificate.found();
    let known = if args.signer.is_some() { "" } else { "; name the signer you expect with --signer" };
    report.add(
        &format!(
            "{file}: n = {n}, {part}, {total} solutions\n\
             {file}: as it was signed with the key {key}{known}"
        ),
        "certificate",
        json!({ "file": file.to_string(), "n": n, "part": part.to_string(), "solutions": total, "key": key }),
    )?;
    Ok(certificate)
}

/// Gives how many records stand in front of the last of the heads.
pub fn report_heads(
    report: &mut VerifyReport,
    path: &Path,
    directory: &RunDirectory,
    audit: &Audit,
) -> anyhow::Result<u64> {
    let file = path.display();
    let text = read_text("reading the heads", path, LONGEST_HEADS)?;
    let heads = PublishedHeads::parse(&text).with_context(|| file.to_string())?;
    let published = heads.check(directory).with_context(|| file.to_string())?;
    let behind = audit.tail.end.mark.records.saturating_sub(published);
    let warning = match behind {
        0 => String::new(),
        _ => format!(
            "\n{file}: {} after the last of them, which they do not protect",
            counted(behind, "record")
        ),
    };
    report.add(
        &format!(
            "{file}: {}, each in the chain of the ledger{warning}",
            counted(heads.number() as u64, "published head")
        ),
        "heads",
        json!({ "file": file.to_string(), "heads": heads.number(), "records_behind": behind }),
    )?;
    Ok(published)
}

pub fn report_export(
    report: &mut VerifyReport,
    path: &Path,
    directory: &RunDirectory,
    audit: &Audit,
) -> anyhow::Result<()> {
    let source = TableSource { directory, standing: &audit.standing, totals: audit.totals };
    let compared = during("reading the table", || {
        let file = open_or_stream(path).map_err(ExportError::Io)?;
        source.compare(&mut BufReader::new(file))
    });
    let (by, digest) = match compared {
        Err(ExportError::Io(error)) => {
            Err(error).with_context(|| format!("cannot read {}", path.display()))?
        }
        compared => compared.with_context(|| path.display().to_string())?,
    };
    report.add(
        &format!("{}: the table by {by} is that of the ledger, blake3 {digest}", path.display()),
        "export",
        json!({ "file": path.display().to_string(), "by": by.to_string(), "blake3": digest.to_string() }),
    )
}

/// A file that is held in memory.
fn read_text(what: &'static str, path: &Path, longest: u64) -> anyhow::Result<String> {
    let (file, mut text) = (path.display(), String::new());
    let read = during(what, || open_or_stream(path)?.take(longest + 1).read_to_string(&mut text));
    let length = read.with_context(|| format!("cannot read {file}"))?;
    ensure!(length as u64 <= longest, "{file} is too long: such a file has {} MiB at most", longest >> 20);
    Ok(text)
}

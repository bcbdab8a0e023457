//! `diadem certify`: the signed certificate of a finished run.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use records::run_directory::RunDirectory;
use records::verify::SampleSize;
use records::{Agreement, Certificate, SigningKey};

use super::verify::{audited, joined, recount_symmetric};
use crate::access::warn_if_others_may_read;
use crate::args::CertifyArgs;
use crate::host::memory::fitting_threads;
use crate::log::say;
use crate::output::print;
use crate::output_file::OutputFile;

pub fn run(args: &CertifyArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let out = args.out.as_deref().map(OutputFile::named).transpose()?;
    if let Some(key) = args.key.as_ref().filter(|key| out.as_ref().is_some_and(|out| out.is(key))) {
        bail!("{} is the private key: name another file for the certificate", key.display());
    }
    let run = audited(&directory, SampleSize::Units(0), None)?;
    run.expect_complete()?;
    let named = &run.audit().keys;
    let key = key_file(args, named)?;
    run.identities()?;
    let partition = run.partition()?;
    recount_symmetric(&run, fitting_threads(args.threads))?;
    let agreement = run.expect_published()?;
    let certificate = Certificate::sign(&directory, run.audit(), &SigningKey::open(&key)?)?;
    warn_if_others_may_read(&key);
    let text = serde_json::to_string_pretty(&certificate)?;
    match out {
        Some(out) => out.write(|out| Ok(writeln!(out, "{text}")?))?,
        None => print(&text)?,
    }
    say(format_args!("{}", partition.words()));
    if agreement == Agreement::SymmetricAgrees {
        say(format_args!("diadem: P and R agree with the published values; Q has not been published"));
    }
    say(format_args!("signed with the key {}", certificate.key()));
    if !named.is_empty() && !named.contains_key(certificate.key()) {
        say(format_args!(
            "diadem: warning: the ledger names other keys as its coordinators' ({}); diadem verify shows \
             that the certificate is signed by none of them",
            joined(named.keys())
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The file of the key that signs. Without `--key` it is that of the run, if the ledger names that key, or none: another one would
/// make the certificate look like a stranger's.
fn key_file(args: &CertifyArgs, named: &BTreeMap<String, u64>) -> anyhow::Result<PathBuf> {
    if let Some(key) = &args.key {
        return Ok(key.clone());
    }
    let key = SigningKey::file_of_run(&args.run);
    let is_named = named.is_empty() || key.exists() && named.contains_key(&SigningKey::open(&key)?.public());
    ensure!(
        is_named,
        "{} has none of the coordinators' keys that the ledger names ({}): use --key FILE with one of \
         them. If they are lost, name any other file, which is made if missing",
        key.display(),
        joined(named.keys())
    );
    Ok(key)
}

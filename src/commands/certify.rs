//! `diadem certify`: the signed certificate of a finished run.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use coordinator::run_directory::RunDirectory;
use coordinator::verify::SampleSize;
use coordinator::{Certificate, SigningKey};

use super::verify::{audited, recount_symmetric};
use crate::access::warn_if_others_may_read;
use crate::args::CertifyArgs;
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
    run.identities()?;
    recount_symmetric(&run, args.threads)?;
    run.expect_published()?;
    let key = args.key.clone().unwrap_or_else(|| SigningKey::file_of_run(&args.run));
    let certificate = Certificate::sign(&directory, run.audit(), &SigningKey::open(&key)?)?;
    warn_if_others_may_read(&key);
    let text = serde_json::to_string_pretty(&certificate)?;
    match out {
        Some(out) => out.write(|out| Ok(writeln!(out, "{text}")?))?,
        None => print(&text)?,
    }
    say(format_args!("signed with the key {}", certificate.key()));
    Ok(ExitCode::SUCCESS)
}

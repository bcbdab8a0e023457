//! `diadem certify`: the signed certificate of a finished run.

use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use coordinator::run_directory::RunDirectory;
use coordinator::verify::SampleSize;
use coordinator::{Certificate, SigningKey};

use super::verify::{audited, recount_symmetric};
use crate::args::CertifyArgs;
use crate::log::say;
use crate::output::print;

pub fn run(args: &CertifyArgs) -> anyhow::Result<ExitCode> {
    let directory = RunDirectory::open(&args.run)?;
    let run = audited(&directory, SampleSize::Units(0), None)?;
    run.expect_complete()?;
    run.identities()?;
    recount_symmetric(&run, args.threads)?;
    run.expect_published()?;
    let key = match &args.key {
        Some(path) => SigningKey::open(path)?,
        None => SigningKey::of_run(&args.run)?,
    };
    let certificate = Certificate::sign(&directory, run.audit(), &key)?;
    let text = serde_json::to_string_pretty(&certificate)?;
    match &args.out {
        Some(path) => {
            fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
        }
        None => print(&text)?,
    }
    say(format_args!("signed with the key {}", certificate.key()));
    Ok(ExitCode::SUCCESS)
}

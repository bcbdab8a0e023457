//! `diadem completions` and `diadem man`: what a shell and the manual want to know of the command line.

use std::fs;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::output::print;

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "diadem", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let unwritable = || format!("manual pages in {}", args.folder.display());
    fs::create_dir_all(&args.folder).with_context(unwritable)?;
    clap_mangen::generate_to(Args::command(), &args.folder).with_context(unwritable)?;
    Ok(ExitCode::SUCCESS)
}

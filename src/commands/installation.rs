//! `diadem completions` and `diadem man`: what a shell and the manual want to know of the command line.

mod page;

use std::fs;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::output::print;
use crate::output_file::OutputFile;

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "diadem", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot make the folder {} for manual pages", args.folder.display()))?;
    for (name, text) in page::pages(Args::command()) {
        OutputFile::named(&args.folder.join(name))?.write(|out| Ok(out.write_all(text.as_bytes())?))?;
    }
    Ok(ExitCode::SUCCESS)
}

//! `diadem completions` and `diadem man`: the command line described for shells and manuals.

mod page;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::output::print;
use crate::output_file::OutputFile;
use crate::settings::commands;

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names_of_commands(), "diadem", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// The command line in which `diadem config` completes the names of all commands.
fn with_names_of_commands() -> Command {
    let names = commands("");
    let words: BTreeSet<&str> = names.iter().flat_map(|name| name.split(' ')).collect();
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    Args::command().mut_subcommand("config", |config| {
        config.mut_arg("command", |command| command.value_parser(PossibleValuesParser::new(words)))
    })
}

pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(&args.folder)
        .with_context(|| format!("cannot make the folder {} for manual pages", args.folder.display()))?;
    for (name, text) in page::pages(Args::command()) {
        OutputFile::named(&args.folder.join(name))?.write(|out| Ok(out.write_all(text.as_bytes())?))?;
    }
    Ok(ExitCode::SUCCESS)
}

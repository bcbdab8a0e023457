//! The arguments of the commands about the program itself: config, completions, man.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Show the options in effect and where each comes from.
#[derive(Debug, Args)]
#[command(after_help = "\
Each option of each command may be given by a variable, DIADEM_ and its name in
capitals (DIADEM_ON_COORDINATOR_LOST for --on-coordinator-lost; 1 or 0 for one
without a value), or by a file that --config or DIADEM_CONFIG names. The command
line goes before variables, variables before the file, and a command's section
of the file before the rest.

Examples:
  diadem config                             all that is given anywhere
  diadem config worker --config site.toml   all options of a command

A file of settings, in TOML:
  keys = \"/etc/diadem/keys\"     # for every command that has the option
  [worker]                       # for this one alone
  coordinator = [\"https://10.0.0.7:7227\", \"https://10.0.0.8:7227\"]
  nice = 19
  [\"keys init\"]
  host = [\"10.0.0.7\", \"10.0.0.8\"]")]
pub struct ConfigArgs {
    /// Command, as in worker or keys init.
    ///
    /// All its options are shown [default: all options that are set].
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Print a script that completes commands in a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem completions bash > /etc/bash_completion.d/diadem
  diadem completions zsh > \"${fpath[1]}/_diadem\"
  diadem completions fish > ~/.config/fish/completions/diadem.fish")]
pub struct CompletionsArgs {
    /// Shell.
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Write manual pages for all commands.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem man /usr/local/share/man/man1")]
pub struct ManArgs {
    /// Folder for the pages, made if missing.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

//! The arguments that name another program to count by.

use std::time::Duration;

use clap::Args;

use super::value::{ValueError, time};

/// Another program that counts, and its time limit.
#[derive(Clone, Debug, Args)]
pub struct ExternalArgs {
    /// Another program to count by.
    ///
    /// It reads one position a line and writes one count a line, as docs/external.md describes. The text is split
    /// into program and arguments as a shell does; no shell runs. Each thread starts one.
    #[arg(long, value_name = "CMD", value_parser = command_line)]
    pub external: Option<ExternalCommand>,
    /// Its time for a unit [default: 1h].
    ///
    /// A program that has not answered by then is ended, and so is the command.
    #[arg(long, value_name = "TIME", value_parser = time, requires = "external")]
    external_timeout: Option<Duration>,
}

/// By default a program has this long for a unit.
const EXTERNAL_TIMEOUT: Duration = Duration::from_hours(1);

impl ExternalArgs {
    /// How long the program may take for a unit.
    pub fn timeout(&self) -> Duration {
        self.external_timeout.unwrap_or(EXTERNAL_TIMEOUT)
    }
}

/// A program and its arguments.
#[derive(Clone, Debug)]
pub struct ExternalCommand {
    /// The whole text, as typed.
    pub text: String,
    /// The program, as a path or a name.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Reads a program and its arguments.
pub fn command_line(text: &str) -> Result<ExternalCommand, ValueError> {
    let mut words = shlex::split(text).unwrap_or_default().into_iter();
    match words.next().filter(|program| !program.is_empty()) {
        Some(program) => Ok(ExternalCommand { text: text.to_owned(), program, arguments: words.collect() }),
        None => Err(ValueError::new(text, "a program and its arguments, quoted as in a shell")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_split_like_a_shell_does() {
        let command = command_line("python3 'my tools/count.py' --fast").unwrap();
        assert_eq!(command.program, "python3");
        assert_eq!(command.arguments, ["my tools/count.py", "--fast"]);
        assert_eq!(command_line(r"'C:\tools\count.exe'").unwrap().program, r"C:\tools\count.exe");
        for wrong in ["", " ", "'count", "''"] {
            assert!(command_line(wrong).is_err(), "{wrong}");
        }
    }
}

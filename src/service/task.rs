//! The service as a task of Windows' task scheduler.

use super::{Service, xml};

#[cfg(windows)]
pub use installing::*;

/// The task of that user. Priority 10 is the lowest. The defaults that it overrides stop a task after three days, and on a battery.
pub fn text(service: &Service, user: &str) -> String {
    let words = service.arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let (program, words, folder, user) =
        (xml(&service.program), xml(&words), xml(&service.folder), xml(user));
    format!(
        r#"<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Made by diadem --install-service. diadem worker --remove-service removes it.</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>{user}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{user}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>10</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{program}</Command>
      <Arguments>{words}</Arguments>
      <WorkingDirectory>{folder}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
"#
    )
}

/// A word of a command line. Backslashes are doubled before a quotation mark alone.
fn quoted(word: &str) -> String {
    let mut text = "\"".to_owned();
    let mut backslashes = 0;
    for char in word.chars() {
        match char {
            '\\' => backslashes += 1,
            '"' => {
                text.push_str(&"\\".repeat(backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        text.push(char);
    }
    text + &"\\".repeat(backslashes) + "\""
}

#[cfg(windows)]
mod installing {
    use std::env;
    use std::path::{Path, PathBuf};

    use anyhow::Context;

    use super::super::{Service, folder_in, run};

    const NAME: &str = "diadem-worker";

    /// When it runs.
    pub const ADVICE: &str = "the worker runs now and whenever you are logged on, in a console window";

    /// The bytes of the definition: UTF-16 with its mark, which schtasks demands.
    pub fn definition(service: &Service) -> Vec<u8> {
        let [domain, name] = ["USERDOMAIN", "USERNAME"].map(|name| env::var(name).unwrap_or_default());
        let text = format!("\u{feff}{}", super::text(service, &format!("{domain}\\{name}")));
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    pub fn definition_file() -> anyhow::Result<PathBuf> {
        Ok(state_folder()?.join("worker.xml"))
    }

    pub fn state_folder() -> anyhow::Result<PathBuf> {
        let folder =
            folder_in("LOCALAPPDATA").context("this user has no folder for programs: set LOCALAPPDATA")?;
        Ok(folder.join("diadem"))
    }

    pub fn start(definition: &Path) -> anyhow::Result<()> {
        run("schtasks", &["/create", "/tn", NAME, "/xml", &definition.to_string_lossy()])?;
        run("schtasks", &["/run", "/tn", NAME])
    }

    pub fn stop(_: &Path) -> anyhow::Result<()> {
        // It fails if the worker does not run.
        run("schtasks", &["/end", "/tn", NAME]).ok();
        run("schtasks", &["/delete", "/tn", NAME, "/f"])
    }

    /// After the definition is deleted: the task is gone.
    pub fn forget() {}
}

//! The service as a launch agent.

use super::{Service, xml};

#[cfg(target_os = "macos")]
pub use installing::*;

/// Its name, which launchd demands.
const LABEL: &str = "diadem.worker";

/// The agent, whose log goes to that file.
pub fn text(service: &Service, log: &str) -> String {
    let words = [&service.program].into_iter().chain(&service.arguments);
    let words =
        words.map(|word| format!("    <string>{}</string>", xml(word))).collect::<Vec<_>>().join("\n");
    let (folder, log, seconds) = (xml(&service.folder), xml(log), service.stop_timeout.as_secs());
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Made by diadem, option install-service. The option remove-service of diadem worker removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{words}
  </array>
  <key>WorkingDirectory</key>
  <string>{folder}</string>
  <key>StandardErrorPath</key>
  <string>{log}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>60</integer>
  <key>ExitTimeOut</key>
  <integer>{seconds}</integer>
  <key>Nice</key>
  <integer>19</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>LowPriorityIO</key>
  <true/>
</dict>
</plist>
"#
    )
}

#[cfg(target_os = "macos")]
mod installing {
    use std::path::{Path, PathBuf};

    use super::super::{Service, home, run};
    use super::LABEL;

    /// When it runs.
    pub const ADVICE: &str = "the worker runs now and whenever you are logged in";

    /// The bytes of the definition.
    pub fn definition(service: &Service) -> Vec<u8> {
        let log = home().unwrap_or_default().join("Library/Logs/diadem-worker.log");
        super::text(service, &log.to_string_lossy()).into_bytes()
    }

    pub fn definition_file() -> anyhow::Result<PathBuf> {
        Ok(home()?.join("Library/LaunchAgents").join(format!("{LABEL}.plist")))
    }

    pub fn state_folder() -> anyhow::Result<PathBuf> {
        Ok(home()?.join("Library/Application Support/diadem"))
    }

    /// Where launchd keeps what the user's session runs.
    fn domain() -> String {
        format!("gui/{}", rustix::process::getuid().as_raw())
    }

    pub fn start(definition: &Path) -> anyhow::Result<()> {
        run("launchctl", &["bootstrap", &domain(), &definition.to_string_lossy()])
    }

    pub fn stop(_: &Path) -> anyhow::Result<()> {
        run("launchctl", &["bootout", &format!("{}/{LABEL}", domain())])
    }

    /// After the definition is deleted: launchd has forgotten it.
    pub fn forget() {}
}

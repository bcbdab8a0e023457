//! The service as a unit of the user's systemd.

use super::Service;

#[cfg(not(any(windows, target_os = "macos")))]
pub use installing::*;

/// The unit. The colon keeps systemd from replacing variables.
pub fn text(service: &Service) -> String {
    let words = service.arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let (program, folder) = (quoted(&service.program), service.folder.replace('%', "%%"));
    let seconds = service.stop_timeout.as_secs();
    format!(
        "\
# Made by diadem --install-service. diadem worker --remove-service removes it.
[Unit]
Description=diadem worker
Documentation=https://github.com/diadem-queens/diadem

[Service]
Type=notify
WorkingDirectory={folder}
ExecStart=:{program} {words}
Restart=on-failure
RestartSec=60
RestartPreventExitStatus=2 3
SuccessExitStatus=143
TimeoutStopSec={seconds}
Nice=19
CPUSchedulingPolicy=idle
IOSchedulingClass=idle

[Install]
WantedBy=default.target
"
    )
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%"))
}

#[cfg(not(any(windows, target_os = "macos")))]
mod installing {
    use std::path::{Path, PathBuf};

    use super::super::{Service, folder_in, home, run};

    const UNIT: &str = "diadem-worker.service";

    /// When it runs.
    pub const ADVICE: &str = "the worker runs now and whenever you are logged in; after loginctl enable-linger it runs from the \
                              start of the machine\njournalctl --user -u diadem-worker shows its log";

    /// The bytes of the definition.
    pub fn definition(service: &Service) -> Vec<u8> {
        super::text(service).into_bytes()
    }

    pub fn definition_file() -> anyhow::Result<PathBuf> {
        let config =
            folder_in("XDG_CONFIG_HOME").map_or_else(|| home().map(|home| home.join(".config")), Ok)?;
        Ok(config.join("systemd/user").join(UNIT))
    }

    pub fn state_folder() -> anyhow::Result<PathBuf> {
        let state =
            folder_in("XDG_STATE_HOME").map_or_else(|| home().map(|home| home.join(".local/state")), Ok)?;
        Ok(state.join("diadem"))
    }

    pub fn start(_: &Path) -> anyhow::Result<()> {
        run("systemctl", &["--user", "daemon-reload"])?;
        run("systemctl", &["--user", "enable", "--now", UNIT])
    }

    pub fn stop(_: &Path) -> anyhow::Result<()> {
        run("systemctl", &["--user", "disable", "--now", UNIT])
    }

    /// After the definition is deleted.
    pub fn forget() {
        run("systemctl", &["--user", "daemon-reload"]).ok();
    }
}

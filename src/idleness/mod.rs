//! Whether this machine has time to count: nobody uses it, and it does not run on its battery.

#[cfg(not(target_os = "macos"))]
mod batteries;
#[cfg(windows)]
mod last_input;
#[cfg(not(any(windows, target_os = "macos")))]
mod logind;
#[cfg(any(test, target_os = "macos"))]
mod macos;

use std::fmt;
use std::future::pending;
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tracing::warn;

#[cfg(not(target_os = "macos"))]
use batteries::is_on_battery;
#[cfg(windows)]
use last_input::user_is_active;
#[cfg(not(any(windows, target_os = "macos")))]
use logind::user_is_active;
#[cfg(target_os = "macos")]
use macos::{is_on_battery, user_is_active};

/// A user is active until so much time after the last input.
#[cfg(any(windows, test, target_os = "macos"))]
const IDLE_AFTER: Duration = Duration::from_mins(5);

/// The pause between two looks at the machine.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a machine is used for beside counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineUse {
    /// Nothing is known before the first look.
    Unknown,
    Idle,
    User,
    Battery,
}

impl fmt::Display for MachineUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "its use is not known yet",
            Self::Idle => "it is idle",
            Self::User => "its user is active",
            Self::Battery => "it runs on its battery",
        })
    }
}

/// One look at the machine.
#[derive(Clone, Copy, Debug)]
struct Look {
    is_on_battery: bool,
    /// `None` if the system does not tell.
    user_is_active: Option<bool>,
}

impl Look {
    fn now() -> Self {
        Self { is_on_battery: is_on_battery(), user_is_active: user_is_active() }
    }

    /// A machine whose user is unknown counts: it may be a server or a container.
    fn machine_use(self) -> MachineUse {
        match self {
            Self { is_on_battery: true, .. } => MachineUse::Battery,
            Self { user_is_active: Some(true), .. } => MachineUse::User,
            Self { user_is_active: Some(false) | None, .. } => MachineUse::Idle,
        }
    }
}

/// The present use of the machine, from a thread that looks at it.
pub struct IdleWatch(watch::Receiver<MachineUse>);

impl IdleWatch {
    /// Looks at the machine from now on.
    pub fn start() -> Self {
        Self::looking(Look::now, LOOK_EVERY)
    }

    /// Takes the machine for idle without a look.
    pub fn always_idle() -> Self {
        Self(watch::channel(MachineUse::Idle).1)
    }

    fn looking(look: impl Fn() -> Look + Send + 'static, every: Duration) -> Self {
        let (sender, receiver) = watch::channel(MachineUse::Unknown);
        thread::spawn(move || {
            let mut has_warned = false;
            while !sender.is_closed() {
                let look = look();
                if look.user_is_active.is_none() && !has_warned {
                    has_warned = true;
                    warn!("this system does not tell whether somebody uses it: counting as if nobody did");
                }
                sender.send_replace(look.machine_use());
                thread::sleep(every);
            }
        });
        Self(receiver)
    }

    /// What the machine was used for at the last look.
    pub fn last(&self) -> MachineUse {
        *self.0.borrow()
    }

    /// Completes after the first look.
    pub async fn until_known(&mut self) {
        self.0.wait_for(|machine_use| *machine_use != MachineUse::Unknown).await.ok();
    }

    /// Completes when the machine is idle.
    pub async fn until_idle(&mut self) {
        // If nobody looks any more, the worker counts.
        self.0.wait_for(|machine_use| *machine_use == MachineUse::Idle).await.ok();
    }

    /// Completes when the machine is no longer idle.
    pub async fn until_used(&mut self) -> MachineUse {
        match self.0.wait_for(|machine_use| *machine_use != MachineUse::Idle).await {
            Ok(machine_use) => *machine_use,
            Err(_) => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn battery_and_active_user_end_idleness() {
        let of = |is_on_battery, user_is_active| Look { is_on_battery, user_is_active }.machine_use();
        assert_eq!(of(false, Some(false)), MachineUse::Idle);
        assert_eq!(of(false, Some(true)), MachineUse::User);
        assert_eq!(of(false, None), MachineUse::Idle);
        for user_is_active in [None, Some(false), Some(true)] {
            assert_eq!(of(true, user_is_active), MachineUse::Battery);
        }
    }

    #[tokio::test]
    async fn watch_follows_the_user() {
        let is_active = Arc::new(AtomicBool::new(true));
        let looked = Arc::clone(&is_active);
        let look = move || Look { is_on_battery: false, user_is_active: Some(looked.load(Ordering::SeqCst)) };
        let mut watch = IdleWatch::looking(look, Duration::from_millis(1));
        watch.0.wait_for(|machine_use| *machine_use == MachineUse::User).await.unwrap();
        is_active.store(false, Ordering::SeqCst);
        watch.until_idle().await;
        is_active.store(true, Ordering::SeqCst);
        assert_eq!(watch.until_used().await, MachineUse::User);
    }

    #[tokio::test]
    async fn worker_without_the_option_never_pauses() {
        let mut watch = IdleWatch::always_idle();
        watch.until_idle().await;
        assert!(tokio::time::timeout(Duration::from_millis(20), watch.until_used()).await.is_err());
    }
}

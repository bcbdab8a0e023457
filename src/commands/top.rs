//! `diadem top`: a running run on the whole terminal.

mod families;
mod palette;
mod screen;
mod speed;
mod summary;
mod table;
mod view;

#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal, Stdout};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;
use tokio::time::sleep;
use worker::Remote;

use crate::access::{JOIN, STATUS, refreshed_remote};
use crate::args::TopArgs;
use crate::highest_term::call_highest_term;
use crate::live_status::{self, LiveStatus};
use crate::signals::{Signal, Signals};
use crate::terminal::{has_colours, repaints};
use palette::Palette;
use screen::{KeyOutcome, TopScreen};

/// How often the screen is painted without news, so that its times advance.
const PAINT_EVERY: Duration = Duration::from_secs(1);

pub fn run(args: &TopArgs) -> anyhow::Result<ExitCode> {
    if !repaints(&io::stdout()) || !io::stdin().is_terminal() {
        bail!("diadem top needs a terminal; diadem status needs none");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let palette = Palette::new(has_colours(&io::stdout()));
    let result = runtime.block_on(async {
        let remote =
            refreshed_remote(&args.observer.coordinator, args.observer.keys.clone(), [STATUS, JOIN])?;
        call_highest_term(&remote).await?;
        let mut full_screen = FullScreen::enter().context("cannot take over the terminal")?;
        show(&mut full_screen.terminal, remote, TopScreen::new(palette, args.observer.coordinator.join(", ")))
            .await
    });
    runtime.shutdown_background();
    result
}

/// Shows the run until the user quits.
async fn show(
    terminal: &mut Terminal<CrosstermBackend<Stdout>>,
    remote: Remote,
    mut screen: TopScreen,
) -> anyhow::Result<ExitCode> {
    let (told, mut sights) = watch::channel(LiveStatus::default());
    let mut signals = Signals::new()?;
    let mut events = terminal_events()?;
    let watching = tokio::spawn(live_status::watch(remote, told));
    loop {
        let sight = sights.borrow_and_update().clone();
        terminal.draw(|frame| view::draw(frame, &sight, &mut screen))?;
        if watching.is_finished() {
            return Err(watching.await?);
        }
        tokio::select! {
            changed = sights.changed() => if changed.is_err() { sleep(Duration::from_millis(10)).await },
            Some(event) = events.recv() => {
                if let Event::Key(key) = event? {
                    match screen.press(key) {
                        KeyOutcome::Paint => {}
                        KeyOutcome::Quit => return Ok(ExitCode::SUCCESS),
                        KeyOutcome::Interrupt => return Ok(Signal::Interrupt.exit_code()),
                    }
                }
            }
            signal = signals.next() => return Ok(signal.exit_code()),
            () = sleep(PAINT_EVERY) => {}
        }
    }
}

/// Keys and new sizes as they come, read by a thread of its own.
fn terminal_events() -> io::Result<UnboundedReceiver<io::Result<Event>>> {
    let (sender, events) = unbounded_channel();
    std::thread::Builder::new().name("keys".into()).spawn(move || {
        loop {
            let event = event::read();
            let is_over = event.is_err();
            if sender.send(event).is_err() || is_over {
                return;
            }
        }
    })?;
    Ok(events)
}

/// The terminal, which is given back as it was however this ends.
struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl FullScreen {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        let say = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            say(panic);
        }));
        execute!(io::stdout(), EnterAlternateScreen).inspect_err(|_| give_back())?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout())).inspect_err(|_| give_back())?;
        Ok(Self { terminal })
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        self.terminal.show_cursor().ok();
        give_back();
    }
}

fn give_back() {
    execute!(io::stdout(), LeaveAlternateScreen, ratatui::crossterm::cursor::Show).ok();
    disable_raw_mode().ok();
}

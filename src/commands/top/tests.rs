//! The screen on a backend that only remembers: several sizes, and runs in all states.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tokio::time::Instant;

use super::palette::Palette;
use super::screen::{KeyOutcome, Panel, TopScreen};
use super::view::draw;
use crate::live_status::LiveStatus;
use crate::samples;

fn screen() -> TopScreen {
    TopScreen::new(Palette::new(true), "http://127.0.0.1:7227".into())
}

fn press(screen: &mut TopScreen, key: KeyCode) -> KeyOutcome {
    screen.press(KeyEvent::new(key, KeyModifiers::NONE))
}

/// The painted lines, without trailing spaces.
fn painted(sight: &LiveStatus, screen: &mut TopScreen, (columns, rows): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame, sight, screen)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |row: u16| -> String {
        (0..columns).map(|column| buffer[(column, row)].symbol()).collect::<String>().trim_end().to_owned()
    };
    (0..rows).map(line).collect()
}

fn seen(status: domain::RunStatus) -> LiveStatus {
    LiveStatus { status: Some(status), address: "http://127.0.0.1:7227".into(), ..LiveStatus::default() }
}

#[track_caller]
fn shows(lines: &[String], words: &[&str]) {
    for word in words {
        assert!(lines.iter().any(|line| line.contains(word)), "no {word:?} in {lines:#?}");
    }
}

#[test]
fn a_run_is_shown_on_a_usual_terminal() {
    let lines = painted(&seen(samples::running()), &mut screen(), (80, 24));
    shows(
        &lines,
        &[
            " diadem top  n = 27  counting  http://127.0.0.1:7227  term 1  0.1.0",
            " 43.21 %  about 3 to 5 weeks left",
            "units      2475511 of 5729024, 4120 leased, 1.52/s, 23 days 4h so far",
            "solutions  101503732607296336 of 234907967154122528",
            "classes    A = 12687966558606274, P = 34611536, R = 0",
            "12.6 cores now, ",
            "^machine                  workers  threads   cores   counted  checked  wrong",
            "rack-02                         0        0    0.00    252000     2220      0",
            "worker rack-05-4005 was silent and lost 128 units",
            " 1 machines  2 workers  3 families  4 events  q quit  ? help  s sort",
        ],
    );
    assert!(lines.iter().any(|line| line.starts_with('█') || line.starts_with('▇')), "a chart: {lines:#?}");
}

#[test]
fn the_smallest_terminal_shows_what_matters_most() {
    let lines = painted(&seen(samples::disputed()), &mut screen(), (40, 12));
    shows(
        &lines,
        &["n = 27", "43.21 %", "trouble    nothing is recorded", "paused", "disputes   3 units", "machine"],
    );
    assert!(lines.iter().all(|line| line.chars().count() <= 40));
}

#[test]
fn all_states_are_painted_at_all_terminal_sizes() {
    let gone = LiveStatus { gone: Some((Instant::now(), "refused".into())), ..LiveStatus::default() };
    let sights = samples::all().into_iter().map(seen).chain([LiveStatus::default(), gone]);
    for sight in sights {
        for size in [(1, 1), (3, 2), (10, 3), (40, 12), (80, 24), (80, 25), (132, 43), (250, 80), (400, 5)] {
            for panel in '1'..='4' {
                let mut screen = screen();
                press(&mut screen, KeyCode::Char(panel));
                for key in [
                    KeyCode::Char('s'),
                    KeyCode::End,
                    KeyCode::Char('?'),
                    KeyCode::Char('r'),
                    KeyCode::PageUp,
                ] {
                    press(&mut screen, key);
                    painted(&sight, &mut screen, size);
                }
            }
        }
    }
}

#[test]
fn wide_terminal_shows_map_and_events() {
    let lines = painted(&seen(samples::disputed()), &mut screen(), (160, 50));
    shows(&lines, &["machine", "under way", "09-21 14:13 UTC  machine rack-07 is quarantined"]);
    let finished = painted(&seen(samples::finished()), &mut screen(), (160, 50));
    shows(&finished, &["complete", "100 %  nothing left to be counted", "████████"]);
}

#[test]
fn absent_and_lost_coordinators_are_shown() {
    shows(&painted(&LiveStatus::default(), &mut screen(), (80, 24)), &["waiting for the coordinator"]);
    shows(
        &painted(&seen(samples::empty()), &mut screen(), (80, 24)),
        &["0 %  time left unknown", "speed      0.00 cores now", "0 of 5729024"],
    );
    let gone =
        LiveStatus { gone: Some((Instant::now(), "connection refused".into())), ..seen(samples::running()) };
    let lines = painted(&gone, &mut screen(), (80, 24));
    shows(&lines, &["no status for 0 s, trying again: connection refused", "43.21 %"]);
}

#[test]
fn new_coordinator_is_shown_in_title_and_last_line() {
    let news = "http://b:1 serves the run in term 3 now; before it was http://a:1 in term 2";
    let told = |since: Instant| {
        let news = Some((since, news.to_owned()));
        let status = samples::running();
        let term = status.term.map(|term| domain::Term { number: 3, ..term });
        LiveStatus { address: "http://b:1".into(), news, ..seen(domain::RunStatus { term, ..status }) }
    };
    let now = painted(&told(Instant::now()), &mut screen(), (100, 24));
    shows(&now, &["counting  http://b:1  term 3", news]);
    let later = painted(&told(Instant::now() - Duration::from_mins(1)), &mut screen(), (100, 24));
    assert!(
        later.iter().any(|line| line.contains("q quit")) && !later.iter().any(|line| line.contains(news))
    );
}

#[test]
fn tables_scroll_to_their_last_line_and_sort() {
    let sight = seen(samples::crowded());
    let mut screen = screen();
    press(&mut screen, KeyCode::Tab);
    assert_eq!(screen.panel, Panel::Workers);
    let first = painted(&sight, &mut screen, (80, 24));
    shows(&first, &["of about "]);
    press(&mut screen, KeyCode::PageDown);
    assert_ne!(painted(&sight, &mut screen, (80, 24)), first);
    press(&mut screen, KeyCode::End);
    let end = painted(&sight, &mut screen, (80, 24));
    press(&mut screen, KeyCode::Down);
    assert_eq!(painted(&sight, &mut screen, (80, 24)), end);
    press(&mut screen, KeyCode::Home);
    press(&mut screen, KeyCode::Char('s'));
    press(&mut screen, KeyCode::Char('r'));
    let longest = painted(&sight, &mut screen, (80, 24));
    shows(&longest, &["vlast seen", "1.00 s", "0.99 s"]);
}

#[test]
fn keys_quit_and_show_help() {
    let mut screen = screen();
    for key in [KeyCode::Char('q'), KeyCode::Esc] {
        assert_eq!(press(&mut screen, key), KeyOutcome::Quit);
    }
    let control = |key| KeyEvent::new(KeyCode::Char(key), KeyModifiers::CONTROL);
    assert_eq!(screen.press(control('d')), KeyOutcome::Quit);
    assert_eq!(screen.press(control('c')), KeyOutcome::Interrupt);
    assert_eq!(press(&mut screen, KeyCode::Char('?')), KeyOutcome::Paint);
    shows(&painted(&seen(samples::running()), &mut screen, (80, 24)), &["this help"]);
    assert_eq!(press(&mut screen, KeyCode::Esc), KeyOutcome::Paint);
    assert!(!screen.shows_help);
}

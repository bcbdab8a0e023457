//! The painted screen. From the top: the progress of the run, its speed over time, and one panel. A wide
//! screen has the map and the events beside the panel.

use std::time::Duration;

use dashboard::words;
use domain::RunStatus;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Sparkline};

use super::palette::{FAINT, FRAME, TITLE};
use super::screen::{HELP, Panel, TopScreen};
use super::{families, speed, summary, table};
use crate::live_status::LiveStatus;
use crate::output::{significant, span};

/// On screens of that size map and events have room of their own.
const WIDE: (u16, u16) = (130, 30);

/// The least height of the panel.
const PANEL: u16 = 4;

/// The height of the chart, title included, and the least height of a screen with a chart.
const CHART: u16 = 4;
const CHART_FROM: u16 = 20;

/// How long the news of another coordinator replaces the keys in the last line.
const NEWS_LAST: Duration = Duration::from_mins(1);

/// Paints the run.
pub fn draw(frame: &mut Frame<'_>, sight: &LiveStatus, screen: &mut TopScreen) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(title(sight, screen)).style(FRAME), head);
    match &sight.status {
        Some(status) => draw_run(frame, body, status, screen),
        None => frame.render_widget(Paragraph::new("waiting for the coordinator"), body),
    }
    frame.render_widget(Paragraph::new(last_line(sight, screen)), foot);
    if screen.shows_help {
        draw_help(frame, body);
    }
}

fn title(sight: &LiveStatus, screen: &TopScreen) -> String {
    let Some(status) = &sight.status else { return format!(" diadem top  {}", screen.addresses) };
    let term = status.term.map_or_else(String::new, |term| format!("  term {}", term.number));
    let RunStatus { board, phase, release, .. } = status;
    format!(" diadem top  n = {board}  {phase}  {}{term}  {release}", sight.address)
}

fn last_line(sight: &LiveStatus, screen: &TopScreen) -> Line<'static> {
    if let Some((since, why)) = &sight.gone {
        let text = format!(" no status for {} s, trying again: {why}", since.elapsed().as_secs());
        return Line::styled(text, screen.palette.wrong());
    }
    if let Some((_, news)) = sight.news.as_ref().filter(|(since, _)| since.elapsed() < NEWS_LAST) {
        return Line::styled(format!(" {news}"), TITLE);
    }
    let panels = Panel::ALL.iter().zip(1..).flat_map(|(panel, key)| {
        let style = if *panel == screen.panel { TITLE } else { FAINT };
        [Span::styled(format!("{key} {}", panel.name()), style), Span::raw("  ")]
    });
    let keys = Span::styled("q quit  ? help  s sort", FAINT);
    [Span::raw(" ")].into_iter().chain(panels).chain([keys]).collect()
}

fn draw_run(frame: &mut Frame<'_>, area: Rect, status: &RunStatus, screen: &mut TopScreen) {
    let chart = if area.height >= CHART_FROM { CHART } else { 0 };
    let room = area.height.saturating_sub(PANEL + chart);
    let lines = summary::lines(status, (area.width.into(), room.max(1).into()), screen.palette);
    let areas = [Constraint::Length(lines.len() as u16), Constraint::Length(chart), Constraint::Min(0)];
    let [top, middle, bottom] = Layout::vertical(areas).areas(area);
    frame.render_widget(Paragraph::new(lines), top);
    draw_speed(frame, middle, status, screen);
    if area.width < WIDE.0 || area.height < WIDE.1 {
        draw_panel(frame, bottom, status, screen, true);
        return;
    }
    let [left, right] = Layout::horizontal([Constraint::Length(80), Constraint::Min(0)]).areas(bottom);
    let map = families::lines(status, right.width.into(), screen.palette);
    let [map_area, events_area] =
        Layout::vertical([Constraint::Length(map.len() as u16 + 1), Constraint::Min(0)]).areas(right);
    draw_panel(frame, left, status, screen, false);
    frame.render_widget(Paragraph::new(map), map_area);
    let events = events(status, events_area.width.into());
    let first = events.len().saturating_sub(events_area.height.into());
    frame.render_widget(Paragraph::new(events[first..].to_vec()), events_area);
}

fn draw_speed(frame: &mut Frame<'_>, area: Rect, status: &RunStatus, screen: &TopScreen) {
    if area.height < 2 {
        return;
    }
    let speeds = speed::speeds(status, area.width.into());
    let highest = speeds.iter().copied().fold(0.0, f64::max);
    // An empty sum is -0, and would be shown as such.
    let now = status.machines.iter().fold(0.0, |all, machine| all + machine.speed);
    let seconds = status
        .history
        .last()
        .zip(status.history.first())
        .map(|(last, first)| last.at.saturating_sub(first.at));
    let since =
        seconds.map_or_else(String::new, |seconds| format!(", over {}", span(Duration::from_secs(seconds))));
    let title = format!("speed      {} cores now, {} at most{since}", significant(now), significant(highest));
    let [title_area, chart_area] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(Paragraph::new(title), title_area);
    // Bars are painted in eighths of a line.
    let scale = 1000.0 / highest.max(f64::MIN_POSITIVE);
    let bars: Vec<u64> = speeds.iter().map(|speed| (speed * scale) as u64).collect();
    frame.render_widget(Sparkline::default().data(bars).max(1000).style(screen.palette.done()), chart_area);
}

/// The panel, and below it the last events if there is room and they are wanted.
fn draw_panel(
    frame: &mut Frame<'_>,
    area: Rect,
    status: &RunStatus,
    screen: &mut TopScreen,
    with_events: bool,
) {
    let width = usize::from(area.width);
    let (fixed, lines) = match screen.panel {
        Panel::Machines => (1, table::machines(status, width, screen)),
        Panel::Workers => (1, table::workers(status, width, screen)),
        Panel::Families => (1, families::lines(status, width, screen.palette)),
        Panel::Events => (0, events(status, width).into_iter().rev().collect()),
    };
    let page = usize::from(area.height).saturating_sub(fixed);
    let (head, rest) = lines.split_at(fixed.min(lines.len()));
    let first = screen.scrolled(rest.len(), page);
    let mut shown: Vec<_> = head.iter().chain(rest.iter().skip(first).take(page)).cloned().collect();
    let room = usize::from(area.height).saturating_sub(shown.len() + 1);
    if screen.panel != Panel::Events && with_events && room > 1 {
        let mut lately = events(status, width);
        let first = lately.len().saturating_sub(room);
        shown.push(Line::default());
        shown.extend(lately.drain(first..));
    }
    frame.render_widget(Paragraph::new(shown), area);
}

/// The events, oldest first, with the month, the day and the time.
fn events(status: &RunStatus, width: usize) -> Vec<Line<'static>> {
    let line = |event: &domain::Event| {
        let (day, moment) = (words::day(event.at), words::moment(event.at));
        Line::raw(crate::terminal::cut(&format!("{day} {moment} UTC  {}", event.text), width))
    };
    status.events.iter().map(line).collect()
}

fn draw_help(frame: &mut Frame<'_>, area: Rect) {
    let width = HELP.iter().map(|line| line.len()).max().unwrap_or(0) as u16 + 4;
    let height = HELP.len() as u16 + 2;
    let (width, height) = (width.min(area.width), height.min(area.height));
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    frame.render_widget(Clear, place);
    let lines: Vec<Line<'_>> = HELP.iter().map(|line| Line::raw(format!(" {line}"))).collect();
    let block = Block::bordered().title(" keys ").style(TITLE);
    frame.render_widget(Paragraph::new(lines).block(block), place);
}

//! The board to play on. What happens on it is `play.js`; the page has the solutions, so that it knows how many are left.

use serde_json::json;

use super::page::page;
use crate::orbits::SolutionOrbits;

pub(super) fn play(orbits: &SolutionOrbits) -> String {
    let n = orbits.setting.board;
    let solution =
        |(index, rows)| json!({ "number": index + 1, "rows": rows, "family": orbits.orbit_of[index] });
    let solutions: Vec<_> = orbits.solutions.iter().enumerate().map(solution).collect();
    let body = format!(
        "<p>Put {n} queens on the board so that none attacks another: click on a square, or go there by the arrow keys and \
         press Enter. Queens that attack each other stand on red.</p>\n\
         <noscript><p>The board needs JavaScript.</p></noscript>\n<div class=\"play\">\n\
         <div id=\"field\" class=\"field\" role=\"group\" aria-label=\"Board\" data-n=\"{n}\"></div>\n<div>\n\
         <p id=\"said\" role=\"status\"></p>\n<div class=\"steps\">\n\
         <button type=\"button\" id=\"solve\">Show a solution with these queens</button>\n\
         <button type=\"button\" id=\"clear\">Take all off</button>\n\
         <label><input type=\"checkbox\" id=\"hints\"> show attacked squares</label>\n</div>\n</div>\n</div>\n\
         <script type=\"application/json\" id=\"solutions\">{}</script>\n",
        json!(solutions)
    );
    page(n, "play.html", &format!("{n} queens to play with"), Some("play.js"), &body)
}

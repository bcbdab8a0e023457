//! What all pages of the site have in common: their head, the way from one to the other, and the drawing of a board.

use queens::Board;

use super::drawing::symbols;

/// What tells that a page is of such a site, so that it may be written again.
pub const MARK: &str = r#"<meta name="generator" content="diadem atlas">"#;

/// The pages, each with what leads there.
const PAGES: [(&str, &str); 3] =
    [("index.html", "Families"), ("rings.html", "Rings"), ("play.html", "A board to play on")];

/// A page that loads nothing but the site's own sheet and script, and may not.
pub(super) fn page(board: Board, name: &str, title: &str, script: Option<&str>, body: &str) -> String {
    let nav: String = PAGES
        .iter()
        .map(|(file, words)| {
            if *file == name {
                format!("<b aria-current=\"page\">{words}</b>")
            } else {
                format!("<a href=\"{file}\">{words}</a>")
            }
        })
        .collect();
    let script =
        script.map_or_else(String::new, |script| format!("<script src=\"{script}\" defer></script>\n"));
    let symbols = symbols(board);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{MARK}\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'; script-src 'self'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"atlas.css\">\n{script}</head>\n<body>\n{symbols}\
         <nav aria-label=\"Pages\">{nav}</nav>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

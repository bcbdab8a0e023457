//! The page, for the operator and for everybody: one text, of which each viewer gets some parts.
//!
//! A part begins with the line `<!-- only NAME -->` and ends with the line `<!-- end -->`. Parts contain no parts.

/// The page with all parts.
const PAGE: &str = include_str!("../assets/dashboard.html");

/// The page for holders of a token, or for everybody where nobody needs one.
pub fn of_operator() -> String {
    with_parts(&["operator"])
}

/// The public page. With tokens, it shows the operator the way to the form.
pub fn of_everybody(asks: bool) -> String {
    if asks { with_parts(&["public", "door"]) } else { with_parts(&["public"]) }
}

fn with_parts(names: &[&str]) -> String {
    let (mut page, mut rest) = (String::new(), PAGE);
    while let Some((before, marked)) = rest.split_once("<!-- only ") {
        let (name, marked) = marked.split_once(" -->\n").expect("a part has a name");
        let (part, after) = marked.split_once("<!-- end -->\n").expect("a part ends");
        page.push_str(before);
        if names.contains(&name) {
            page.push_str(part);
        }
        rest = after;
    }
    page + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_viewer_gets_only_its_parts() {
        let [operator, public, door] = [of_operator(), of_everybody(false), of_everybody(true)];
        for page in [&operator, &public, &door] {
            assert!(!page.contains("<!-- ") && page.contains("id=\"owners\"") && page.ends_with("</html>\n"));
        }
        assert!(operator.contains("dashboard.js") && operator.contains("id=\"machines\""));
        assert!(!operator.contains("public.js") && !operator.contains("?token"));
        for word in ["dashboard.js", "id=\"machines\"", "id=\"workers\"", "id=\"happened\"", "metrics"] {
            assert!(!public.contains(word) && !door.contains(word), "{word}");
        }
        assert!(!public.contains("?token") && door.contains("href=\"?token\""));
    }
}

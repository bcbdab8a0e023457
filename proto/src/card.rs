//! How graphics cards are called as machines: `rack-3/gpu0` is the first card of `rack-3`.

/// The name of a host's card of that number.
pub fn card_name(host: &str, number: usize) -> String {
    format!("{host}/gpu{number}")
}

/// The name of a machine without its card, and the card's part of it, which is empty for a machine that is none.
pub fn split_card(machine: &str) -> (&str, &str) {
    let is_card = |last: &str| last.strip_prefix("gpu").is_some_and(|number| number.parse::<u32>().is_ok());
    match machine.rsplit_once('/') {
        Some((host, last)) if is_card(last) => machine.split_at(host.len()),
        _ => (machine, ""),
    }
}

/// Whether the machine of that name is a graphics card.
pub fn is_card(machine: &str) -> bool {
    !split_card(machine).1.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_known_by_their_names() {
        assert_eq!(split_card(&card_name("rack-3", 12)), ("rack-3", "/gpu12"));
        assert_eq!(split_card("ada/rack-3/gpu0"), ("ada/rack-3", "/gpu0"));
        for other in ["rack-3", "gpu0", "rack-3/gpu", "rack-3/gpux", "rack-3/gpu0/x"] {
            assert!(!is_card(other) && split_card(other).0 == other, "{other}");
        }
    }
}

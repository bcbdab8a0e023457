//! The names of graphics cards as machines. The name contains the kind of hardware: `rack-3/nvidia/gpu0` is the first
//! card of `rack-3`, and made by NVIDIA.
//!
//! The kind is part of the name, because the ledger knows machines only by name. So the ledger shows that a unit was
//! counted on two kinds of hardware.

/// The vendors of graphics cards that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vendor {
    /// AMD.
    Amd,
    /// Intel.
    Intel,
    /// NVIDIA.
    Nvidia,
}

impl Vendor {
    const ALL: [Self; 3] = [Self::Amd, Self::Intel, Self::Nvidia];

    fn name(self) -> &'static str {
        match self {
            Self::Amd => "amd",
            Self::Intel => "intel",
            Self::Nvidia => "nvidia",
        }
    }

    /// The vendor in a driver's text such as `NVIDIA Corporation`, if it is known.
    pub fn of_driver(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
        if text.contains("advanced micro devices") {
            return Some(Self::Amd);
        }
        words.find_map(|word| Self::ALL.into_iter().find(|vendor| vendor.name() == word))
    }
}

/// A kind of hardware. Two kinds hardly make the same error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hardware {
    /// A processor.
    Processor,
    /// A graphics card and its vendor, if known.
    Card(Option<Vendor>),
}

impl Hardware {
    /// The kind of the machine with this name.
    pub fn of(machine: &str) -> Self {
        let (_, card) = split_card(machine);
        if card.is_empty() {
            return Self::Processor;
        }
        let vendor = card.split('/').nth(1).unwrap_or_default();
        Self::Card(Vendor::ALL.into_iter().find(|known| known.name() == vendor))
    }

    /// Whether it is a graphics card.
    pub fn is_card(self) -> bool {
        self != Self::Processor
    }

    /// Whether the two are known to be of different kinds: cards of which the vendor is not known may be of one.
    pub fn differs_from(self, other: Self) -> bool {
        match (self, other) {
            (Self::Card(a), Self::Card(b)) => a.zip(b).is_some_and(|(a, b)| a != b),
            _ => self != other,
        }
    }
}

/// The name of a host's card of that number.
pub fn card_name(host: &str, vendor: Option<Vendor>, number: usize) -> String {
    match vendor {
        Some(vendor) => format!("{host}/{}/gpu{number}", vendor.name()),
        None => format!("{host}/gpu{number}"),
    }
}

/// The name of a machine without its card, and the card's part of it, which is empty for a machine that is none.
pub fn split_card(machine: &str) -> (&str, &str) {
    let is_number = |last: &str| last.strip_prefix("gpu").is_some_and(|number| number.parse::<u32>().is_ok());
    let Some((before, _)) = machine.rsplit_once('/').filter(|(_, last)| is_number(last)) else {
        return (machine, "");
    };
    let is_vendor = |name: &str| Vendor::ALL.iter().any(|vendor| vendor.name() == name);
    let host = match before.rsplit_once('/') {
        Some((host, vendor)) if is_vendor(vendor) => host,
        _ => before,
    };
    machine.split_at(host.len())
}

/// Whether a machine is meant by that name: it is its own, its host's, or that of its card without the vendor.
pub fn is_meant_by(machine: &str, name: &str) -> bool {
    let (host, card) = split_card(machine);
    let number = card.rsplit('/').next().unwrap_or_default();
    let is_card = || name.strip_prefix(host).and_then(|rest| rest.strip_prefix('/')) == Some(number);
    machine == name || !card.is_empty() && (host == name || is_card())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_and_their_vendors_are_known_by_their_names() {
        let vendors = [None, Some(Vendor::Amd), Some(Vendor::Intel), Some(Vendor::Nvidia)];
        for vendor in vendors {
            for host in ["rack-3", "ada/rack-3", "nvidia"] {
                let name = card_name(host, vendor, 12);
                assert_eq!(split_card(&name), (host, &name[host.len()..]));
                assert_eq!(Hardware::of(&name), Hardware::Card(vendor), "{name}");
            }
        }
        assert_eq!(card_name("rack-3", None, 0), "rack-3/gpu0", "of an unknown vendor");
        assert_eq!(Hardware::of("rack-3/matrox/gpu0"), Hardware::Card(None));
        for other in ["rack-3", "gpu0", "rack-3/gpu", "rack-3/gpux", "rack-3/gpu0/x", "rack-3/nvidia"] {
            assert_eq!(Hardware::of(other), Hardware::Processor, "{other}");
            assert_eq!(split_card(other).0, other);
        }
    }

    #[test]
    fn hardware_of_unknown_vendor_is_not_another_kind() {
        let kinds = ["h", "h/gpu0", "h/amd/gpu0", "h/nvidia/gpu1"].map(Hardware::of);
        let differ = |a: usize, b: usize| kinds[a].differs_from(kinds[b]);
        for (a, b) in [(0, 1), (0, 2), (0, 3), (2, 3)] {
            assert!(differ(a, b) && differ(b, a), "{a} {b}");
        }
        for (a, b) in [(0, 0), (1, 1), (1, 2), (1, 3), (2, 2), (3, 3)] {
            assert!(!differ(a, b) && !differ(b, a), "{a} {b}");
        }
    }

    #[test]
    fn card_matches_host_with_or_without_vendor() {
        for name in ["h", "h/gpu0", "h/amd/gpu0"] {
            assert!(is_meant_by("h/amd/gpu0", name), "{name}");
        }
        for name in ["h/gpu1", "h/nvidia/gpu0", "g", "h/", "", "gpu0"] {
            assert!(!is_meant_by("h/amd/gpu0", name), "{name}");
        }
        assert!(is_meant_by("h", "h") && !is_meant_by("h", "h/") && !is_meant_by("h", ""));
        assert!(is_meant_by("h/gpu0", "h/gpu0") && !is_meant_by("h/gpu0", "h/amd/gpu0"));
    }

    #[test]
    fn vendors_are_recognised_in_driver_texts() {
        for (text, vendor) in [
            ("NVIDIA Corporation", Some(Vendor::Nvidia)),
            ("NVIDIA", Some(Vendor::Nvidia)),
            ("Advanced Micro Devices, Inc.", Some(Vendor::Amd)),
            ("AuthenticAMD", None),
            ("AMD", Some(Vendor::Amd)),
            ("Intel(R) Corporation", Some(Vendor::Intel)),
            ("GenuineIntel", None),
            ("Mesa", None),
            ("", None),
        ] {
            assert_eq!(Vendor::of_driver(text), vendor, "{text}");
        }
    }
}

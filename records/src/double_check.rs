//! The policy by which counts are checked: `--double-check none|SHARE%|all`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which counts are made a second time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DoubleCheck {
    /// None.
    None,
    /// The first counts of each machine, and of the others this share, drawn at random; from 0 to 1.
    Share(f64),
    /// Each.
    All,
}

/// One count of a hundred costs little and finds every machine that is wrong often.
impl Default for DoubleCheck {
    fn default() -> Self {
        Self::Share(0.01)
    }
}

impl DoubleCheck {
    /// Orders policies: of two, the one that checks more is the stronger one.
    pub fn strength(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Share(share) => share,
            Self::All => 2.0,
        }
    }
}

/// The percentage with the precision of the ledger.
fn rounded(percent: f64) -> f64 {
    (percent * 1e12).round() / 1e12
}

/// A policy that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no share to check; use none, all, or a share above 0 % and up to 100 %, as in 1% or 0.5%")]
pub struct DoubleCheckError(String);

impl FromStr for DoubleCheck {
    type Err = DoubleCheckError;
    fn from_str(text: &str) -> Result<Self, DoubleCheckError> {
        let share = || {
            let (whole, part) =
                text.strip_suffix('%').map(|text| text.split_once('.').unwrap_or((text, "0")))?;
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            format!("{whole}.{part}").parse::<f64>().ok().filter(|_| is_number(whole) && is_number(part))
        };
        match text {
            "none" => Ok(Self::None),
            "all" => Ok(Self::All),
            _ => match share() {
                Some(percent) if rounded(percent) > 0.0 && percent <= 100.0 => {
                    Ok(Self::Share(rounded(percent) / 100.0))
                }
                _ => Err(DoubleCheckError(text.to_owned())),
            },
        }
    }
}

impl TryFrom<String> for DoubleCheck {
    type Error = DoubleCheckError;
    fn try_from(text: String) -> Result<Self, DoubleCheckError> {
        text.parse()
    }
}

impl From<DoubleCheck> for String {
    fn from(policy: DoubleCheck) -> Self {
        policy.to_string()
    }
}

impl fmt::Display for DoubleCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            // Rounded to a natural number of digits, so that parsing returns the same value.
            Self::Share(share) => write!(f, "{}%", rounded(share * 100.0)),
            Self::All => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_parsed_and_other_text_is_refused() {
        for (text, policy) in [
            ("none", DoubleCheck::None),
            ("all", DoubleCheck::All),
            ("1%", DoubleCheck::default()),
            ("0.5%", DoubleCheck::Share(0.005)),
            ("7%", DoubleCheck::Share(0.07)),
            ("100%", DoubleCheck::Share(1.0)),
            ("33.333333333333%", DoubleCheck::Share(33.333_333_333_333 / 100.0)),
        ] {
            assert_eq!(text.parse(), Ok(policy));
            assert_eq!(policy.to_string(), text);
        }
        let longer: DoubleCheck = "33.333333333333336%".parse().unwrap();
        assert_eq!(
            (longer.to_string().parse(), longer.to_string()),
            (Ok(longer), "33.333333333333%".to_owned())
        );
        for text in ["", "1", "0%", "0.0000000000001%", "-1%", "101%", "NaN%", "inf%", "some"] {
            assert!(text.parse::<DoubleCheck>().is_err(), "{text}");
        }
    }
}

//! Bounds the number of wrong units after a random sample was counted twice.
//!
//! The bound is a quantile of a beta distribution, but `inv_beta_reg` of statrs 0.19 never returns for 10^7 checks and none wrong.

/// How sure a bound is.
pub const CONFIDENCE: f64 = 0.95;

/// Probability that the bound is wrong.
const RISK: f64 = 0.05;

/// Maximum number of terms in the sum, because a forged ledger may contain any number.
const MAX_WRONG: u64 = 10_000;

/// The upper bound of the share of wrong units, at 95 % confidence, after `checks` random units of which `wrong` were
/// wrong. It is the bound of Clopper and Pearson (Biometrika 26, 1934). For `wrong` = 0 it is 1 - 0.05^(1/checks).
/// Returns none without checks, or if so many units were wrong that the bound is useless.
pub fn wrong_at_most(checks: u64, wrong: u64) -> Option<f64> {
    if checks == 0 || wrong >= checks || wrong > MAX_WRONG {
        return None;
    }
    if wrong == 0 {
        return Some(-(RISK.ln() / checks as f64).exp_m1());
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let share = f64::midpoint(low, high);
        if at_most(wrong, checks, share) > RISK { low = share } else { high = share }
    }
    Some(high)
}

/// The probability that no more than `most` of `draws` are wrong where this share is.
fn at_most(most: u64, draws: u64, share: f64) -> f64 {
    let draws = draws as f64;
    let mut term = draws * (-share).ln_1p();
    let mut sum = term.exp();
    for i in 1..=most {
        term += ((draws - i as f64 + 1.0) / i as f64).ln() + share.ln() - (-share).ln_1p();
        sum += term.exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_match_published_tables() {
        let near = |checks, wrong, bound: f64| {
            let found = wrong_at_most(checks, wrong).unwrap();
            assert!((found / bound - 1.0).abs() < 1e-3, "{checks} {wrong}: {found} instead of {bound}");
        };
        near(1, 0, 0.95);
        near(10, 0, 0.258_866);
        near(1000, 0, 0.002_991_25);
        near(10, 1, 0.394_163);
        near(100, 3, 0.075_714);
        assert!((CONFIDENCE + RISK - 1.0).abs() < 1e-12);
        assert_eq!(wrong_at_most(0, 0), None);
        assert_eq!(wrong_at_most(3, 3), None);
        assert_eq!(wrong_at_most(u64::MAX, u64::MAX - 1), None);
        assert!(wrong_at_most(1_000_000, MAX_WRONG).unwrap() > 0.01);
        assert!(wrong_at_most(10_000_000, 0).unwrap() < 3.1e-7);
    }
}

//! Sums over positions that were counted, and how far their ratios may be trusted.

use super::UnitSample;

/// Sums over the samples, each taken as often as it stands for others.
pub struct SampleSums<'a>(pub &'a [UnitSample]);

impl SampleSums<'_> {
    /// The weighted sum of these values.
    pub fn of(&self, value: impl Fn(&UnitSample) -> f64) -> f64 {
        self.0.iter().map(|sample| sample.draw.factor * value(sample)).sum()
    }

    /// The effective number of samples (Kish 1965): the number of equally weighted samples with the same
    /// error. A single one of many draws may have nearly all of the weight.
    pub fn effective(&self, value: impl Fn(&UnitSample) -> f64) -> f64 {
        let squares: f64 = self.0.iter().map(|sample| (sample.draw.factor * value(sample)).powi(2)).sum();
        self.of(value).powi(2) / squares
    }

    /// The relative standard error of the ratio of two such sums. `None` with fewer than two informative
    /// samples, because their spread is unknown.
    pub fn error(
        &self,
        above: impl Fn(&UnitSample) -> f64,
        below: impl Fn(&UnitSample) -> f64,
    ) -> Option<f64> {
        let k = self.effective(&below);
        let ratio = self.of(&above) / self.of(&below);
        let residual = |s: &UnitSample| s.draw.factor * (above(s) - ratio * below(s));
        let squares: f64 = self.0.iter().map(|sample| residual(sample).powi(2)).sum();
        let error = (squares * k / (k - 1.0)).sqrt() / self.of(above);
        (k >= 2.0 && error.is_finite()).then_some(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queens::plan::Draw;
    use queens::{Board, Position};

    fn samples(found: &[(f64, f64)]) -> Vec<UnitSample> {
        let position = Position::empty(Board::new(8).unwrap());
        let draw = Draw { position, factor: 2.0, images: 8, unit: None, depth: 0 };
        let sample = |&(nanoseconds, completions)| UnitSample {
            draw: draw.clone(),
            is_part: true,
            completions,
            nodes: completions,
            nanoseconds,
        };
        found.iter().map(sample).collect()
    }

    fn error(found: &[(f64, f64)]) -> Option<f64> {
        SampleSums(&samples(found)).error(|sample| sample.nanoseconds, |sample| sample.completions)
    }

    #[test]
    fn standard_error_needs_several_informative_samples() {
        assert_eq!(error(&[(5.0, 1.0)]), None);
        assert_eq!(error(&[(5.0, 1.0), (0.0, 0.0), (0.0, 0.0)]), None);
        assert_eq!(error(&[(5e9, 1e9), (10.0, 1.0), (10.0, 1.0)]), None, "nearly all lies in one");
        assert_eq!(error(&[(5.0, 1.0), (5.0, 1.0)]), Some(0.0));
        // Residuals of 1 and -1, for two samples of the same weight.
        let two = error(&[(6.0, 1.0), (4.0, 1.0)]).unwrap();
        assert!((two - 0.2).abs() < 1e-12, "{two}");
        let four = error(&[(6.0, 1.0), (4.0, 1.0), (6.0, 1.0), (4.0, 1.0)]).unwrap();
        assert!((four - 0.2 / 3f64.sqrt()).abs() < 1e-12, "{four}");
    }
}

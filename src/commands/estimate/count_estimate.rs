//! An estimate of a number of solutions.

use queens::extrapolation::Extrapolation;
use serde_json::{Map, Value, json};

/// An estimate of a number of solutions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountEstimate {
    /// The natural logarithm of the number, which may be too large for a float. `None` for the number zero.
    pub ln: Option<f64>,
    /// The standard error, relative to the number.
    pub error: f64,
    /// The half width of the 95 % interval, in standard errors.
    pub quantile: f64,
}

impl From<Extrapolation> for CountEstimate {
    fn from(Extrapolation { ln, error }: Extrapolation) -> Self {
        Self { ln: Some(ln), error, quantile: 1.96 }
    }
}

impl CountEstimate {
    /// The number times a factor, with this number of digits.
    pub fn text(&self, factor: f64, digits: usize) -> String {
        let Some(ln) = self.ln.filter(|_| factor > 0.0) else { return "0".into() };
        let log = (ln + factor.ln()) / std::f64::consts::LN_10;
        let (exponent, mantissa) = (log.floor(), 10f64.powf(log - log.floor()));
        format!("{mantissa:.digits$}e{exponent}")
    }

    pub fn low(&self) -> f64 {
        (1.0 - self.quantile * self.error).max(0.0)
    }

    pub fn high(&self) -> f64 {
        1.0 + self.quantile * self.error
    }

    /// The number, if a float holds it.
    pub fn value(&self) -> f64 {
        self.ln.map_or(0.0, f64::exp)
    }

    pub fn json(&self) -> Map<String, Value> {
        let mut object = Map::new();
        let number = |factor: f64| {
            let value = self.value() * factor;
            // Beyond the largest float only the text says it.
            if value.is_finite() { json!(value) } else { json!(self.text(factor, 6)) }
        };
        object.insert("estimate".into(), number(1.0));
        object.insert("standard_error".into(), number(self.error));
        object.insert("relative_error".into(), json!(self.error));
        object.insert("low".into(), number(self.low()));
        object.insert("high".into(), number(self.high()));
        object
    }
}

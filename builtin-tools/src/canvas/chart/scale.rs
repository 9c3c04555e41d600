//! Scales: from values to places, with round ticks.

/// A scale of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    step: f64,
}

impl Scale {
    /// A scale that begins and ends with a round number and has about `count` ticks.
    pub(super) fn new(low: f64, high: f64, count: f64) -> Self {
        let (mut low, mut high) = (low, high);
        if high - low < f64::EPSILON * high.abs().max(low.abs()).max(f64::MIN_POSITIVE) * 8.0 {
            let room = if high == 0.0 { 1.0 } else { high.abs() * 0.5 };
            (low, high) = (low - room, high + room);
        }
        let step = round_step((high - low) / count.max(1.0));
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, step }
    }

    /// The same scale with one tick more at its lower end.
    pub(super) fn lower(self) -> Self {
        Self { low: ((self.low / self.step).round() - 1.0) * self.step, ..self }
    }

    /// The same scale with one tick more at its upper end.
    pub(super) fn higher(self) -> Self {
        Self { high: ((self.high / self.step).round() + 1.0) * self.step, ..self }
    }

    /// The place of a value, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// The values of the ticks.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        let mut number = 0.0;
        while ticks.len() < 100 {
            // A sum of steps would add up their errors.
            let value = ((self.low / self.step).round() + number) * self.step;
            if value > self.high + self.step * 0.01 {
                break;
            }
            ticks.push(if value.abs() < self.step * 1e-9 { 0.0 } else { value });
            number += 1.0;
        }
        ticks
    }

    /// A tick's value, as all of them are written.
    pub(super) fn label(&self, value: f64) -> String {
        let largest = self.low.abs().max(self.high.abs());
        if largest < 1e-4 || self.step < 1e-6 {
            return exponent(value, 3);
        }
        let (unit, sign) = unit(largest, self.step);
        format!("{:.*}{sign}", decimals(self.step / unit), value / unit).replace('-', "−")
    }
}

/// 1, 2 or 5 times a power of ten, at least `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough * 0.999_999);
    step.unwrap_or(10.0) * power
}

fn unit(largest: f64, step: f64) -> (f64, &'static str) {
    match largest {
        1e12.. if step >= 1e10 => (1e12, "T"),
        1e9.. if step >= 1e7 => (1e9, "B"),
        1e6.. if step >= 1e4 => (1e6, "M"),
        1e4.. if step >= 1e2 => (1e3, "k"),
        _ => (1.0, ""),
    }
}

/// Number of decimals that distinguish the multiples of a step.
fn decimals(step: f64) -> usize {
    (0..9)
        .find(|decimals| {
            let scaled = step * 10_f64.powi(*decimals);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0) && scaled.round() >= 1.0
        })
        .and_then(|decimals| usize::try_from(decimals).ok())
        .unwrap_or(9)
}

/// A number with at most this many decimals, times a power of ten.
fn exponent(value: f64, decimals: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.decimals$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{digits}e{power}").replace('-', "−")
}

/// A value of data, short.
pub(super) fn short(value: f64) -> String {
    let magnitude = value.abs();
    let (unit, sign) = match magnitude {
        1e12.. => (1e12, "T"),
        1e9.. => (1e9, "B"),
        1e6.. => (1e6, "M"),
        1e4.. => (1e3, "k"),
        _ => (1.0, ""),
    };
    if magnitude != 0.0 && magnitude < 1e-3 {
        return exponent(value, 1);
    }
    let places = if magnitude / unit >= 100.0 {
        1
    } else if magnitude < 1.0 {
        3
    } else {
        2
    };
    let text = format!("{:.*}", places, value / unit);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{sign}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        for (low, high, count, expected) in [
            (0.0, 9.3, 5.0, vec!["0", "2", "4", "6", "8", "10"]),
            (0.0, 0.93, 5.0, vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            (-3.0, 4.0, 4.0, vec!["−4", "−2", "0", "2", "4"]),
            (0.0, 48_000.0, 5.0, vec!["0k", "10k", "20k", "30k", "40k", "50k"]),
            (0.0, 2_300_000.0, 5.0, vec!["0.0M", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M"]),
            (7.0, 7.0, 4.0, vec!["2", "4", "6", "8", "10", "12"]),
            (0.0, 0.0, 2.0, vec!["−1", "0", "1"]),
            (0.0, 6e-7, 3.0, vec!["0", "2e−7", "4e−7", "6e−7"]),
        ] {
            let scale = Scale::new(low, high, count);
            let labels: Vec<String> = scale.ticks().into_iter().map(|tick| scale.label(tick)).collect();
            assert_eq!(labels, expected, "{low} to {high}");
        }
    }

    #[test]
    fn no_range_has_many_ticks_or_none() {
        for low in [-1e15, -1.0, -1e-12, 0.0, 1e-300, 1.0, 999_999.5, 1e15] {
            for width in [0.0, 1e-12, 1e-3, 1.0, 7.7, 1e9, 1e15] {
                for count in [1.0, 2.0, 5.0, 12.0] {
                    let scale = Scale::new(low, low + width, count);
                    let ticks = scale.ticks();
                    assert!((2..=20).contains(&ticks.len()), "{low} {width} {count}: {ticks:?}");
                    assert!(scale.share(low).is_finite() && scale.low <= low && scale.high >= low);
                }
            }
        }
    }

    #[test]
    fn values_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (12.0, "12"),
            (-1.5, "−1.5"),
            (0.125, "0.125"),
            (1234.5, "1234.5"),
            (15_300.0, "15.3k"),
            (2_500_000.0, "2.5M"),
            (1e9, "1B"),
            (2.5e-7, "2.5e−7"),
        ] {
            assert_eq!(short(value), expected);
        }
    }
}

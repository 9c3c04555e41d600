//! Figures of repeated measurements.

/// The middle one, or the mean of the middle two; not a number where there is none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// The figure below which so many of a hundred figures are; of figures in ascending order, of which there is one at least.
pub(crate) fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert!((median([3.0, 9.0, 1.0]) - 3.0).abs() < 1e-9);
        assert!((median([3.0, 9.0]) - 6.0).abs() < 1e-9);
        assert!(median([]).is_nan());
    }

    #[test]
    fn a_percentile_is_one_of_the_figures() {
        let sorted: Vec<f64> = (1..=200).map(f64::from).collect();
        for (percent, expected) in [(0, 1.0), (50, 100.0), (99, 198.0), (100, 200.0)] {
            assert!((percentile(&sorted, percent) - expected).abs() < 1e-9, "{percent}");
        }
        assert!((percentile(&[7.0], 99) - 7.0).abs() < 1e-9);
    }
}

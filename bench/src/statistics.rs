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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert!((median([3.0, 9.0, 1.0]) - 3.0).abs() < 1e-9);
        assert!((median([3.0, 9.0]) - 6.0).abs() < 1e-9);
        assert!(median([]).is_nan());
    }
}

//! The output of the programs of this crate, which `bench` reads: one line per series, with fields separated by tabs.

/// Prints one series: what was measured, of which contender, and the figure of each round.
pub fn print(measurement: &str, contender: &str, figures: &[f64]) {
    let figures: Vec<_> = figures.iter().map(|figure| format!("{figure:.3}")).collect();
    println!("{measurement}\t{contender}\t{}", figures.join("\t"));
}

/// The middle one, or the upper of the middle two.
///
/// # Panics
///
/// When there is none.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

//! Measures running commands, compared with running them directly, and judging them. Prints one line per series: the measurement,
//! the contender, and a figure for each round, separated by tabs.

mod house;
mod memory;
mod output;
mod starts;
mod verdicts;

use std::error::Error;
use std::path::Path;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const USAGE: &str = "\
usage: exec starts MEGABYTES DIRECTORY        serves rounds of starts, asked for by lines with the number of repetitions
       exec output ROUNDS BYTES DIRECTORY     so much output into a file
       exec verdicts ROUNDS DIRECTORY FILE…   verdicts on the commands of these tables
       exec memory job|tool BYTES DIRECTORY   peaks while so much output comes";

fn main() -> Result<()> {
    // This program is the supervisor, too.
    toolkit_sandbox::init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &*arguments {
        ["starts", megabytes, directory] => starts::serve(megabytes.parse()?, Path::new(directory)),
        ["output", rounds, bytes, directory] => {
            output::measure(rounds.parse()?, bytes.parse()?, Path::new(directory))
        }
        ["verdicts", rounds, directory, tables @ ..] => {
            verdicts::measure(rounds.parse()?, Path::new(directory), tables)
        }
        ["memory", what, bytes, directory] => memory::measure(what, bytes.parse()?, Path::new(directory)),
        _ => Err(USAGE.into()),
    }
}

/// Prints one series.
fn print(measurement: &str, contender: &str, figures: &[f64]) {
    let figures: Vec<_> = figures.iter().map(|figure| format!("{figure:.3}")).collect();
    println!("{measurement}\t{contender}\t{}", figures.join("\t"));
}

/// The middle one, or the upper of the middle two; there must be one.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

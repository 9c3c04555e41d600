//! Measures calls: those of all contenders in turn, repeatedly, and some of toolkit alone.
//!
//! Usage: `dispatch ROUNDS [CONTENDER…]`. With contenders named, only their calls are measured.

mod cut;
mod start;

use std::time::Instant;

use dispatch::line::{median, print};
use dispatch::{ANSWER, Form, Subject};
use tokio::runtime::{Builder, Runtime};

/// Calls in a batch: few enough that their arguments stay in the processor's cache.
const CALLS: u32 = 200;

/// Batches of each contender in a round, of which the median counts.
const BATCHES: usize = 60;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().and_then(|rounds| rounds.parse().ok()).expect("the number of rounds");
    let only: Vec<_> = arguments.collect();
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");

    calls(&runtime, rounds, &only);
    if only.is_empty() {
        start::thousand_tools(rounds);
        start::register(rounds);
        start::toolbox(&runtime, rounds);
        start::first_call(&runtime, rounds);
        cut::ten_megabytes(&runtime, rounds);
    }
}

/// The calls of all contenders, in nanoseconds.
fn calls(runtime: &Runtime, rounds: usize, only: &[String]) {
    let mut contenders = dispatch::all(runtime);
    for name in only {
        assert!(contenders.iter().any(|(known, _)| known == name), "no contender is called `{name}`");
    }
    contenders.retain(|(name, _)| only.is_empty() || only.iter().any(|only| only == name));
    let subjects: Vec<(Form, &str, &dyn Subject)> = Form::ALL
        .into_iter()
        .flat_map(|form| contenders.iter().map(move |(name, subject)| (form, *name, &**subject)))
        .collect();
    for (form, name, subject) in &subjects {
        assert_eq!(subject.returns(runtime, *form), ANSWER, "{name} must do the work that is compared");
    }

    let mut figures = vec![Vec::new(); subjects.len()];
    for _ in 0..rounds {
        let mut batches = vec![Vec::new(); subjects.len()];
        for batch in 0..BATCHES {
            // Each goes first now and then, so that none always follows the same neighbour.
            for turn in 0..subjects.len() {
                let which = (turn + batch) % subjects.len();
                let (form, _, subject) = subjects[which];
                let run = subject.prepare(runtime, form, CALLS as usize);
                let started = Instant::now();
                run();
                batches[which].push(started.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
            }
        }
        for (figures, batches) in figures.iter_mut().zip(batches) {
            figures.push(median(batches));
        }
    }
    for ((form, name, _), figures) in subjects.iter().zip(&figures) {
        print(form.name(), name, figures);
    }
}

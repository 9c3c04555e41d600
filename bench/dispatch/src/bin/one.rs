//! Calls of one contender and one form, for a profiler: `one CONTENDER parsed|text CALLS`.
//!
//! `valgrind --tool=callgrind --toggle-collect='one::measured' target/release/one toolkit parsed 1000` counts the
//! instructions of the calls alone.

use dispatch::Form;
use tokio::runtime::Builder;

/// Calls in a batch, as in the benchmark.
const CALLS: usize = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: one CONTENDER parsed|text CALLS";
    let (contender, form) = arguments.next().zip(arguments.next()).expect(usage);
    let calls: usize = arguments.next().and_then(|calls| calls.parse().ok()).expect(usage);
    let form = Form::ALL.into_iter().find(|known| known.name() == form).expect(usage);

    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let contenders = dispatch::all(&runtime);
    let (_, subject) = contenders.iter().find(|(name, _)| *name == contender).expect(usage);
    // The first round makes the values that are made once.
    subject.prepare(&runtime, form, CALLS)();
    for _ in 0..calls.div_ceil(CALLS) {
        measured(subject.prepare(&runtime, form, CALLS));
    }
}

/// The counted quantity.
#[inline(never)]
fn measured(run: Box<dyn FnOnce() + '_>) {
    run();
}

//! Counts the allocations of a call. It is a separate program because counting costs time.

use std::alloc::System;

use dispatch::Form;
use dispatch::line::print;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALLS: u32 = 1000;

/// For each contender the allocations of a call, a buffer that grows counting as one each time; and their bytes.
fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    for (name, subject) in dispatch::all(&runtime) {
        for form in Form::ALL {
            // The first round makes the values that are made once.
            subject.prepare(&runtime, form, 10)();
            let run = subject.prepare(&runtime, form, CALLS as usize);
            let region = Region::new(ALLOCATOR);
            run();
            let change = region.change();
            let per_call = |all: usize| f64::from(u32::try_from(all).expect("few")) / f64::from(CALLS);
            let grown = usize::try_from(change.bytes_reallocated).unwrap_or(0);
            print(
                &format!("allocations {}", form.name()),
                name,
                &[
                    per_call(change.allocations + change.reallocations),
                    per_call(change.bytes_allocated + grown),
                ],
            );
        }
    }
}

//! A plain function, one without parameters, one that returns nothing.
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit::prelude::*;

static CALLS: AtomicU32 = AtomicU32::new(0);

/// Counts calls.
#[tool]
fn count() {
    CALLS.fetch_add(1, Ordering::SeqCst);
}

/// Rests.
#[tool]
async fn rest(ctx: &ToolContext) -> () {
    assert!(!ctx.is_cancelled());
}

fn main() {
    assert_eq!(ui_tests::text("count", "{}"), "Done.");
    assert_eq!(ui_tests::text("rest", "{}"), "Done.");
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
    count();
    assert_eq!(CALLS.load(Ordering::SeqCst), 2);
}

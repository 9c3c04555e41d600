// errors: 2
use toolkit::prelude::*;

#[derive(Default)]
struct Counter {
    calls: u64,
}

/// Counts the calls.
#[tool(auto_execute)]
async fn count_calls(counter: State<Counter>) -> u64 {
    counter.calls += 1;
    counter.calls
}

/// Begins again.
#[tool(auto_execute)]
async fn begin_again(mut counter: State<Counter>) {
    counter.calls = 0;
}

fn main() {
    drop(Toolkit::builder().service(Counter::default()));
}

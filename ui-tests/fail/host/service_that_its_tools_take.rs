// errors: 2
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use toolkit::prelude::*;

struct Counter {
    number: RefCell<u32>,
}

/// Counts.
#[tool(auto_execute)]
async fn count(counter: State<Counter>) -> u32 {
    *counter.number.borrow_mut() += 1;
    *counter.number.borrow()
}

/// Shows the number.
#[tool(read_only)]
fn show(counter: State<Counter>) -> u32 {
    *counter.number.borrow()
}

struct Names {
    names: Rc<Vec<String>>,
    calls: Cell<u32>,
}

#[toolkit::service]
fn names() -> Names {
    Names { names: Rc::default(), calls: Cell::new(0) }
}

/// Lists names.
#[tool(read_only)]
async fn list(names: State<Names>) -> usize {
    names.calls.set(names.calls.get() + 1);
    names.names.len()
}

fn main() {
    let counter = Counter { number: RefCell::new(0) };
    let _ = Toolkit::builder().service(counter);
}

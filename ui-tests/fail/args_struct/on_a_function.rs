// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
fn read(path: String) -> String {
    path
}

fn main() {
    read(String::new());
}

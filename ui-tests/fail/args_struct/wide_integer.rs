// errors: 1
#[toolkit::args]
struct Arguments {
    size: Option<u128>,
}

fn main() {}

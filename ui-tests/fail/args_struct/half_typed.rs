// errors: 1
#[toolkit::args]
struct Arguments {
    path:
}

fn main() {}

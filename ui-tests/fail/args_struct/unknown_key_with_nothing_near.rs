// errors: 1
#[toolkit::args(strict)]
struct Arguments {
    path: String,
}

fn main() {}

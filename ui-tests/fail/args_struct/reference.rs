// errors: 1
#[toolkit::args]
struct Arguments {
    path: &'static str,
}

fn main() {}

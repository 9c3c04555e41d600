// errors: 1
#[toolkit::args(crate = toolkit)]
struct Arguments {
    path: String,
}

fn main() {}

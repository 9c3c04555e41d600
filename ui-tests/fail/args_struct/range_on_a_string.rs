// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(range(1..))]
    path: String,
}

fn main() {}

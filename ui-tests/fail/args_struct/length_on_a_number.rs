// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(length(1..))]
    lines: u32,
}

fn main() {}

// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(default = 5)]
    lines: Option<u32>,
}

fn main() {}

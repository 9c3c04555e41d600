// errors: 1
const LINES: &str = "5";

#[toolkit::args]
struct Arguments {
    #[arg(default = LINES)]
    lines: u32,
}

fn main() {}

// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(default = "5")]
    lines: u32,
}

fn main() {}

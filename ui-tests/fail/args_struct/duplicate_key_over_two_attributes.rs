// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(default = 1)]
    #[arg(default = 2)]
    lines: u32,
}

fn main() {}

// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(default = 0, range(1..))]
    lines: u32,
}

fn main() {}

// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(default = [1, "b"])]
    lines: Vec<u32>,
}

fn main() {}

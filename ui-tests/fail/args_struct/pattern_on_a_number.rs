// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(pattern = "^5$")]
    lines: u32,
}

fn main() {}

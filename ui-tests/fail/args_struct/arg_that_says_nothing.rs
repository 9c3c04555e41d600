// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg]
    lines: u32,
}

fn main() {}

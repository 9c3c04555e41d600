// errors: 3
#[toolkit::args(strict)]
struct Arguments {
    #[arg(defualt = 5)]
    lines: u32,
    #[arg(range(..))]
    limit: u32,
}

fn main() {
    drop(Arguments { lines: 5, limit: 6 }.lines);
}

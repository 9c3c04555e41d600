// errors: 1
#[toolkit::args]
enum Mode {
    Fast,
    Slow,
}

#[toolkit::args]
struct Arguments {
    #[arg(default)]
    mode: Mode,
}

fn main() {}

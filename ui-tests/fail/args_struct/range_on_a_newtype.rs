// errors: 1
#[toolkit::args]
struct Line(u32);

#[toolkit::args]
struct Arguments {
    #[arg(range(1..))]
    line: Option<Line>,
}

fn main() {}

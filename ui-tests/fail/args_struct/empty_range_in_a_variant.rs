// errors: 1
#[toolkit::args]
enum Place {
    Line {
        #[arg(range(10..1))]
        number: u32,
    },
    End,
}

fn main() {}

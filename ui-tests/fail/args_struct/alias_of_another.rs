// errors: 1
#[toolkit::args]
struct Arguments {
    path: String,
    #[arg(alias = "path")]
    file: String,
}

fn main() {}

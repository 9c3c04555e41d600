// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(rename = "the path")]
    path: String,
}

fn main() {}

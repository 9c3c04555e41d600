// errors: 1
#[toolkit::args]
struct Arguments {
    path: String,
    #[arg(rename = "path")]
    file: String,
}

fn main() {}

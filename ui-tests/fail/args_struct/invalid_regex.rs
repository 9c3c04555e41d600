// errors: 1
#[toolkit::args]
struct Arguments {
    #[arg(pattern = "[a-")]
    path: String,
}

fn main() {}

// errors: 1
#[toolkit::args(allow_unknown_fields = 1)]
struct Arguments {
    path: String,
}

fn main() {}

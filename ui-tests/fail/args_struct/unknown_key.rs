// errors: 1
#[toolkit::args(allow_unknown_field)]
struct Arguments {
    path: String,
}

fn main() {
    drop(Arguments { path: String::new() }.path);
}

// errors: 1
#[toolkit::args]
struct Arguments<'a> {
    path: &'a str,
}

fn main() {}

// errors: 1
struct File;

#[toolkit::args]
impl File {}

fn main() {}

// errors: 1
toolkit::link!(_);

fn main() {}

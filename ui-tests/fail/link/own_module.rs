// errors: 3
mod inner {}

toolkit::link!(crate::inner);

toolkit::link!(self);

toolkit::link!(super::inner);

fn main() {}

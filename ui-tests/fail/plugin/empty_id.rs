// errors: 1
toolkit::plugin! { id: "" }

fn main() {}

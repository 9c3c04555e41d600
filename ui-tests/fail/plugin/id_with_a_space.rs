// errors: 1
toolkit::plugin! { id: "my plugin" }

fn main() {}

// errors: 1
toolkit::plugin! { id: "acme", id: "other" }

fn main() {}

// errors: 1
toolkit::plugin! { id: "acme", titel: "Acme" }

fn main() {}

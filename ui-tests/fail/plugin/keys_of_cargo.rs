// errors: 2
toolkit::plugin! { id: "acme", version: "1.0", name: "Acme" }

fn main() {}

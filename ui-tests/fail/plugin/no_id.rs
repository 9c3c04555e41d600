// errors: 1
toolkit::plugin! { title: "Acme" }

fn main() {}

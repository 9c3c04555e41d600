// errors: 3
toolkit::plugin! { id: "Acme", title: "", optional: "yes" }

fn main() {}

// errors: 1
toolkit::plugin! { id: "core", description: "Tools for Acme." }

fn main() {}

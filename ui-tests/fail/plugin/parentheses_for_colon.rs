// errors: 1
toolkit::plugin! { id("acme") }

fn main() {}

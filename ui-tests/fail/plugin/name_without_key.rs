// errors: 1
toolkit::plugin!(acme);

fn main() {}

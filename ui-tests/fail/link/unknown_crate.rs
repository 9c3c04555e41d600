// errors: 1
toolkit::link!(my_plugin);

fn main() {}

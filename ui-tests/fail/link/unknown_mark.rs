// errors: 1
toolkit::link!(plugin: ui_tests_renamed);

fn main() {}

// errors: 1
toolkit::link!(::ui_tests_renamed);

fn main() {}

// errors: 2
toolkit::link!(core ui_tests_renamed);

toolkit::link!(core = ui_tests_renamed);

fn main() {}

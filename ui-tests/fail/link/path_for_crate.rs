// errors: 1
toolkit::link!(ui_tests_renamed::tools);

fn main() {}

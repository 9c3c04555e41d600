// errors: 1
toolkit::link!(core: ui-tests-renamed);

fn main() {}

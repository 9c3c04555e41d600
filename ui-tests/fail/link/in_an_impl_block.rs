// errors: 2

struct Host;

impl Host {
    toolkit::link!(ui_tests_renamed);
}

trait Hosts {
    toolkit::link!(ui_tests_renamed);
}

fn main() {}

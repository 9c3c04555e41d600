// errors: 4

fn run(_: ()) {}

fn one() {
    let linked = toolkit::link!(ui_tests_renamed);
}

fn two() {
    run(toolkit::link!(ui_tests_renamed));
}

fn three() {
    toolkit::link!(core: ui_tests_renamed)
}

const FOUR: () = toolkit::link![ui_tests_renamed];

fn main() {}

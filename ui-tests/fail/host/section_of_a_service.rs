// errors: 3
use toolkit::Config;

#[toolkit::args]
struct Settings {
    word: Option<String>,
}

struct One;
struct Two;
struct Three;

#[toolkit::service(section = "a.b")]
fn one(_: Config<Settings>) -> One {
    One
}

#[toolkit::service(section = db)]
fn two(_: Config<Settings>) -> Two {
    Two
}

#[toolkit::service(section = "db")]
fn three() -> Three {
    Three
}

fn main() {}

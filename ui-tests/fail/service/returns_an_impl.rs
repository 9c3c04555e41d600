// errors: 1
#[toolkit::service]
fn store() -> impl Send {
    5
}

fn main() {}

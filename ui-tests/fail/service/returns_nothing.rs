// errors: 1
#[toolkit::service]
async fn store() {}

fn main() {}

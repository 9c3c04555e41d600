// errors: 1
struct Store;
struct Failure;

#[toolkit::service]
async fn store() -> Result<Store, Failure> {
    Err(Failure)
}

fn main() {}

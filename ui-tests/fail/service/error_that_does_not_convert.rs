// errors: 1
struct Store;

#[toolkit::service]
async fn store() -> Result<Store, String> {
    Err("none".to_owned())
}

fn main() {}

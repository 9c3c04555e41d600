// errors: 1
struct Store;

#[toolkit::service]
async fn store(path: String) -> Store {
    drop(path);
    Store
}

fn main() {}

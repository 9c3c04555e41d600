// errors: 1

struct Store;

/// Reads a file.
#[toolkit::tool]
async fn read(store: State<Store>, path: String) -> String {
    drop(store);
    path
}

fn main() {}

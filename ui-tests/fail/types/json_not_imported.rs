// errors: 1

/// Reads a file.
#[toolkit::tool]
async fn read(path: String) -> Json<Vec<String>> {
    drop(path);
    loop {}
}

fn main() {}

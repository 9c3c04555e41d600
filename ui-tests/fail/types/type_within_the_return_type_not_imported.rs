// errors: 1

/// Reads a file.
#[toolkit::tool]
async fn read(path: String) -> Vec<Line> {
    drop(path);
    Vec::new()
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

struct File;

impl File {
    /// Opens a file.
    #[tool]
    fn open(other: Self) -> String {
        drop(other);
        String::new()
    }
}

fn main() {
    File::open(File);
}

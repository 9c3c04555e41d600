// errors: 1
use toolkit::prelude::*;
struct Files;

#[tool]
impl Files {
    /// Counts files.
    #[tool]
    fn count(
        &self,
        /// The directory.
        #[arg(default = "src")]
        directory: &str,
    ) -> usize {
        directory.len()
    }
}

fn main() {
    Files.count("");
}

// errors: 1
struct Notes;

#[toolkit::tools]
impl Notes {
    /// Counts.
    async fn count(&self) -> u8 {
        1
    }
}

fn main() {}

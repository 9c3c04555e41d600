// errors: 1
//! The methods of a trait.

struct Notes;

trait Count {
    fn count(&self) -> u8;
}

#[toolkit::tools]
impl Count for Notes {
    /// Counts.
    #[toolkit::tool]
    fn count(&self) -> u8 {
        1
    }
}

fn main() {}

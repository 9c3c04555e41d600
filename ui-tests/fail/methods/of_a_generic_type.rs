// errors: 1
//! The methods of a generic type.

struct Notes<T>(Vec<T>);

#[toolkit::tools]
impl<T> Notes<T> {
    /// Counts.
    #[toolkit::tool]
    fn count(&self) -> usize {
        self.0.len()
    }
}

fn main() {}

//! A thousand tools, two hundred queries, and a plain search to hold ours against. Tests and benchmarks use the same.

mod baseline;
mod catalogue;
mod queries;

pub use baseline::Bm25;
pub use catalogue::{CatalogueTool, catalogue};
pub use queries::{Query, queries};

use std::collections::BTreeMap;

/// How many queries of each kind found a tool that they should among the first five: of ours, of the plain search, and of how many.
pub type Recall = BTreeMap<String, [usize; 3]>;

/// Runs all queries through two searches, each of which hands back names, best first.
pub fn compare(
    mut ours: impl FnMut(&str) -> Vec<String>,
    mut plain: impl FnMut(&str) -> Vec<String>,
) -> (Recall, Vec<Query>) {
    let mut recall = Recall::new();
    let mut missed = Vec::new();
    for query in queries() {
        let finds = |names: Vec<String>| names.iter().take(5).any(|name| query.tools.contains(name));
        let (by_us, by_plain) = (finds(ours(&query.text)), finds(plain(&query.text)));
        for kind in [query.kind.as_str(), "all"] {
            let [us, them, whole] = recall.entry(kind.to_owned()).or_default();
            (*us, *them, *whole) = (*us + usize::from(by_us), *them + usize::from(by_plain), *whole + 1);
        }
        if !by_us {
            missed.push(query);
        }
    }
    (recall, missed)
}

//! The number of crates that users of the library compile: a plugin, a host, an MCP server over standard streams, the command.

use std::collections::BTreeSet;

use crate::workspace::{Result, Workspace};

/// Packages, with the most crates of each (itself included) that a debug build compiles. A number grows with a reason in the commit.
const LIMITS: &[Limit] = &[
    Limit { package: "agent-toolkit", features: "--no-default-features", crates: 43 },
    Limit { package: "agent-toolkit", features: "--features=default", crates: 65 },
    Limit { package: "toolkit-mcp", features: "--no-default-features", crates: 125 },
    Limit { package: "toolkit-cli", features: "--features=default", crates: 410 },
];

struct Limit {
    package: &'static str,
    features: &'static str,
    crates: usize,
}

/// Compares the numbers with `Cargo.lock` as it is, and returns what has grown.
pub(crate) fn grown(workspace: &Workspace) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for limit in LIMITS {
        let selection = ["--edges=normal,build", "--format={p}", "--package", limit.package, limit.features];
        faults.extend(fault(limit, count(&workspace.cargo_tree(&selection)?)));
    }
    Ok(faults)
}

fn fault(limit: &Limit, crates: usize) -> Option<String> {
    (crates > limit.crates).then(|| {
        format!(
            "Cargo.lock:1: `{}` with `{}` compiles {crates} crates, where {} are the most: find the new one with `cargo tree`, and do \
             without it or put it behind a feature",
            limit.package, limit.features, limit.crates
        )
    })
}

/// Counts the crates of a tree, each once: repetitions end in `(*)`.
fn count(tree: &str) -> usize {
    let crates: BTreeSet<&str> =
        tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty()).collect();
    crates.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_crate_more_is_a_fault() {
        let limit = Limit { package: "a", features: "--no-default-features", crates: 2 };
        assert_eq!(fault(&limit, count("a v1\nb v1\nb v1 (*)\n\n")), None);
        assert!(fault(&limit, count("a v1\nb v1\nb v2\n")).unwrap().contains("compiles 3 crates"));
    }
}

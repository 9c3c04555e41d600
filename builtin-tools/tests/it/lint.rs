//! A model stumbles over nothing in these tools.
#![cfg(all(feature = "fs", feature = "runtime"))]

use toolkit::Toolkit;
use toolkit::lint::Lint;

toolkit::link!(core: builtin_tools);

#[test]
fn lint_finds_nothing() {
    let toolkit = Toolkit::builder().build().unwrap();
    assert!(toolkit.tools().len() >= 9, "{toolkit}");
    let findings = Lint::new().check(&toolkit.tools());
    assert!(findings.is_empty(), "{findings:#?}");
}

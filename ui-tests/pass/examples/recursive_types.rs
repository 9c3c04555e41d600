//! Argument types that contain themselves.
use toolkit::prelude::*;

/// A tree.
#[toolkit::args]
struct Tree {
    /// Its number.
    #[arg(range(0..=9))]
    number: u8,
    #[arg(default)]
    children: Vec<Tree>,
    left: Option<Box<Tree>>,
}

fn sum(tree: &Tree) -> u32 {
    u32::from(tree.number) + tree.children.iter().map(sum).sum::<u32>() + tree.left.as_deref().map_or(0, sum)
}

/// Adds up a tree.
#[tool]
async fn add_up(tree: Tree, more: &[Tree], other: Option<Box<Tree>>) -> String {
    (sum(&tree) + more.iter().map(sum).sum::<u32>() + other.as_deref().map_or(0, sum)).to_string()
}

fn main() {
    let arguments = r#"{"tree": {"number": 1, "children": [{"number": 2}]}, "more": [{"number": 3, "left": {"number": 4}}]}"#;
    assert_eq!(ui_tests::text("add_up", arguments), "10");
    let wrong = r#"{"tree": {"number": 1, "children": [{"number": 10}]}, "more": []}"#;
    assert!(ui_tests::call("add_up", wrong).is_error());
}

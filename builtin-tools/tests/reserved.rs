//! The names that the docs call reserved are those that are.

use std::collections::BTreeSet;
use toolkit::Toolkit;

toolkit::link!(core: builtin_tools);

#[test]
fn the_docs_name_every_reserved_name() {
    let toolkit = Toolkit::builder().leave_out_incomplete().build().expect("a toolkit");
    let reserved: BTreeSet<&str> = toolkit.reserved_names().collect();
    let docs = include_str!("../src/lib.rs");
    let (_, section) = docs.split_once("# Reserved names").expect("the section");
    let (_, list) = section.split_once("switched off too:").expect("the list");
    let (list, _) = list.split_once("\n\n").expect("an end");
    let named: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    assert!(!reserved.is_empty());
    assert_eq!(named, reserved);
}

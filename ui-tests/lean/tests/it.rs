//! Runs the cases. `TRYBUILD=overwrite cargo test -p ui-tests-lean` writes the expectations anew; read each before it is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn compile() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}

/// Each error names the feature.
#[test]
fn expectations() {
    let mut count = 0;
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fail")).expect("the folder can be listed")
    {
        let path = entry.expect("the folder can be listed").path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            count += 1;
            let expected = fs::read_to_string(&path).expect("an expectation can be read");
            let errors: Vec<&str> = expected.split("\n\n").filter(|part| part.starts_with("error")).collect();
            assert!(!errors.is_empty(), "{}", path.display());
            for error in errors {
                assert!(error.contains("`runtime`"), "{}: {error}", path.display());
            }
            let source = fs::read_to_string(path.with_extension("rs")).expect("an expectation has a case");
            let announced: usize = source
                .lines()
                .next()
                .and_then(|line| line.strip_prefix("// errors: ")?.parse().ok())
                .expect("the first line says how many errors there are");
            let found = expected.lines().filter(|line| line.starts_with("error")).count();
            assert_eq!(announced, found, "{}", path.display());
        }
    }
    assert!(count >= 3, "{count} cases");
}

/// Each public method of `ToolContext` is there without the feature: as itself, or as one that cannot be called.
#[test]
fn every_method_of_a_context_is_there() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../toolkit/src");
    let (mut of_runtime, mut of_all) = (BTreeSet::new(), BTreeSet::new());
    for path in rust_files(&sources) {
        let text = fs::read_to_string(&path).expect("a source can be read");
        let place = path.strip_prefix(&sources).expect("it is in the folder");
        let is_always_there = place == Path::new("tool/context.rs") || place.starts_with("tool/context");
        let methods = if is_always_there { &mut of_all } else { &mut of_runtime };
        methods.extend(methods_of_context(&text));
    }
    assert!(of_runtime.len() > 20, "{of_runtime:?}");
    let missing: Vec<&String> = of_runtime.difference(&of_all).collect();
    assert!(missing.is_empty(), "in `toolkit/src/tool/context/runtime_only.rs`, add: {missing:?}");
}

/// The public methods in the `impl` blocks of `ToolContext`.
fn methods_of_context(text: &str) -> Vec<String> {
    let blocks = text.split("\nimpl ToolContext {\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("\n}\n").next().unwrap_or_default().lines());
    let heads = lines.filter_map(|line| {
        let head = line.strip_prefix("    pub ")?;
        head.strip_prefix("async ").unwrap_or(head).strip_prefix("fn ")
    });
    heads.filter_map(|head| head.split(['(', '<']).next().map(str::to_owned)).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder can be listed");
    let paths = entries.map(|entry| entry.expect("a folder can be listed").path());
    paths
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

//! Runs the cases. `TRYBUILD=overwrite cargo test -p ui-tests-lean` writes the expectations anew; read each before it is kept.

use std::fs;

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

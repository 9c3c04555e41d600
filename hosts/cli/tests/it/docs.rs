//! `docs` and `lint`: what is written of all tools, and what is found wrong about them.

use crate::fixture;

use fixture::fixture;
use serde_json::Value;
use std::env;
use std::process::Command;

#[test]
fn a_page_has_all_that_is_known_of_each_tool() {
    let page = fixture(["docs"]).ok();
    for part in [
        "# Tools\n\nWritten by `toolkit docs`.\n\n## ",
        "\n### `greet`\n\nWrites a greeting.",
        "\n- Title: Greet somebody\n",
        "\n- Groups: `text`, `people`\n",
        "\n- Other names: `mirror`",
        "\n**Deprecated**: ",
        "\n- Permission: `talk`\n",
        "\n- `times` (integer, optional, ",
        "\nIt takes no arguments.\n",
        "of the crate `fixture`\n",
    ] {
        assert!(page.contains(part), "{part:?} in {page}");
    }
    let tools = fixture(["list", "-o", "json"]).json();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.iter().all(|name| page.contains(&format!("\n### `{name}`\n"))), "{page}");
    // No line of it depends on where and from which line it was built.
    assert!(!page.contains(".rs:"), "{page}");
    let json = fixture(["docs", "-o", "json"]).json();
    assert!(json.as_array().unwrap().iter().any(|tool| tool["permission"] == "talk"));
}

#[test]
fn what_lint_finds_is_told_and_denied() {
    let told = fixture(["lint"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.out.contains("[parameter-without-description]"), "{}", told.out);
    assert!(told.err.contains(" findings in "), "{}", told.err);
    let denied = fixture(["lint", "--deny"]);
    assert_eq!((denied.code, denied.out), (1, told.out.clone()));
    let json = fixture(["lint", "-o", "json"]).json();
    let rules: Vec<&str> =
        json.as_array().unwrap().iter().filter_map(|finding| finding["rule"].as_str()).collect();
    assert_eq!(rules.len(), told.out.lines().count());
    // Without all of the rules, nothing is left.
    let allowed: Vec<String> =
        rules.iter().flat_map(|rule| ["--allow".to_owned(), (*rule).to_owned()]).collect();
    let nothing = fixture(["lint".to_owned(), "--deny".to_owned()].into_iter().chain(allowed));
    assert_eq!((nothing.code, nothing.out.as_str()), (0, ""), "{}", nothing.err);

    let one = fixture(["lint", "greet", "--max-tokens", "1", "-o", "json"]).json();
    let findings: Vec<&Value> = one.as_array().unwrap().iter().collect();
    assert!(findings.iter().all(|finding| finding["tool"] == "greet"), "{one}");
    assert!(findings.iter().any(|finding| finding["rule"] == "over-budget"), "{one}");
    assert!(fixture(["lint", "gret"]).fails(3).contains("did you mean `greet`?"));
    assert!(fixture(["lint", "--allow", "nothing"]).fails(2).contains("nothing"));
    let help = fixture(["lint", "--help"]).ok();
    assert!(help.contains("wrong-tool-name"), "{help}");
}

#[cfg(all(feature = "fs", feature = "runtime", feature = "web"))]
fn toolkit(args: &[&str]) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let output = Command::new(env!("CARGO_BIN_EXE_toolkit"))
        .args(args)
        .current_dir(&directory)
        .env("TOOLKIT_CONFIG_DIR", directory.path())
        .env("TOOLKIT_DATA_DIR", directory.path())
        .output()
        .expect("it starts");
    (
        output.status.code(),
        String::from_utf8(output.stdout).expect("UTF-8") + &String::from_utf8_lossy(&output.stderr),
    )
}

/// It is of all that can be linked. `RECORD=1` writes it anew.
#[cfg(all(
    feature = "fs",
    feature = "gateway",
    feature = "llm-task",
    feature = "memory",
    feature = "runtime",
    feature = "telegram",
    feature = "whatsapp"
))]
#[test]
fn the_page_in_this_repository_is_current() {
    use std::fs;
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let (code, page) = toolkit(&["docs"]);
    assert_eq!(code, Some(0), "{page}");
    if env::var_os("RECORD").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/tools.md is not what `toolkit docs` writes; run this test with RECORD=1");
}

#[cfg(all(feature = "fs", feature = "runtime", feature = "web"))]
#[test]
fn lint_finds_nothing_in_the_builtin_tools() {
    let (code, said) = toolkit(&["lint", "--deny"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("Nothing to report of "), "{said}");
}

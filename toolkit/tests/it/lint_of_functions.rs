//! Findings about functions with `#[tool]`, by their types.

use toolkit::lint::Lint;

/// Reads the picture of a ship.
#[toolkit::tool(group = "ships", read_only)]
async fn picture() -> Result<Vec<u8>, toolkit::ToolError> {
    Ok(vec![1])
}

/// Counts the ships on each quay.
#[toolkit::tool(group = "ships", read_only)]
async fn quays() -> Vec<u16> {
    vec![1]
}

#[test]
fn returned_bytes_are_found_at_their_tool() {
    let (picture, quays) = (toolkit::tool_ref!(picture), toolkit::tool_ref!(quays));
    let findings = Lint::new().check([&picture, &quays]);
    let found: Vec<(&str, &str)> =
        findings.iter().map(|finding| (finding.rule, finding.tool.as_str())).collect();
    assert_eq!(found, [("bytes-as-numbers", "picture")]);
    assert!(findings[0].message.contains("`Image`"), "{}", findings[0]);
}

/// The crew of a ship.
#[toolkit::args]
struct Crew {
    /// The captain, by name.
    captain: String,
}

/// Hires the crew of a ship.
#[toolkit::tool(group = "ships", read_only)]
async fn hire(
    /** Who is on board. */
    crew: Crew,
) -> String {
    crew.captain
}

/// Pays the crew of a ship.
#[toolkit::tool(group = "ships", read_only)]
async fn pay(#[args] crew: Crew) -> String {
    crew.captain
}

#[test]
fn a_struct_for_all_arguments_is_found_at_its_tool() {
    let findings = Lint::new().check([&toolkit::tool_ref!(hire), &toolkit::tool_ref!(pay)]);
    let found: Vec<(&str, &str)> =
        findings.iter().map(|finding| (finding.rule, finding.tool.as_str())).collect();
    assert_eq!(found, [("nested-arguments", "hire")]);
}

//! Large results of all sizes, at all clients and over all transports.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

#[path = "../it/mcp_other_clients/large.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod results;

#[path = "../it/mcp_other_clients/person.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod person;

#[test]
#[ignore = "needs the Python and TypeScript clients of MCP, and minutes: cargo xtask long"]
fn results_of_any_size_arrive_whole_or_as_links() {
    let both = |client: &results::Client| [(*client, false), (*client, true)];
    let clients: Vec<_> = results::CLIENTS.iter().flat_map(both).collect();
    results::arrive(&clients, &[100_000, 1_200_000]);
    // One of each language over each transport.
    let [python, .., v1, _, v2] = results::CLIENTS else { panic!("too few clients") };
    let largest = [(*python, true), (*python, false), (*v1, false), (*v2, true)];
    results::arrive(&largest, &[20_000_000]);
}

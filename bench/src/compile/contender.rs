//! A contender: a crate of tools, written as a user of that framework would write it.

/// One way of writing tools. Every contender's crate does the same work and prints the same lines.
pub(crate) trait Contender {
    /// Name of the generated crate, its folder and its lock file.
    fn name(&self) -> &'static str;

    /// The `[dependencies]` table: peers by exact version, with no more features than the source needs.
    /// The crates they share are held still by the lock file.
    fn dependencies(&self) -> &'static str;

    /// `src/main.rs` of a crate of `tools` tools: a list of them all, a call of the first, a call of the last.
    fn source(&self, tools: usize) -> String;

    /// `src/main.rs` of the crate with one tool, for the cold build.
    fn one_tool_source(&self) -> String {
        self.source(1)
    }
}

/// Returns the expected output of a contender's crate.
pub(crate) fn expected_output(tools: usize) -> String {
    let last = tools - 1;
    format!("{tools}\nAda 1 None 0\nAda 3 Some(true) {last}\n")
}

/// `template` once for every tool, with `NUMBER` replaced by the tool's.
pub(super) fn repeat(template: &str, tools: usize) -> String {
    (0..tools).map(|number| template.replace("NUMBER", &number.to_string())).collect()
}

/// `main` with `LAST` replaced by the number of the last tool.
pub(super) fn with_last(main: &str, tools: usize) -> String {
    main.replace("LAST", &(tools - 1).to_string())
}

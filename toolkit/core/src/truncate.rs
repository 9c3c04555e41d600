//! How the output of a tool is cut to size, as its author states it.

/// Limits of a tool's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncate {
    /// The output is not truncated.
    Off,
    /// The output is truncated to these limits.
    Limits {
        /// The maximum number of lines; `None` for the host's default.
        max_lines: Option<u64>,
        /// The maximum number of bytes; `None` for the host's default.
        max_bytes: Option<u64>,
        /// The part that is kept.
        keep: Keep,
    },
}

/// The part of an output that is kept when it is truncated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    #[default]
    Head,
    /// The end.
    Tail,
    /// The beginning and the end.
    Ends,
}

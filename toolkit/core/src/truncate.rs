//! How the output of a tool is cut to size, as its author states it.

/// How a tool's output is cut to size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncate {
    /// Not at all.
    Off,
    /// To limits of its own.
    Limits {
        /// The most lines; the host's default where `None`.
        max_lines: Option<u64>,
        /// The most bytes; the host's default where `None`.
        max_bytes: Option<u64>,
        /// Which part stays.
        keep: Keep,
    },
}

/// Which part of an output stays when it is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    #[default]
    Head,
    /// The end.
    Tail,
    /// Beginning and end.
    Ends,
}

//! Where something is written in source code.

use std::fmt;

/// A source location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The module path; its first segment is the crate.
    pub module: &'static str,
    /// The package.
    pub package: &'static str,
    /// The package's version.
    pub version: &'static str,
    /// The source file.
    pub file: &'static str,
    /// The line in it, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Location {
    /// Returns the crate's name, as Rust code writes it.
    #[inline]
    pub fn crate_name(&self) -> &'static str {
        // Searched for byte by byte, because a toolkit does this several times for each of its tools, and the name is short.
        self.module.bytes().position(|byte| byte == b':').map_or(self.module, |end| &self.module[..end])
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

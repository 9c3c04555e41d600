//! Paths as manifests and messages have them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toolkit::text::escape_line;

/// Returns the real path of a directory.
pub(super) fn existing(directory: &Path) -> Result<PathBuf, String> {
    directory.canonicalize().map_err(|error| format!("{}: {error}", shown(directory)))
}

/// Returns a path as a message shows it.
pub(super) fn shown(path: &Path) -> String {
    escape_line(&path.display().to_string()).into_owned()
}

/// Returns a path as text for a manifest.
pub(super) fn utf8(path: &Path) -> Result<String, String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("{} is not UTF-8, which a manifest has to be", shown(path)))
}

/// A basic string of TOML.
pub(super) fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if char.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_manifests() {
        assert_eq!(toml_string("/a b/\"c\"\\d\n\u{7f}é"), "\"/a b/\\\"c\\\"\\\\d\\u000A\\u007Fé\"");
    }
}

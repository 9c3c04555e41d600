//! The structured output of `read`.

/// The facts about a file or directory that was read.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(untagged)]
pub enum ReadDetails {
    /// A text file.
    Text(TextDetails),
    /// A picture.
    Picture(PictureDetails),
    /// A directory.
    Directory(DirectoryDetails),
}

/// The lines of a text file that were returned.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TextDetails {
    /// The path, relative to the workspace if the file is in it.
    pub file_path: String,
    /// Number of the first line, counted from 1.
    pub first_line: u64,
    /// Number of lines.
    pub line_count: u64,
    /// Number of lines of the file; null if its end was not reached.
    pub total_lines: Option<u64>,
    /// Number of lines that were cut.
    pub cut_lines: u64,
    /// Number of lines that are not valid UTF-8.
    pub invalid_utf8_lines: u64,
    /// The encoding, such as UTF-8.
    pub encoding: String,
    /// True if the file begins with a byte order mark.
    pub byte_order_mark: bool,
    /// The line endings: LF, CRLF, mixed or none.
    pub line_endings: String,
    /// True if the file has further lines, or a line was cut.
    pub truncated: bool,
    /// The `offset` of the next line; null if there is none.
    pub next_offset: Option<u64>,
}

/// A picture that was returned.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PictureDetails {
    /// The path, relative to the workspace if the file is in it.
    pub path: String,
    /// The same path.
    pub file_path: String,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Width of the returned picture in pixels.
    pub shown_width: u32,
    /// Height of the returned picture in pixels.
    pub shown_height: u32,
    /// The media type of the returned picture.
    pub mime_type: String,
    /// Size of the returned picture in bytes.
    pub bytes: usize,
}

/// The names of a directory that were returned.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryDetails {
    /// The path, relative to the workspace if the directory is in it.
    pub file_path: String,
    /// Number of the first name, counted from 1.
    pub first_entry: u64,
    /// Number of names.
    pub entry_count: u64,
    /// Number of names in the directory; null if there are too many to count.
    pub total_entries: Option<u64>,
    /// True if the directory has further names.
    pub truncated: bool,
    /// The `offset` of the next name; null if there is none.
    pub next_offset: Option<u64>,
}

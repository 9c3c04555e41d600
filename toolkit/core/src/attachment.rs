//! The files attached to a tool's answer, with their media types.

use crate::output::ToolOutput;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// The media type of a file with an unknown extension.
const UNKNOWN: &str = "application/octet-stream";

/// Media types by file extension, in lower case.
const TYPES: &[(&str, &[&str])] = &[
    ("application/gzip", &["gz", "tgz"]),
    ("application/json", &["json"]),
    ("application/msword", &["doc"]),
    ("application/pdf", &["pdf"]),
    ("application/rtf", &["rtf"]),
    ("application/vnd.ms-excel", &["xls"]),
    ("application/vnd.ms-powerpoint", &["ppt"]),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", &["pptx"]),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &["xlsx"]),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", &["docx"]),
    ("application/wasm", &["wasm"]),
    ("application/x-tar", &["tar"]),
    ("application/xml", &["xml"]),
    ("application/yaml", &["yaml", "yml"]),
    ("application/zip", &["zip"]),
    ("audio/aac", &["aac"]),
    ("audio/flac", &["flac"]),
    ("audio/mp4", &["m4a"]),
    ("audio/mpeg", &["mp3"]),
    ("audio/ogg", &["ogg", "oga", "opus"]),
    ("audio/wav", &["wav"]),
    ("image/avif", &["avif"]),
    ("image/bmp", &["bmp"]),
    ("image/gif", &["gif"]),
    ("image/heic", &["heic"]),
    ("image/jpeg", &["jpg", "jpeg"]),
    ("image/png", &["png"]),
    ("image/svg+xml", &["svg"]),
    ("image/tiff", &["tif", "tiff"]),
    ("image/webp", &["webp"]),
    ("text/css", &["css"]),
    ("text/csv", &["csv"]),
    ("text/html", &["html", "htm"]),
    ("text/javascript", &["js", "mjs"]),
    ("text/markdown", &["md", "markdown"]),
    ("text/plain", &["txt", "log", "patch", "diff", "rs", "py", "toml", "json5"]),
    ("text/tab-separated-values", &["tsv"]),
    ("video/mp4", &["mp4", "m4v"]),
    ("video/mpeg", &["mpeg", "mpg"]),
    ("video/quicktime", &["mov"]),
    ("video/webm", &["webm"]),
];

/// A file attached to an answer, as in the JSON of a [`ToolResult`](crate::ToolResult): `{ "path":
/// "/tmp/chart.png", "mimeType": "image/png" }`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attachment {
    /// The file.
    pub path: PathBuf,
    /// The media type, by the extension of the file's name; `application/octet-stream` if the extension
    /// is unknown.
    pub mime_type: String,
}

impl Attachment {
    /// Creates an attachment, with the media type of the file's extension.
    ///
    /// ```
    /// use toolkit::output::Attachment;
    ///
    /// assert_eq!(Attachment::new("/tmp/chart.PNG").mime_type, "image/png");
    /// assert_eq!(Attachment::new("/tmp/core").mime_type, "application/octet-stream");
    /// ```
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let mime_type = mime_type(&path).to_owned();
        Self { path, mime_type }
    }
}

impl ToolOutput {
    /// Returns the attached files, with their media types.
    pub fn attached_files(&self) -> Vec<Attachment> {
        self.attachments.iter().map(Attachment::new).collect()
    }
}

fn mime_type(path: &Path) -> &'static str {
    let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else { return UNKNOWN };
    let extension = extension.to_ascii_lowercase();
    let found = TYPES.iter().find(|(_, extensions)| extensions.contains(&&*extension));
    found.map_or(UNKNOWN, |(mime_type, _)| mime_type)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named<'a> {
    path: std::borrow::Cow<'a, str>,
    mime_type: std::borrow::Cow<'a, str>,
}

/// Serialises any path: a path that is not UTF-8 must not make a result unserialisable.
impl Serialize for Attachment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Named { path: self.path.to_string_lossy(), mime_type: self.mime_type.as_str().into() }
            .serialize(serializer)
    }
}

/// Also accepts a path alone.
impl<'de> Deserialize<'de> for Attachment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Wire {
            Path(PathBuf),
            Named(Named<'static>),
        }
        Ok(match Wire::deserialize(deserializer)? {
            Wire::Path(path) => Self::new(path),
            Wire::Named(Named { path, mime_type }) => {
                Self { path: path.into_owned().into(), mime_type: mime_type.into_owned() }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_extension_has_two_types() {
        let mut all: Vec<&str> =
            TYPES.iter().flat_map(|(_, extensions)| extensions.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(all.iter().all(|extension| extension.to_lowercase() == *extension));
    }

    #[test]
    fn json_names_path_and_type() {
        let attachment = Attachment::new("/tmp/a.tar.gz");
        let json = serde_json::to_value(&attachment).unwrap();
        assert_eq!(json, json!({"path": "/tmp/a.tar.gz", "mimeType": "application/gzip"}));
        assert_eq!(serde_json::from_value::<Attachment>(json).unwrap(), attachment);
        assert_eq!(serde_json::from_value::<Attachment>(json!("/tmp/a.tar.gz")).unwrap(), attachment);
    }
}

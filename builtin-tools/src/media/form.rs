//! Forms with files, as endpoints take them.

use toolkit::prelude::*;

/// A form with files.
pub(super) struct Form {
    /// The line between two parts. It is random, so that no file can end its part.
    boundary: String,
    bytes: Vec<u8>,
}

impl Form {
    /// Creates an empty form.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes.
    pub(super) fn new() -> Result<Self, ToolError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| ToolError::unavailable(format!("the system has no random bytes: {error}")))?;
        let boundary = bytes.iter().fold(String::from("toolkit-"), |text, byte| format!("{text}{byte:02x}"));
        Ok(Self { boundary, bytes: Vec::new() })
    }

    /// Adds a text.
    pub(super) fn text(mut self, name: &str, value: &str) -> Self {
        let boundary = &self.boundary;
        let part =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        self.bytes.extend_from_slice(part.as_bytes());
        self
    }

    /// Adds a file under a name that says nothing about the user.
    pub(super) fn file(mut self, name: &str, file_name: &str, media_type: &str, data: &[u8]) -> Self {
        let boundary = &self.boundary;
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: {media_type}\r\n\r\n"
        );
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(data);
        self.bytes.extend_from_slice(b"\r\n");
        self
    }

    /// Returns the media type and the body.
    pub(super) fn finish(mut self) -> (String, Vec<u8>) {
        let boundary = &self.boundary;
        self.bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={boundary}"), self.bytes)
    }
}

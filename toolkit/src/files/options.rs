//! Options for writing a file.

use super::target::Target;

/// Options for writing a file: properties besides its content that differ from those of the replaced file.
#[derive(Debug, Clone, Copy, Default)]
#[must_use]
pub struct WriteOptions<'a> {
    pub(super) like: Option<&'a Target>,
    pub(super) executable: Option<bool>,
    pub(super) is_edit: bool,
}

impl<'a> WriteOptions<'a> {
    /// Copies the mode and all other kept attributes from the file at another target, which has to exist, instead of from the
    /// replaced file.
    pub fn with_like(mut self, like: &'a Target) -> Self {
        self.like = Some(like);
        self
    }

    /// Marks that the content was derived from the present content of the file: a session that has not read the whole file does
    /// not know the whole file by writing it.
    pub fn with_edit(mut self) -> Self {
        self.is_edit = true;
        self
    }

    /// Makes the file executable for everyone who may read it, or for no one. Has no effect on systems without such a bit.
    pub fn with_executable(mut self, executable: bool) -> Self {
        self.executable = Some(executable);
        self
    }
}

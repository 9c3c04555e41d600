//! What a file that is written is to be beside its content.

use super::target::Target;

/// What a file that is written gets beside its content, where that is something else than it had.
#[derive(Debug, Clone, Copy, Default)]
#[must_use]
pub struct WriteOptions<'a> {
    pub(super) like: Option<&'a Target>,
    pub(super) executable: Option<bool>,
    pub(super) is_edit: bool,
}

impl<'a> WriteOptions<'a> {
    /// Has it get the mode and all else that is kept of a file that is replaced from the one at another target, which has to
    /// be there.
    pub fn with_like(mut self, like: &'a Target) -> Self {
        self.like = Some(like);
        self
    }

    /// Says that the content was made from what the file has: a session that does not know all of the file does not know all of it
    /// by writing it.
    pub fn with_edit(mut self) -> Self {
        self.is_edit = true;
        self
    }

    /// Has it be executable for all who may read it, or for nobody. Where the system has no such bit, nothing comes of it.
    pub fn with_executable(mut self, executable: bool) -> Self {
        self.executable = Some(executable);
        self
    }
}

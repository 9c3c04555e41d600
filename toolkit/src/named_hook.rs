//! A hook with its name.

use std::sync::Arc;

/// A hook with the name used in its errors.
pub(crate) struct Named<T: ?Sized> {
    pub(crate) name: Arc<str>,
    pub(crate) hook: Arc<T>,
}

impl<T: ?Sized> Clone for Named<T> {
    fn clone(&self) -> Self {
        Self { name: Arc::clone(&self.name), hook: Arc::clone(&self.hook) }
    }
}

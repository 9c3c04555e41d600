//! The futures that the closures of a host return.

use std::pin::Pin;

/// A future that a closure returns. Every future is one.
// A trait of its own, so that a closure that is not `async` is one compile error that shows the solution.
#[diagnostic::on_unimplemented(
    message = "this closure must be `async`",
    label = "it returns `{Self}`, which is not a future",
    note = "write `async move {{ .. }}` as the body of the closure"
)]
pub trait ClosureFuture {
    /// The value of the future.
    type Value;

    #[doc(hidden)]
    fn boxed(self) -> Pin<Box<dyn Future<Output = Self::Value> + Send>>
    where
        Self: Send + 'static;
}

#[diagnostic::do_not_recommend]
impl<F: Future> ClosureFuture for F {
    type Value = F::Output;

    fn boxed(self) -> Pin<Box<dyn Future<Output = Self::Value> + Send>>
    where
        Self: Send + 'static,
    {
        Box::pin(self)
    }
}

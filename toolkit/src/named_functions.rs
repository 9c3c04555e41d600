//! The functions that `format_error` and `close` name.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use toolkit_core::arguments::InvalidArguments;

/// Implemented by no type.
pub trait Never {}

/// A function that words invalid arguments.
#[diagnostic::on_unimplemented(
    message = "`format_error` needs a `fn(&InvalidArguments) -> String`",
    label = "not such a function",
    note = "write it as `fn words(invalid: &InvalidArguments) -> String`, with `toolkit::arguments::InvalidArguments`"
)]
pub trait FormatsErrors<Kind> {
    /// Calls the function.
    fn format(&self, invalid: &InvalidArguments) -> String;
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&InvalidArguments) -> String> FormatsErrors<()> for F {
    fn format(&self, invalid: &InvalidArguments) -> String {
        self(invalid)
    }
}

/// Never applies. With a single implementation, the compiler would report that its condition fails, instead of the message above.
#[diagnostic::do_not_recommend]
impl<F: Never> FormatsErrors<Infallible> for F {
    fn format(&self, _: &InvalidArguments) -> String {
        String::new()
    }
}

/// Calls the function of a tool's `format_error`.
pub fn formatted<K>(function: &impl FormatsErrors<K>, invalid: &InvalidArguments) -> String {
    function.format(invalid)
}

/// A function that closes a service.
#[diagnostic::on_unimplemented(
    message = "`close` needs an `async fn(Arc<{T}>)`",
    label = "not such a function",
    note = "write it as `async fn close(service: Arc<{T}>)`: other calls may still hold the service"
)]
pub trait Closes<T: ?Sized, Kind> {
    /// The future of a call.
    type Future: Future<Output = ()> + Send + 'static;

    /// Calls the function.
    fn close(&self, service: Arc<T>) -> Self::Future;
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized, R: Future<Output = ()> + Send + 'static, F: Fn(Arc<T>) -> R> Closes<T, PhantomData<R>> for F {
    type Future = R;

    fn close(&self, service: Arc<T>) -> R {
        self(service)
    }
}

/// Never applies, for the same reason.
#[diagnostic::do_not_recommend]
impl<T: ?Sized, F: Never> Closes<T, Infallible> for F {
    type Future = std::future::Ready<()>;

    fn close(&self, _: Arc<T>) -> Self::Future {
        std::future::ready(())
    }
}

/// A type whose value a field has that is not read.
#[diagnostic::on_unimplemented(
    message = "a skipped field needs a value, and `{Self}` has no `Default`",
    label = "no `Default`",
    note = "derive `Default` for the type, or name a function with `#[serde(default = \"path\")]`"
)]
pub trait SkippedField: Sized {
    /// Returns the value.
    fn skipped() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> SkippedField for T {
    fn skipped() -> Self {
        Self::default()
    }
}

/// Returns the value of a skipped field.
pub fn skipped<T: SkippedField>() -> T {
    T::skipped()
}

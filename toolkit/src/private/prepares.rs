//! The function that `#[tool(prepare = …)]` names.

use crate::named_functions::Never;
use crate::tool::prepare::Preparation;
use std::convert::Infallible;
use std::marker::PhantomData;
use toolkit_core::caller::Caller;

/// A function that can prepare a tool.
#[diagnostic::on_unimplemented(
    message = "`prepare` needs an `async fn(&Caller, &mut Preparation)`",
    label = "not such a function",
    note = "write it as `async fn prepare(caller: &Caller, preparation: &mut Preparation) -> Result<(), ToolError>`, with or without the `Result`"
)]
pub trait Prepares<'a, Kind> {
    /// The future of a call.
    type Future: Future;

    /// Calls the function.
    fn prepare(&self, caller: &'a Caller, preparation: &'a mut Preparation) -> Self::Future;
}

#[diagnostic::do_not_recommend]
impl<'a, F: Fn(&'a Caller, &'a mut Preparation) -> R, R: Future> Prepares<'a, PhantomData<R>> for F {
    type Future = R;

    fn prepare(&self, caller: &'a Caller, preparation: &'a mut Preparation) -> R {
        self(caller, preparation)
    }
}

/// Never applies. With a single implementation, the compiler would report that its condition fails, instead of the message above.
#[diagnostic::do_not_recommend]
impl<F: Never> Prepares<'_, Infallible> for F {
    type Future = std::future::Ready<()>;

    fn prepare(&self, _: &Caller, _: &mut Preparation) -> Self::Future {
        std::future::ready(())
    }
}

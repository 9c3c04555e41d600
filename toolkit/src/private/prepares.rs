//! The function that `#[tool(prepare = …)]` names.

use crate::tool::prepare::Preparation;
use toolkit_core::caller::Caller;

/// A function that can prepare a tool; whether it is async is checked with what it returns.
#[diagnostic::on_unimplemented(
    message = "the function of `prepare` takes `&Caller` and `&mut Preparation`",
    label = "takes something else",
    note = "write it as `async fn prepare(caller: &Caller, preparation: &mut Preparation) -> Result<(), ToolError>`"
)]
pub trait Prepares<'a> {
    /// The future.
    type Returned;

    /// Calls the function.
    fn prepare(&self, caller: &'a Caller, preparation: &'a mut Preparation) -> Self::Returned;
}

#[diagnostic::do_not_recommend]
impl<'a, F: Fn(&'a Caller, &'a mut Preparation) -> R, R> Prepares<'a> for F {
    type Returned = R;

    fn prepare(&self, caller: &'a Caller, preparation: &'a mut Preparation) -> R {
        self(caller, preparation)
    }
}

//! Methods under names that a tool may expect, and that have another name here: each is a compile error that says what to write. The bound has
//! a lifetime, because the compiler would refuse one without any where it is written.

use super::ToolContext;
use std::sync::Arc;

#[diagnostic::on_unimplemented(
    message = "a context finds a service by `service`",
    label = "write `.service::<T>()`, which returns an `Option<Arc<T>>`, or take `State<T>` as a parameter of the tool"
)]
pub trait FindsService {}

impl ToolContext {
    #[doc(hidden)]
    pub fn state<'a, T: ?Sized>(&'a self) -> Option<Arc<T>>
    where
        &'a Self: FindsService,
    {
        unreachable!("nothing has the trait")
    }
}

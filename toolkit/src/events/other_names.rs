//! Names under which a program may look for what events have: each is a compile error that says what to write. Nothing has the traits.

use super::{Events, LogMessage, Progress};

#[diagnostic::on_unimplemented(
    message = "the events of calls are read by `next`",
    label = "write `while let Some(event) = events.next().await {{ .. }}`",
    note = "`.try_next()` returns an event that is there already; events are also a `Stream`"
)]
pub trait IsNext<'a> {}

#[doc(hidden)]
impl<'a> Events
where
    Self: IsNext<'a>,
{
    pub fn recv(&self) {}
    pub fn try_recv(&self) {}
    pub fn receive(&self) {}
    pub fn into_iter(&self) {}
    pub fn subscribe(&self) {}
    pub fn read(&self) {}
    pub fn poll(&self) {}
    pub fn blocking_recv(&self) {}
    pub fn on(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a `LogMessage` is made of its level and a text",
    label = "write `LogMessage::new(LogLevel::Info, text)`"
)]
pub trait LogsAtLevel<'a> {}

#[doc(hidden)]
impl<'a> LogMessage
where
    Self: LogsAtLevel<'a>,
{
    pub fn info() {}
    pub fn warn() {}
    pub fn warning() {}
    pub fn error() {}
    pub fn debug() {}
    pub fn trace() {}
    pub fn text() {}
    pub fn from_text() {}
    pub fn notice() {}
}

#[diagnostic::on_unimplemented(
    message = "a `Progress` counts what is done, of a total",
    label = "write `Progress::new(done).with_total(all)`; `.with_message(text)` adds a text",
    note = "of a percentage: `Progress::new(percent).with_total(100)`"
)]
pub trait CountsSteps<'a> {}

#[doc(hidden)]
impl<'a> Progress
where
    Self: CountsSteps<'a>,
{
    pub fn percent() {}
    pub fn percentage() {}
    pub fn fraction() {}
    pub fn of() {}
    pub fn step() {}
    pub fn message() {}
    pub fn text() {}
    pub fn indeterminate() {}
    pub fn started() {}
    pub fn done() {}
    pub fn finished() {}
    pub fn from_fraction() {}
}

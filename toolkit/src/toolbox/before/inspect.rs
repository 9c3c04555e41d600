//! Collects the verdicts of all inspectors on a call.

use crate::history;
use crate::inspector::{Inspecting, Inspection, Inspector, MAX_ROUNDS, Verdict};
use crate::named_hook::Named;
use crate::timer::timer;
use crate::tool::context::ToolContext;
use crate::toolbox::asked::note_asked;
use serde_json::{Value, json};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep};
use toolkit_core::arguments::{self, Arguments, Repairing};
use toolkit_core::ask::Ask;
use toolkit_core::call::CallArguments;
use toolkit_core::error::ToolError;
use toolkit_core::escape::escape_line;
use toolkit_core::guard::guard;

/// Returns the arguments for the function once every inspector has judged them.
pub(super) async fn inspect(context: &ToolContext, mut arguments: Arguments) -> Result<Arguments, ToolError> {
    if context.scope().toolkit.settings.hooks.inspectors.is_empty() {
        return Ok(arguments);
    }
    let mut secrets = Vec::new();
    let judged = judge(context, arguments.take_all(), &mut secrets).await;
    context.keep_secret(secrets);
    let Judged { arguments, rewriters, asks } = judged?;
    note_rewriters(context, &rewriters);
    for (name, question) in asks {
        ask(context, name, question).await?;
    }
    Ok(Arguments::from_object(arguments))
}

/// Arguments that every inspector has judged, and none blocks.
struct Judged<'a> {
    arguments: Value,
    /// The inspectors that rewrote them.
    rewriters: Vec<&'a str>,
    asks: Vec<(&'a str, Ask)>,
}

async fn judge<'a>(
    context: &'a ToolContext,
    mut arguments: Value,
    secrets: &mut Vec<String>,
) -> Result<Judged<'a>, ToolError> {
    let mut rewriters: Vec<&str> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let (mut asks, mut is_changed) = (Vec::new(), false);
        for named in &context.scope().toolkit.settings.hooks.inspectors {
            let name = &*named.name;
            match consult(context, named, &arguments).await? {
                Verdict::Proceed => {}
                Verdict::Ask(ask) => asks.push((name, ask)),
                Verdict::Block { reason } => return Err(blocked(context, name, &reason)),
                Verdict::Rewrite(other) => {
                    let other = fitting(context, name, other, secrets)?;
                    if other != arguments {
                        (arguments, is_changed) = (other, true);
                        if !rewriters.contains(&name) {
                            rewriters.push(name);
                        }
                    }
                }
            }
        }
        if !is_changed {
            return Ok(Judged { arguments, rewriters, asks });
        }
    }
    let reason = "the hooks kept rewriting the arguments without settling";
    Err(blocked(context, &rewriters.join("`, `"), reason))
}

/// Returns one inspector's verdict. Any failure of the inspector blocks the call.
async fn consult(
    context: &ToolContext,
    named: &Named<dyn Inspector>,
    arguments: &Value,
) -> Result<Verdict, ToolError> {
    let inspection = Inspection { context, arguments };
    let failed = |what: &str| blocked(context, &named.name, what);
    let panicked = || failed("it stopped on an internal error");
    let begun = guard(&named.name, || (named.hook.inspect(&inspection), named.hook.limit()));
    let (inspecting, limit) = begun.map_err(|_| panicked())?;
    let mut consulted = Consulted { name: &named.name, inspecting: Some(inspecting) };
    let mut deadline: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|task| match consulted.poll(task) {
        Poll::Ready(Some(Ok(verdict))) => Poll::Ready(Ok(verdict)),
        Poll::Ready(Some(Err(error))) => Poll::Ready(Err(failed(&format!("it failed: {}", error.message())))),
        Poll::Ready(None) => Poll::Ready(Err(panicked())),
        Poll::Pending => {
            if deadline.is_none() {
                deadline = Instant::now().checked_add(limit).and_then(timer);
            }
            let Some(sleep) = &mut deadline else { return Poll::Pending };
            sleep.as_mut().poll(task).map(|()| Err(failed(&format!("it gave no verdict within {limit:?}"))))
        }
    })
    .await
}

/// A running inspector.
struct Consulted<'a> {
    name: &'a str,
    inspecting: Option<Inspecting<'a>>,
}

impl Consulted<'_> {
    /// Polls for the verdict; `None` if the inspector panicked.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Verdict, ToolError>>> {
        let Some(inspecting) = &mut self.inspecting else { return Poll::Ready(None) };
        let polled = guard(self.name, || inspecting.as_mut().poll(task));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(verdict)) => {
                // A destructor that panics is a failure like any other.
                let dropped = guard(self.name, || drop(self.inspecting.take()));
                Poll::Ready(dropped.ok().map(|()| verdict))
            }
            Err(_) => Poll::Ready(None),
        }
    }
}

impl Drop for Consulted<'_> {
    fn drop(&mut self) {
        let inspecting = self.inspecting.take();
        if inspecting.is_some() {
            let _ = guard(self.name, || drop(inspecting));
        }
    }
}

/// Checks rewritten arguments, and returns them as the function will get them.
fn fitting(
    context: &ToolContext,
    name: &str,
    mut other: Value,
    secrets: &mut Vec<String>,
) -> Result<Value, ToolError> {
    let tool = context.tool();
    let compiled = tool.compiled()?;
    let bound = tool.bound_arguments();
    if let (Some(bound), Value::Object(members)) = (bound, &mut other) {
        // The schema does not contain bound arguments. One with another value stays, and is rejected as unknown.
        members.retain(|name, value| bound.get(name) != Some(value));
    }
    let prepared = guard(tool.name(), || {
        if compiled.has_secrets {
            secrets.extend(history::secrets::strip(compiled, &mut other.clone()));
        }
        arguments::prepare(compiled, CallArguments::Json(other), Repairing::Off)
    });
    match prepared? {
        Ok((mut arguments, _)) => {
            if let Some(bound) = bound {
                arguments.extend(bound);
            }
            Ok(arguments.take_all())
        }
        Err(problems) => Err(blocked(
            context,
            name,
            &format!("it rewrote the arguments to ones that the tool rejects: {problems}"),
        )),
    }
}

async fn ask(context: &ToolContext, name: &str, ask: Ask) -> Result<(), ToolError> {
    let (kind, title) = (ask.kind.clone(), ask.title.clone());
    context.ask_person(ask, name).await?;
    note_asked(context, name, &kind, &title);
    Ok(())
}

fn note_rewriters(context: &ToolContext, rewriters: &[&str]) {
    if !rewriters.is_empty() {
        context.live().tell(|told| {
            told.metadata.insert("rewrittenBy".to_owned(), json!(rewriters));
        });
    }
}

fn blocked(context: &ToolContext, name: &str, reason: &str) -> ToolError {
    ToolError::denied(format!(
        "the call of `{}` was blocked by `{}`: {reason}. It did not run",
        context.tool_name(),
        escape_line(name)
    ))
}

//! The loop guard in a call's path: acts before a call that had the same result too often, and records each result.

use super::Scope;
use super::asked::{note_asked, shown};
use crate::loop_guard::{Step, call_key, ordinal, refused_key, result_key};
use crate::tool::context::ToolContext;
use serde_json::Value;
use toolkit_core::arguments::Arguments;
use toolkit_core::ask::Ask;
use toolkit_core::content::Content;
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::output::ToolOutput;

type Outcome = Result<ToolOutput, ToolError>;

/// The kind of permission to ask for.
const KIND: &str = "repeat";

/// The fact by which a host knows that the guard kept a call back: `denied` after a question, or `blocked`.
const LOOP_GUARD: &str = "loopGuard";

/// The size in bytes up to which an error cannot name the file of a saved output.
const SHORT: usize = 256;

/// Returns the loop guard's key of the call; `None` if the guard ignores the call.
pub(super) fn key(context: &ToolContext, scope: &Scope, arguments: &Arguments) -> Option<u64> {
    let caller = &scope.caller;
    // A program may repeat calls.
    let is_model = caller.agent.is_some() || caller.model.is_some();
    let is_on = is_model && scope.rules.loop_guard.is_on();
    (is_on && context.above().is_none()).then(|| call_key(context.tool_name(), arguments))
}

/// Asks before a call, or denies it, if it had the same result too often.
pub(super) async fn mind(context: &ToolContext, key: u64, arguments: &Arguments) -> Result<(), ToolError> {
    let (guard, recent) = (context.scope().rules.loop_guard, &context.scope().session.recent);
    let answers = recent.answers(key);
    let result = match guard.before(answers) {
        Step::Run => return Ok(()),
        Step::Ask => {
            ask(context, arguments).await.map_err(|error| error.with_metadata(LOOP_GUARD, "denied"))
        }
        Step::Block => Err(ToolError::denied(format!(
            "`{}` was called repeatedly with the same arguments and returned the same result each time, so this call was blocked. The result would not change: use other arguments, try another way, or say what you are stuck at",
            context.tool_name()
        ))
        .with_metadata(LOOP_GUARD, "blocked")),
    };
    if result.is_err() {
        recent.note_kept_back(key);
        context.live().keep_back();
    }
    result
}

async fn ask(context: &ToolContext, arguments: &Arguments) -> Result<(), ToolError> {
    let tool = context.tool_name();
    let title = format!("call `{tool}` once more, though it returned the same result repeatedly");
    let mut ask = Ask::new(KIND, &title).once_only();
    if let Some(shown) = shown(context, &Value::Object(arguments.members().clone())) {
        ask = ask.with_text("arguments", shown);
    }
    context.ask_person(ask, "loop guard").await?;
    note_asked(context, "loop guard", KIND, &title);
    Ok(())
}

/// Records the result of a call, and tells the model if it was the same too often.
pub(super) fn note(context: &ToolContext, key: u64, outcome: &mut Outcome) {
    if context.live_if_made().is_some_and(|live| live.is_kept_back()) {
        return;
    }
    let changes = match outcome {
        Ok(_) => true,
        // The result of an aborted call is not used.
        Err(error) if error.kind() == ToolErrorKind::Aborted => return,
        Err(error) => !matches!(error.kind(), ToolErrorKind::Denied | ToolErrorKind::InvalidArguments),
    };
    let changes = changes && !context.tool().annotations().read_only_hint;
    let result = result_key(outcome, kept_in(context, outcome).as_deref());
    let guard = context.scope().rules.loop_guard;
    let answers = context.scope().session.recent.note(guard, key, result, changes);
    if guard.tells(answers) {
        tell(context, answers, outcome);
    }
}

/// Records a call that was rejected before it could run: two rejections are the same if their texts are.
#[cold]
pub(super) fn note_refused(context: &ToolContext, error: ToolError) -> ToolError {
    let guard = context.scope().rules.loop_guard;
    let caller = context.caller();
    let is_model = caller.agent.is_some() || caller.model.is_some();
    if !is_model || !guard.is_on() || context.above().is_some() {
        return error;
    }
    let key = refused_key(context.tool_name(), error.message());
    let answers = context.scope().session.recent.note(guard, key, 0, false);
    if !guard.tells(answers) {
        return error;
    }
    let message = format!(
        "{}\n\nThis is the {} call in this session that was refused with the same message. Do not repeat it unchanged: correct the named problem, or do something else",
        error.message(),
        ordinal(answers)
    );
    error.with_message(message)
}

fn tell(context: &ToolContext, answers: u32, outcome: &mut Outcome) {
    let note = format!(
        "This is the {} time that `{}` was called with the same arguments and returned the same result. Calling it again will not change that: use the result, try another way, or say what you are stuck at.",
        ordinal(answers),
        context.tool_name()
    );
    match outcome {
        Ok(output) => {
            output.content.push(Content::text(note));
            output.metadata.insert("sameAnswers".to_owned(), answers.into());
        }
        Err(error) => {
            let message = format!("{}\n\n{note}", error.message());
            error.set_message(message);
        }
    }
}

/// Returns the directory of the session's saved outputs, if the outcome may name one.
fn kept_in(context: &ToolContext, outcome: &Outcome) -> Option<String> {
    let may_name_one = match outcome {
        Ok(output) => output.metadata.contains_key("truncation"),
        Err(error) => error.message().len() > SHORT,
    };
    if !may_name_one {
        return None;
    }
    let directory = context.scope().toolkit.settings.outputs.session_dir(Some(&context.output_owner()))?;
    directory.to_str().map(str::to_owned)
}

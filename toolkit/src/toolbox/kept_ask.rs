//! The questions of a call in the store of the host.

use crate::approvals::Asker;
use crate::ask_store::{AskKeeper, DecidedAsk, KeptAnswer, KeptCall};
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use data_encoding::HEXLOWER;
use hmac_sha256::Hash;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use toolkit_core::ask::{AllowScope, Answer, PendingAsk, Question};
use toolkit_core::call::CallArguments;
use toolkit_core::caller::Caller;
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::output::ToolOutput;

/// A call whose questions are kept, for as long as it is under way.
pub(super) struct LiveCall {
    call: Arc<KeptCall>,
    is_over: bool,
}

/// One question of a call, in the store.
pub(super) struct KeptAsk<'a> {
    call: &'a KeptCall,
    digest: String,
}

impl LiveCall {
    /// Begins to keep the questions of a call; `None` in a session without a name, which no later call is in.
    pub(super) fn begin(
        keeper: &AskKeeper,
        caller: &Caller,
        id: &str,
        arguments: &CallArguments,
        interrupt: Option<CancellationToken>,
    ) -> Option<Self> {
        let call = (caller.session_id.clone()?, id.to_owned());
        let call = Arc::new(KeptCall::new(keeper, call, arguments.clone(), interrupt));
        Some(Self { call, is_over: false })
    }

    pub(super) fn call(&self) -> &Arc<KeptCall> {
        &self.call
    }

    /// Removes the questions of a call that has a result, unless it was interrupted while it waited for an answer. It is not a part of the
    /// function, which a cancellation drops.
    pub(super) async fn end(&mut self, outcome: Option<&Result<ToolOutput, ToolError>>) {
        let is_interrupted = self.call.interrupt.as_ref().is_some_and(CancellationToken::is_cancelled);
        let is_aborted = matches!(outcome, Some(Err(error)) if error.kind() == ToolErrorKind::Aborted);
        // One that has asked nothing yet may have a question, and its answer, from an earlier process.
        let may_wait = || {
            let state = self.call.state();
            state.open > 0 || state.decided.is_empty()
        };
        let waits = is_interrupted && is_aborted && may_wait();
        if self.leave() && !waits {
            self.call.keeper.forget(&self.call.call.0, &self.call.call.1).await;
        }
    }

    /// Returns true if no other call under way has the same id.
    fn leave(&mut self) -> bool {
        self.is_over = true;
        let asking = self.call.state().identity.take();
        self.call.keeper.leave(&self.call.call, asking.as_ref())
    }
}

impl Drop for LiveCall {
    fn drop(&mut self) {
        if !self.is_over {
            self.leave();
        }
    }
}

impl AskKeeper {
    /// Removes all questions of a call.
    pub(crate) async fn forget(&self, session_id: &str, call_id: &str) {
        if let Err(error) = self.store.remove_call(session_id, call_id).await {
            tracing::error!(
                target: "toolkit", session = session_id, call = call_id, error,
                "the questions of a call that is over could not be removed from the store of the host"
            );
        }
    }
}

impl KeptCall {
    /// Returns the place of a question of the call. It is of the same tool, with the same arguments, and for the same asker and workspace as one
    /// that an answer is for.
    pub(super) fn place(&self, context: &ToolContext, question: &Question) -> KeptAsk<'_> {
        let (identity, number) = self.identity(context);
        let text = format!("{}\n{number}\n{identity}", question.digest());
        KeptAsk { call: self, digest: HEXLOWER.encode(&Hash::hash(text.as_bytes())) }
    }

    /// Returns the call as JSON text, and its number among equal calls under way.
    fn identity(&self, context: &ToolContext) -> (String, usize) {
        let mut state = self.state();
        let make = || {
            let identity = self.describe(context.caller(), context.tool());
            let number = self.keeper.number(&identity);
            (identity, number)
        };
        state.identity.get_or_insert_with(make).clone()
    }

    fn describe(&self, caller: &Caller, tool: &Tool) -> String {
        let arguments = match self.arguments.as_text() {
            // Text that is not JSON may be repaired to arguments: it is taken as it is.
            Ok(text) => serde_json::from_str(text).unwrap_or_else(|_| serde_json::json!([text])),
            Err(value) => value.clone(),
        };
        let arguments = sorted(arguments);
        let asker = serde_json::to_value(Asker::of(caller, tool)).unwrap_or_default();
        let workspace = caller.workspace.as_deref().map(Path::to_string_lossy);
        let definition = tool.definition().ok().and_then(|definition| serde_json::to_value(definition).ok());
        let (session, id) = &self.call;
        serde_json::json!([session, asker, workspace, id, arguments, definition]).to_string()
    }
}

fn sorted(mut arguments: Value) -> Value {
    arguments.sort_all_objects();
    arguments
}

impl KeptAsk<'_> {
    /// Returns the same question of an earlier process.
    pub(super) async fn earlier(&self) -> Result<Option<PendingAsk>, String> {
        self.call.keeper.store.get(&self.digest).await
    }

    /// Keeps the question, and with it the answers that the call got before it. Returns its answer if it has one.
    pub(super) async fn put(&self, ask: &PendingAsk) -> Result<Option<KeptAnswer>, String> {
        let store = &self.call.keeper.store;
        self.call.state().open += 1;
        let decided = self.call.state().decided.clone();
        for (place, DecidedAsk { digest, ask, answer, .. }) in decided.iter().enumerate() {
            store.put_answered(digest, ask, answer).await?;
            self.call.state().decided[place].is_put_again = true;
        }
        store.put(&self.digest, ask).await
    }

    /// Keeps the question with the id under which it is listed.
    pub(super) async fn put_listed(&self, ask: &PendingAsk) -> Result<(), String> {
        self.call.keeper.store.put(&self.digest, ask).await.map(|_| ())
    }

    pub(super) async fn answered(&self) -> Result<KeptAnswer, String> {
        self.call.keeper.store.answered(&self.digest).await
    }

    /// Removes the question, and those that were decided before it. Returns false if it was not there.
    pub(super) async fn remove(&self) -> Result<bool, String> {
        let store = &self.call.keeper.store;
        let decided = self.call.state().decided.clone();
        for (place, before) in decided.iter().enumerate().filter(|(_, before)| before.is_put_again) {
            store.remove(&before.digest).await?;
            self.call.state().decided[place].is_put_again = false;
        }
        store.remove(&self.digest).await
    }

    /// Notes the answer, for the case that the call asks another question before it acts. An approval for longer was remembered when it was
    /// given, and may be revoked before the call begins again.
    pub(super) fn decided(self, ask: PendingAsk, mut answer: KeptAnswer) {
        if let Answer::Allow { scope, .. } = &mut answer.reply.answer {
            *scope = AllowScope::Once;
        }
        let mut state = self.call.state();
        state.open = state.open.saturating_sub(1);
        state.decided.push(DecidedAsk { digest: self.digest, ask, answer, is_put_again: false });
    }
}

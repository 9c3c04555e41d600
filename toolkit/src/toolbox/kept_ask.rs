//! The questions of a call in the store of the host.

use crate::approvals::Asker;
use crate::ask_store::{AskKeeper, AskingCall, DecidedAsk, KeptAnswer, KeptCall};
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
pub(super) struct LiveCall(Arc<KeptCall>);

/// One question of a call, in the store.
pub(super) struct KeptAsk<'a> {
    call: &'a KeptCall,
    digest: String,
}

impl LiveCall {
    /// Begins to keep the questions of a call.
    pub(super) fn begin(
        keeper: &AskKeeper,
        call: AskingCall,
        arguments: CallArguments,
        interrupt: Option<CancellationToken>,
    ) -> Self {
        Self(Arc::new(KeptCall::new(keeper, call, arguments, interrupt)))
    }

    pub(super) fn call(&self) -> &Arc<KeptCall> {
        &self.0
    }

    /// Removes the questions of a call that has a result, unless it was interrupted while it waited for an answer. It is not a part of the
    /// function, which a cancellation drops.
    pub(super) async fn end(&mut self, outcome: Option<&Result<ToolOutput, ToolError>>) {
        let is_interrupted = self.0.interrupt.as_ref().is_some_and(CancellationToken::is_cancelled);
        let is_aborted = matches!(outcome, Some(Err(error)) if error.kind() == ToolErrorKind::Aborted);
        let waits = {
            let mut state = self.0.state();
            state.is_over = true;
            // One that has asked nothing yet may have a question, and its answer, from an earlier process.
            is_interrupted && is_aborted && (!state.open.is_empty() || state.decided.is_empty())
        };
        if !waits {
            self.0.forget().await;
        }
    }
}

impl Drop for LiveCall {
    fn drop(&mut self) {
        let asking = {
            let mut state = self.0.state();
            state.is_over = true;
            state.identity.take()
        };
        // After the questions are removed: a call with the same name that begins now keeps its own.
        self.0.keeper.leave(&self.0.call, asking.as_ref());
    }
}

impl AskKeeper {
    /// Removes all questions of a call.
    pub(crate) async fn forget(&self, call: &AskingCall) {
        log(call, self.store.remove_call(call, None).await);
    }
}

fn log(call: &AskingCall, removed: Result<(), String>) {
    if let Err(error) = removed {
        tracing::error!(
            target: "toolkit", session = call.session_id, turn = call.turn, call = call.call_id, error,
            "the questions of a call that is over could not be removed from the store of the host"
        );
    }
}

impl KeptCall {
    /// Removes all questions of the call, those of an earlier process included, which cannot be told from those of another call under way with the same
    /// name.
    async fn forget(&self) {
        let _changing = self.changing.lock().await;
        if self.keeper.live(&self.call) == 1 {
            return self.keeper.forget(&self.call).await;
        }
        let own = {
            let mut state = self.state();
            let again = state.decided.iter().filter(|decided| decided.is_put_again);
            let own: Vec<String> = again.map(|decided| decided.digest.clone()).collect();
            own.into_iter().chain(std::mem::take(&mut state.open))
        };
        for digest in own {
            log(&self.call, self.keeper.store.remove(&digest).await.map(drop));
        }
    }

    /// Returns the place of a question of the call; `None` once the call is over. It is of the same tool, with the same arguments, and for the same
    /// asker and workspace as one that an answer is for.
    pub(super) fn place(&self, context: &ToolContext, question: &Question) -> Option<KeptAsk<'_>> {
        let (identity, number) = self.identity(context)?;
        let text = format!("{}\n{number}\n{identity}", question.digest());
        Some(KeptAsk { call: self, digest: HEXLOWER.encode(&Hash::hash(text.as_bytes())) })
    }

    /// Returns the question as one that was asked after those that the call asked before.
    pub(super) fn last(&self, ask: PendingAsk) -> PendingAsk {
        self.state().decided.iter().fold(ask, |ask, before| ask.asked_after(&before.ask))
    }

    /// Returns the call as JSON text, and its number among equal calls under way; `None` once it is over.
    fn identity(&self, context: &ToolContext) -> Option<(String, usize)> {
        let mut state = self.state();
        if state.is_over {
            return None;
        }
        let make = || {
            let identity = self.describe(context.caller(), context.tool());
            let number = self.keeper.number(&identity);
            (identity, number)
        };
        Some(state.identity.get_or_insert_with(make).clone())
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
        let AskingCall { session_id, turn, call_id } = &self.call;
        serde_json::json!([session_id, asker, workspace, turn, call_id, arguments, definition]).to_string()
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
        let _changing = self.call.changing.lock().await;
        let decided = {
            let mut state = self.call.state();
            if state.is_over {
                return Err(over());
            }
            state.open.insert(self.digest.clone());
            state.decided.clone()
        };
        for (place, DecidedAsk { digest, ask, answer, .. }) in decided.iter().enumerate() {
            self.call.state().decided[place].is_put_again = true;
            store.put_answered(digest, ask, answer).await?;
            self.check(digest).await?;
        }
        let answer = store.put(&self.digest, ask).await?;
        self.check(&self.digest).await?;
        Ok(answer)
    }

    /// Keeps the question with the id under which it is listed.
    pub(super) async fn put_listed(&self, ask: &PendingAsk) -> Result<(), String> {
        let _changing = self.call.changing.lock().await;
        if self.call.state().is_over {
            return Err(over());
        }
        self.call.keeper.store.put(&self.digest, ask).await?;
        self.check(&self.digest).await
    }

    /// Removes what was put in the store while the call ended, and fails then: nobody would take it out.
    async fn check(&self, digest: &str) -> Result<(), String> {
        if !self.call.state().is_over {
            return Ok(());
        }
        self.call.keeper.store.remove(digest).await?;
        Err(over())
    }

    pub(super) async fn answered(&self) -> Result<KeptAnswer, String> {
        self.call.keeper.store.answered(&self.digest).await
    }

    /// Removes a question that is decided, and those of the call that were asked before it. Returns false if it was not there.
    pub(super) async fn remove(&self, ask: &PendingAsk) -> Result<bool, String> {
        let KeptCall { keeper, call, changing, .. } = self.call;
        let _changing = changing.lock().await;
        let is_alone = self.call.state().open.iter().all(|open| *open == self.digest);
        if keeper.live(call) == 1 && is_alone {
            // Also those that an earlier process put again, and this one did not ask.
            keeper.store.remove_call(call, Some(ask.asked_at())).await?;
            self.call.state().decided.iter_mut().for_each(|before| before.is_put_again = false);
        } else {
            let decided = self.call.state().decided.clone();
            for (place, before) in decided.iter().enumerate().filter(|(_, before)| before.is_put_again) {
                keeper.store.remove(&before.digest).await?;
                self.call.state().decided[place].is_put_again = false;
            }
        }
        keeper.store.remove(&self.digest).await
    }

    /// Notes the answer, for the case that the call asks another question before it acts. An approval for longer was remembered when it was
    /// given, and may be revoked before the call begins again.
    pub(super) fn decided(self, ask: PendingAsk, mut answer: KeptAnswer) {
        if let Answer::Allow { scope, .. } = &mut answer.reply.answer {
            *scope = AllowScope::Once;
        }
        let mut state = self.call.state();
        state.open.remove(&self.digest);
        state.decided.push(DecidedAsk { digest: self.digest, ask, answer, is_put_again: false });
    }
}

/// The error of a question of a call that is over.
fn over() -> String {
    "the call is over".to_owned()
}

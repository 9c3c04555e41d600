//! The default model for `llm_task`, where the plugin has no model of its own.

use crate::asked_model::AskedModel;
use std::sync::Arc;
use toolkit::{Builder, ToolError};
use toolkit_llm_task::{TaskAnswer, TaskAnswering, TaskModel, TaskRequest};
use toolkit_models::{AssistantMessage, Message, ModelError, Request, StopReason};

/// Adds the model.
pub(crate) fn with(toolkit: Builder, model: AskedModel) -> Builder {
    toolkit.default_service::<dyn TaskModel>(Arc::new(DefaultModel(model)))
}

struct DefaultModel(AskedModel);

impl TaskModel for DefaultModel {
    fn name(&self) -> &str {
        self.0.model.name()
    }

    fn answer<'a>(&'a self, request: TaskRequest<'a>) -> TaskAnswering<'a> {
        Box::pin(async move {
            let messages = request.messages.iter().enumerate().map(|(place, text)| match place % 2 {
                0 => Message::user(*text),
                _ => Message::Assistant(AssistantMessage::text(*text)),
            });
            let mut asked = Request::new(messages.collect::<Vec<_>>()).system(request.system);
            if let Some(schema) = request.schema {
                asked = asked.response_schema(schema.clone().into());
            }
            asked.max_tokens = Some(request.max_tokens);
            let answer = self.0.ask(request.caller, &asked).await.map_err(failed)?;
            if matches!(answer.stop, StopReason::Refusal | StopReason::ContentFilter) {
                return Err(ToolError::failed(
                    "the model refused the task; state it in other words, or do without it",
                ));
            }
            let usage = answer.usage.unwrap_or_default();
            Ok(TaskAnswer {
                text: answer.message.to_text(),
                is_cut: answer.stop == StopReason::MaxTokens,
                prompt_tokens: usage.input_tokens,
                completion_tokens: usage.output_tokens,
            })
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
fn failed(error: ModelError) -> ToolError {
    let message = format!("the model could not do the task: {error}");
    if error.is_retryable() { ToolError::unavailable(message) } else { ToolError::failed(message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit::Caller;
    use toolkit_models::{Account, Answer, Meter, Scripted, Usage};

    #[tokio::test]
    async fn a_task_goes_to_the_model_with_its_schema() {
        let answer = Answer::text("{}").with_usage(Usage::new(7, 2)).with_stop(StopReason::MaxTokens);
        let scripted = Arc::new(Scripted::new([answer]));
        let meter = Meter::new();
        let model = DefaultModel(AskedModel::new(Arc::clone(&scripted) as _, &meter, "llm_task"));
        let schema = json!({"type": "object"}).as_object().cloned().unwrap();
        let messages = ["do it", "no", "again"];
        let caller = Caller::new().with_agent("main");
        let request = TaskRequest::new("be exact", &messages, 9).schema(Some(&schema)).caller(&caller);
        let output = model.answer(request).await.unwrap();
        assert_eq!(
            (&*output.text, output.is_cut, output.prompt_tokens, output.completion_tokens),
            ("{}", true, 7, 2)
        );
        let request = &scripted.requests()[0];
        assert_eq!((&*request.system, request.messages.len(), request.max_tokens), ("be exact", 3, Some(9)));
        assert!(matches!(request.messages[1], Message::Assistant(_)));
        assert_eq!(request.response_schema, Some(json!({"type": "object"})));
        for account in [Account::agent("main"), Account::part("llm_task")] {
            assert_eq!(meter.usage(&account, "").used.total_tokens(), 9, "{account}");
        }
    }
}

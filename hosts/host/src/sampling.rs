//! The default model for MCP servers that ask for a model's answer (`sampling/createMessage`), each time with the user's approval.

use crate::asked_model::AskedModel;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use toolkit::{Caller, Content, config::Configuration};
use toolkit_mcp::{ClientOptions, Sampling, SamplingAnswer};
use toolkit_models::{AssistantMessage, Message, Meter, Models, Request, StopReason, UserMessage};

/// Adds the model, if a default model is configured.
pub(crate) fn with(options: ClientOptions, configuration: &Configuration, meter: &Meter) -> ClientOptions {
    match Models::new(configuration).and_then(|models| models.get(None)) {
        Ok(model) => {
            let model = AskedModel::new(model, meter, "sampling");
            options.sampling(Arc::new(ModelSampling(model)))
        }
        // Whatever is wrong with the models is a diagnostic; servers are told that there is none.
        Err(_) => options,
    }
}

struct ModelSampling(AskedModel);

impl fmt::Debug for ModelSampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelSampling").field(&self.0.model.name()).finish()
    }
}

impl Sampling for ModelSampling {
    fn create_message<'a>(&'a self, caller: &'a Caller, request: &'a Value) -> SamplingAnswer<'a> {
        Box::pin(async move {
            let request = request_of(request)?;
            let answer = self.0.ask(Some(caller), &request).await.map_err(|error| error.to_string())?;
            let stop = match &answer.stop {
                StopReason::MaxTokens => "maxTokens",
                StopReason::Refusal | StopReason::ContentFilter => "refusal",
                _ => "endTurn",
            };
            let text = json!({"type": "text", "text": answer.message.to_text()});
            Ok(json!({"role": "assistant", "content": text, "model": answer.model, "stopReason": stop}))
        })
    }
}

/// Reads the parameters of the protocol.
fn request_of(params: &Value) -> Result<Request, String> {
    let messages = params["messages"].as_array().into_iter().flatten().map(|message| {
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            block => vec![block.clone()],
        };
        let blocks = blocks.into_iter().map(serde_json::from_value).collect::<Result<Vec<Content>, _>>();
        let content = blocks.map_err(|error| format!("a message cannot be read: {error}"))?;
        Ok(match message["role"].as_str() {
            Some("assistant") => {
                let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
                Message::Assistant(AssistantMessage::text(texts.join("\n")))
            }
            _ => Message::User(UserMessage { content }),
        })
    });
    let messages = messages.collect::<Result<Vec<_>, String>>()?;
    if messages.is_empty() {
        return Err("the request has no message".to_owned());
    }
    let mut request = Request::new(messages);
    if let Some(system) = params["systemPrompt"].as_str() {
        request = request.system(system);
    }
    request.max_tokens = params["maxTokens"].as_u64().and_then(|tokens| u32::try_from(tokens).ok());
    #[expect(clippy::cast_possible_truncation, reason = "a temperature is a small number")]
    let temperature = params["temperature"].as_f64().map(|temperature| temperature as f32);
    request.temperature = temperature;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_models::{Account, Answer, ModelError, Scripted, ScriptedReply};

    #[tokio::test]
    async fn a_server_gets_the_models_answer() {
        let failed = ModelError::Quota { model: "m".into(), message: "no credit".into() };
        let model = Arc::new(Scripted::new([
            ScriptedReply::from(Answer::text("forty-two").with_stop(StopReason::MaxTokens)),
            failed.into(),
        ]));
        let meter = Meter::new();
        let asked = AskedModel::new(Arc::clone(&model) as _, &meter, "sampling");
        let (sampling, caller) = (ModelSampling(asked), Caller::new().with_agent("main"));
        let text = |text: &str| json!({"type": "text", "text": text});
        let params = json!({
            "messages": [
                {"role": "user", "content": text("what is it?")},
                {"role": "assistant", "content": [text("which?")]},
                {"role": "user", "content": [text("that"), {"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
            ],
            "systemPrompt": "be brief", "maxTokens": 7, "temperature": 0.5,
        });
        let answer = sampling.create_message(&caller, &params).await.unwrap();
        assert_eq!(
            answer,
            json!({"role": "assistant", "content": text("forty-two"), "model": "scripted", "stopReason": "maxTokens"})
        );
        for account in [Account::agent("main"), Account::part("sampling")] {
            assert_eq!(meter.usage(&account, "").used.requests, 1, "{account}");
        }
        let request = &model.requests()[0];
        assert_eq!(
            (&*request.system, request.max_tokens, request.temperature),
            ("be brief", Some(7), Some(0.5))
        );
        assert_eq!(request.messages.len(), 3);
        let Message::User(last) = &request.messages[2] else { panic!("{request:?}") };
        assert!(matches!(&last.content[1], Content::Image { mime_type, .. } if mime_type == "image/png"));
        assert!(sampling.create_message(&caller, &params).await.unwrap_err().contains("no credit"));
        assert!(sampling.create_message(&caller, &json!({"messages": []})).await.is_err());
        let unknown = json!({"messages": [{"role": "user", "content": {"type": "video"}}]});
        assert!(sampling.create_message(&caller, &unknown).await.unwrap_err().contains("cannot be read"));
    }
}

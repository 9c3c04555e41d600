//! Scripts of the model.

use super::{Call, Done};
use crate::browser::cdp::CdpError;
use crate::browser::page::On;
use crate::browser::state::exception;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind};

/// The most characters of a value.
const MAX_VALUE_CHARS: u64 = 1_000_000;

pub(super) async fn evaluate(call: &Call<'_>) -> Result<Done, ToolError> {
    let script = call.args.needed(call.args.script.as_deref(), "script")?;
    let page = &call.page;
    let url = page.url();
    let ask = Ask::new("browser", format!("Run a script in {}", toolkit::text::escape_line(&url)))
        .with_pattern(url)
        .with_text("script", script)
        .once_only();
    call.ctx.ask_in_person(ask).await?;
    let limit = call.deadline.within;
    let params = json!({
        "expression": script, "awaitPromise": true, "returnByValue": false, "userGesture": true, "replMode": true,
        "timeout": crate::browser::page::millis(limit), "generatePreview": false,
    });
    let answer = evaluated(call, params).await?;
    if answer["exceptionDetails"].is_object() {
        let thrown = exception(&answer["exceptionDetails"]);
        let thrown: String = thrown.chars().take(4_000).collect();
        let thrown = crate::untrusted::enclosed(&thrown)?;
        return Err(ToolError::failed(format!("the script failed:\n{thrown}")));
    }
    let result = &answer["result"];
    let text = match (&result["value"], result["objectId"].as_str()) {
        (_, Some(object)) => {
            let on = On::Object { session: page.session.clone(), object: object.to_owned() };
            let text = page.run(&on, "text", &[MAX_VALUE_CHARS.into()], Duration::ZERO).await?;
            text.as_str().unwrap_or_default().to_owned()
        }
        (Value::String(text), None) => text.clone(),
        (Value::Null, None) => {
            let special = result["unserializableValue"].as_str().or_else(|| result["description"].as_str());
            special.unwrap_or(if result["type"] == "undefined" { "undefined" } else { "null" }).to_owned()
        }
        (value, None) => value.to_string(),
    };
    Ok(Done { page: Some(text), ..Done::acted("Ran the script. Its value is below.") })
}

/// Runs a script. A promise that it comes to is awaited.
async fn evaluated(call: &Call<'_>, params: Value) -> Result<Value, ToolError> {
    let (page, limit) = (&call.page, call.deadline.within);
    let session = Some(page.session.as_str());
    let exchange = async {
        let within = limit + Duration::from_secs(1);
        let answer = page.commands.call(session, "Runtime.evaluate", params, within).await?;
        match (answer["result"]["subtype"] == "promise", answer["result"]["objectId"].as_str()) {
            (true, Some(promise)) => {
                let params = json!({ "promiseObjectId": promise, "returnByValue": false });
                page.commands.call(session, "Runtime.awaitPromise", params, limit).await
            }
            _ => Ok(answer),
        }
    };
    match exchange.await {
        Err(CdpError::TimedOut { .. }) => {
            page.commands.post(session, "Runtime.terminateExecution", &json!({}));
            Err(ToolError::new(
                ToolErrorKind::TimedOut,
                format!(
                    "the script did not end within {limit:?}; give it more time with `timeout_ms`, or let it do less"
                ),
            ))
        }
        answer => Ok(answer?),
    }
}

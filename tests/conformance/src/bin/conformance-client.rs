//! The client that the conformance tests start: `conformance-client URL`, with the calls that it is to make in
//! `MCP_CONFORMANCE_CONTEXT`, if they want certain ones, or as whom it is to sign in.

#![expect(clippy::print_stderr, reason = "the tests show it where something fails")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use toolkit::{
    Caller, ToolCall, Toolkit,
    approval::{Answer, CallbackApprover, Question},
};
use toolkit_mcp::{ClientOptions, McpServerSettings, McpServers, ServerState, SignIn, SigningIn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Connects, lists the tools, and calls each with what its schema asks for.
async fn run() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("the address is missing")?;
    let context: Value = serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default())
        .unwrap_or_default();
    let settings = json!({"url": url, "oauth": oauth(&context)});
    let settings: McpServerSettings = serde_json::from_value(settings)?;
    let options = ClientOptions::new().sign_in(Arc::new(Browser));
    let servers = McpServers::new(&BTreeMap::from([("tested".to_owned(), settings)]), options);
    let approver = CallbackApprover::new(|ask| match ask.question() {
        Question::Elicit(_) => Answer::value(json!({})),
        _ => Answer::allow(),
    });
    let toolkit =
        Toolkit::empty().tool_source(servers.clone()).without_asking_first().approver(approver).build()?;
    servers.start(&toolkit).await;
    for status in servers.status() {
        eprintln!("{}: {:?}", status.name, status.state);
        if let ServerState::Failed { why } = status.state {
            return Err(why.into());
        }
    }
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let mut calls = wanted(&context);
    if calls.is_empty() {
        for tool in toolbox.tools() {
            let schema = tool.input_schema().map_err(|error| error.to_string())?;
            calls.push((tool.name().to_owned(), arguments(schema)));
        }
        // The server's note about one tool is to come back to it unchanged.
        if let Some(other) = toolbox.tool("tested__json_schema_2020_12_tool") {
            let schema = other.input_schema().map_err(|error| error.to_string())?;
            calls.retain(|(_, arguments)| arguments.get("schema").is_none());
            calls.push(("tested__json_schema_echo".to_owned(), json!({"schema": schema})));
        }
    }
    for (number, (name, arguments)) in calls.into_iter().enumerate() {
        let result = toolbox.call(ToolCall::new(number.to_string(), &name, arguments)).await;
        eprintln!("{name}: {}", result.text());
    }
    servers.stop().await;
    Ok(())
}

/// As whom to sign in: as whom the test says that this is registered, else by a document that it would take for one of this program.
fn oauth(context: &Value) -> Value {
    let Some(id) = context["client_id"].as_str() else {
        return json!({"clientMetadataUrl": "https://conformance-test.local/client-metadata.json"});
    };
    let mut oauth = json!({"clientId": id});
    if let Some(secret) = context["client_secret"].as_str() {
        oauth["clientSecret"] = secret.into();
    }
    if context["name"].as_str().is_some_and(|name| name.starts_with("auth/client-credentials")) {
        oauth["grant"] = "client_credentials".into();
    }
    oauth
}

/// Signs in as a browser of somebody who agrees to everything: it goes where it is sent, and is sent back at once.
#[derive(Debug)]
struct Browser;

impl SignIn for Browser {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn sign_in<'a>(&'a self, _server: &'a str, url: &'a str) -> SigningIn<'a> {
        Box::pin(async move {
            let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
            let answer = client.map_err(|error| error.to_string())?.get(url).send().await;
            let answer = answer.map_err(|error| error.to_string())?;
            let location = answer.headers().get("location").and_then(|location| location.to_str().ok());
            location.map(str::to_owned).ok_or_else(|| format!("{} leads nowhere", answer.status()))
        })
    }
}

/// The calls that the test wants.
fn wanted(context: &Value) -> Vec<(String, Value)> {
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    calls
        .map(|call| {
            (format!("tested__{}", call["name"].as_str().unwrap_or_default()), call["arguments"].clone())
        })
        .collect()
}

/// Something for each argument that has to be there.
fn arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required
        .map(|name| {
            let value = match schema["properties"][name]["type"].as_str() {
                Some("number" | "integer") => json!(2),
                Some("boolean") => json!(true),
                Some("array") => json!([]),
                Some("object") => json!({}),
                _ => json!("text"),
            };
            (name.to_owned(), value)
        })
        .collect()
}

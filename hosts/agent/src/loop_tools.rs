//! The tools of the loop itself: `finish`, `delegate` and `tool_search`. They are checked like all tools, and are run by the loop.

use crate::profile::AgentProfile;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit::{
    Caller, Tool, ToolCall, ToolError, ToolErrorKind, ToolOutput, Toolkit, descriptor::Definition,
    discovery::ToolSearch,
};

/// The tool that ends a run.
pub(crate) const FINISH: &str = "finish";
/// The tool that gives a task to a sub-agent.
pub(crate) const DELEGATE: &str = "delegate";
// A configuration may name it, also where no crate registers the name.
toolkit::permission_keys!["delegate"];

/// Another name of the tool that finds tools whose definitions are deferred: earlier transcripts have it, and it is used where a tool of
/// the toolkit has the name [`ToolSearch::NAME`].
pub(crate) const FIND_TOOLS: &str = "find_tools";

/// The tools of the loop.
#[derive(Debug, Clone)]
pub(crate) struct LoopTools {
    toolkit: Toolkit,
    finish: Tool,
    delegate: Tool,
    search: Tool,
}

/// The final answer of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Account {
    pub(crate) success: bool,
    pub(crate) summary: String,
    #[serde(default)]
    pub(crate) details: Option<String>,
}

/// The arguments of `delegate`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Delegation {
    pub(crate) task: String,
    #[serde(default)]
    pub(crate) context: Option<String>,
    #[serde(default)]
    pub(crate) expected_outcome: Option<String>,
    #[serde(default)]
    pub(crate) agent: Option<String>,
}

/// The JSON Schema of a final answer.
pub(crate) fn account_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "success": {
                "type": "boolean",
                "description": "True only if the expected outcome is reached and you have checked it."
            },
            "summary": {
                "type": "string",
                "minLength": 1,
                "description": "What was done and found out, in a few sentences."
            },
            "details": {
                "type": "string",
                "description": "Whatever else the reader needs: findings in full, what is open and why."
            }
        },
        "required": ["success", "summary"],
        "additionalProperties": false
    })
}

/// Answers of up to so many tokens are bounded by [`bounded_account_schema`]. Servers that turn a schema into a grammar refuse long
/// repetitions, and models with room for more end by themselves.
const BOUNDED_TOKENS: u32 = 1_000;

/// The JSON Schema of a final answer that is complete within `max_tokens`, if that is a small number.
///
/// Small models repeat themselves until the limit cuts their answer off, and half a JSON object is no answer. A character is at most one
/// token, and a quarter of the limit is left for keys and escapes.
pub(crate) fn bounded_account_schema(max_tokens: Option<u32>) -> Value {
    let mut schema = account_schema();
    bound(&mut schema, max_tokens);
    schema
}

fn bound(account_schema: &mut Value, max_tokens: Option<u32>) {
    if let Some(tokens) = max_tokens.filter(|tokens| *tokens <= BOUNDED_TOKENS) {
        for (member, share) in [("summary", 2), ("details", 4)] {
            account_schema["properties"][member]["maxLength"] = (tokens / share).max(1).into();
        }
    }
}

fn delegate_schema(profiles: &BTreeMap<String, AgentProfile>) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "task": {
                "type": "string",
                "minLength": 1,
                "description": "The task, complete: the sub-agent knows nothing of this conversation."
            },
            "context": {
                "type": "string",
                "description": "Facts that it needs: paths, findings, constraints."
            },
            "expected_outcome": {
                "type": "string",
                "description": "The state in which the task is done, so that it can be checked."
            }
        },
        "required": ["task"],
        "additionalProperties": false
    });
    if !profiles.is_empty() {
        let about: Vec<String> = profiles
            .iter()
            .map(|(name, profile)| format!("- {name}: {}", profile.description.trim()))
            .collect();
        let about = about.join("\n");
        schema["properties"]["agent"] = json!({
            "type": "string",
            "enum": profiles.keys().collect::<Vec<_>>(),
            "description": format!("The agent that does it; without one, an agent like you. There are:\n{about}")
        });
    }
    schema
}

impl LoopTools {
    pub(crate) fn new(profiles: &BTreeMap<String, AgentProfile>) -> Self {
        // The arguments are the answer: the loop acts on them.
        let tool = |name: &str, title: &str, group: &str, description: &str, schema: Value| {
            Tool::builder(name)
                .title(title)
                .group(group)
                .description(description)
                .input_schema(schema)
                .auto_execute()
                .build(|_, args| async move { ToolOutput::json(args.into_map()) })
                .expect("the schema of the loop's own tools is valid")
        };
        let finish = tool(
            FINISH,
            "Finish",
            "agent",
            "Ends the task with your final answer. Call it once, alone, when the task is done or cannot be done.",
            account_schema(),
        );
        let delegate = tool(
            DELEGATE,
            "Delegate",
            "sessions",
            "Gives a task to a sub-agent, which works with the same files and tools, and returns its final answer. For a task that \
             can be stated completely and whose steps need not be seen. Several calls in one answer run at once: give them tasks \
             that do not change the same files.",
            delegate_schema(profiles),
        );
        let search = ToolSearch::tool(ToolSearch::NAME)
            .alias(FIND_TOOLS)
            .build(|_, args| async move { ToolOutput::json(args.into_map()) })
            .expect("the schema of the search is valid");
        let toolkit = Toolkit::empty()
            .tool(finish.clone())
            .tool(delegate.clone())
            .tool(search.clone())
            .build()
            .expect("tools of different names make a toolkit");
        Self { toolkit, finish, delegate, search }
    }

    pub(crate) fn delegate(&self) -> &Tool {
        &self.delegate
    }

    /// The definition of the tool that finds others, under this name.
    pub(crate) fn search(&self, name: &str) -> Option<Definition> {
        let mut definition = self.search.definition().ok()?;
        name.clone_into(&mut definition.name);
        Some(definition)
    }

    /// The definition of the tool that ends a run, for answers of at most `max_tokens`.
    ///
    /// A longer summary is accepted all the same: the bound is for servers that hold the model to the schema.
    pub(crate) fn finish(&self, max_tokens: Option<u32>) -> Option<Definition> {
        let mut definition = self.finish.definition().ok()?;
        bound(&mut definition.input_schema, max_tokens);
        Some(definition)
    }

    /// The definition of the tool that gives a task to a sub-agent.
    pub(crate) fn delegate_definition(&self) -> Option<Definition> {
        self.delegate.definition().ok()
    }

    /// The checked arguments of a call of one of these tools.
    pub(crate) async fn arguments<T: for<'de> Deserialize<'de>>(
        &self,
        call: &ToolCall,
    ) -> Result<T, ToolError> {
        let toolbox = self.toolkit.toolbox(&Caller::new()).await;
        let output = toolbox.call(call.clone()).await.outcome?;
        serde_json::from_value(output.details.unwrap_or_default())
            .map_err(|error| ToolError::new(ToolErrorKind::InvalidArguments, error.to_string()))
    }
}

/// The final answer in a text that is JSON, alone or in a fenced block.
pub(crate) fn account_in(text: &str) -> Option<Account> {
    let text = text.trim();
    let inner = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|text| text.strip_suffix("```"))
        .unwrap_or(text);
    let account: Account = serde_json::from_str(inner.trim()).ok()?;
    (!account.summary.trim().is_empty()).then_some(account)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn arguments_are_checked_like_those_of_any_tool() {
        let tools = LoopTools::new(&BTreeMap::new());
        let call = ToolCall::new("1", FINISH, json!({"success": "true", "summary": "done"}));
        let account: Account = tools.arguments(&call).await.unwrap();
        assert!(account.success);
        let error = tools
            .arguments::<Account>(&ToolCall::new("1", FINISH, json!({"summary": ""})))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        assert!(error.message().contains("success"), "{error}");
    }

    #[test]
    fn a_final_answer_fits_a_small_limit_of_tokens() {
        let bounded = bounded_account_schema(Some(400));
        let length = |member: &str| bounded["properties"][member]["maxLength"].as_u64().unwrap();
        assert_eq!((length("summary"), length("details")), (200, 100));
        assert_eq!(bounded_account_schema(Some(1))["properties"]["details"]["maxLength"], 1);
        for unbounded in [None, Some(1_001), Some(u32::MAX)] {
            assert_eq!(bounded_account_schema(unbounded), account_schema(), "{unbounded:?}");
        }
        let finish = LoopTools::new(&BTreeMap::new()).finish(Some(400)).unwrap();
        assert_eq!(finish.input_schema["properties"]["summary"]["maxLength"], 200);
    }

    #[test]
    fn a_final_answer_in_json() {
        let expected = Account { success: true, summary: "done".into(), details: None };
        for text in [
            r#"{"success": true, "summary": "done"}"#,
            "```json\n{\"success\": true, \"summary\": \"done\"}\n```",
            " ```\n{\"success\": true, \"summary\": \"done\"}```",
        ] {
            assert_eq!(account_in(text).as_ref(), Some(&expected), "{text}");
        }
        for text in ["done", "{}", r#"{"success": true, "summary": " "}"#] {
            assert_eq!(account_in(text), None, "{text}");
        }
    }
}

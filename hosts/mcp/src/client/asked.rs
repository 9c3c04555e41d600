//! What a server asks the person at this end.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};
use toolkit::{Elicitation, ToolContext, ToolError, ToolErrorKind};

/// Asks whoever made a call what its server asks, in that server's name.
///
/// # Errors
///
/// When nobody can be asked, or the call is over.
pub(super) async fn elicit(
    server: &str,
    context: &ToolContext,
    params: ElicitRequestParams,
) -> Result<ElicitResult, ToolError> {
    let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = params else {
        return Ok(ElicitResult::new(ElicitationAction::Decline));
    };
    let schema = serde_json::to_value(&requested_schema).map_err(ToolError::wrap)?;
    let elicitation = Elicitation::new(format!("The MCP server `{server}` asks: {message}"), schema)?;
    let defaults = defaults(&elicitation.schema);
    match context.elicit_value(elicitation).await {
        Ok(Some(mut value)) => {
            if let Value::Object(members) = &mut value {
                for (name, default) in defaults {
                    members.entry(name).or_insert(default);
                }
            }
            Ok(ElicitResult::new(ElicitationAction::Accept).with_content(value))
        }
        Ok(None) => Ok(ElicitResult::new(ElicitationAction::Decline)),
        Err(error) if error.kind() == ToolErrorKind::Aborted && !context.is_cancelled() => {
            Ok(ElicitResult::new(ElicitationAction::Cancel))
        }
        Err(error) => Err(error),
    }
}

/// What fields are where nothing is said.
fn defaults(schema: &Value) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone()))).collect()
}

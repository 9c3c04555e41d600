//! `/v1/openapi.json`: the whole interface, with the tools of the person.

mod operations;

use serde_json::{Map, Value, json};
use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::response::Response;
use toolkit_serve::axum::routing::get;
use toolkit_serve::{Problem, Query};
use toolkit_web::{Access, Description, Web};

use operations::{Answer, OPERATIONS, Operation, Parameter, body};

/// Statuses of problems that each path may have.
const ALWAYS: [&str; 7] = ["400", "401", "403", "404", "421", "429", "503"];

/// Returns the route of the description.
pub(super) fn routes(web: Web) -> Router {
    Router::new().route("/v1/openapi.json", get(show)).with_state(web)
}

async fn show(State(web): State<Web>, access: Access, query: Query) -> Result<Response, Problem> {
    query.finish()?;
    web.answer(&access, &with_gateway(web.description(&access).await?).into_json())
}

/// Adds the paths of the gateway to the description of its tools.
fn with_gateway(description: Description) -> Description {
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        item[operation.method] = described(operation);
    }
    let titled = description.title("A gateway", env!("CARGO_PKG_VERSION"));
    paths.into_iter().fold(titled, |description, (path, item)| description.path(&path, item))
}

fn described(operation: &Operation) -> Value {
    let in_path = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let mut schema = json!({ "type": "string" });
        if operation.has_number && name == "id" {
            schema = json!({ "type": "integer" });
        }
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    });
    let in_query = operation.parameters.iter().map(|Parameter { name, schema, is_required, about }| {
        json!({ "name": name, "in": "query", "required": is_required, "schema": schema(), "description": about })
    });
    let parameters: Vec<_> = in_path.chain(in_query).collect();
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [operation.path.split('/').nth(2).unwrap_or("about")],
        "parameters": parameters,
        "responses": responses(operation),
    });
    if let Some(body) = body(operation.id) {
        described["requestBody"] = body;
    }
    if operation.is_open {
        described["security"] = json!([]);
    }
    described
}

fn responses(operation: &Operation) -> Value {
    let mut all = Map::new();
    let content = match &operation.answer {
        Answer::None => None,
        Answer::Text(kind) => Some(json!({ *kind: { "schema": { "type": "string" } } })),
        Answer::Object(required) => {
            let properties: Map<String, Value> =
                required.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            let schema = json!({ "type": "object", "required": required, "properties": properties });
            Some(json!({ "application/json": { "schema": schema } }))
        }
        Answer::List(name) => {
            let list = json!({ "type": "array", "items": { "type": "object" } });
            let schema = json!({ "type": "object", "required": [name], "properties": { *name: list } });
            Some(json!({ "application/json": { "schema": schema } }))
        }
    };
    let mut done = json!({ "description": operation.summary });
    if let Some(content) = content {
        done["content"] = content;
    }
    all.insert(operation.status.to_owned(), done);
    for status in ALWAYS.iter().chain(operation.problems) {
        all.insert((*status).to_owned(), json!({ "$ref": format!("#/components/responses/E{status}") }));
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_operation_is_there_once_with_the_parameters_of_its_path() {
        let ids: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.id).collect();
        let places: BTreeSet<_> =
            OPERATIONS.iter().map(|operation| (operation.path, operation.method)).collect();
        assert_eq!((ids.len(), places.len()), (OPERATIONS.len(), OPERATIONS.len()));
        for operation in OPERATIONS {
            let described = described(operation);
            assert_eq!(
                described["parameters"].as_array().map(Vec::len),
                Some(operation.path.matches('{').count() + operation.parameters.len())
            );
            let takes_body = matches!(operation.method, "post" | "patch");
            assert!(takes_body || described.get("requestBody").is_none(), "{}", operation.id);
        }
    }
}

//! The paths of the description.

use super::schemas::{Components, reference};
use crate::calls::KEY;
use crate::describe::summary;
use crate::limits::MAX_KEY_CHARS;
use serde_json::{Map, Value, json};
use toolkit::Tool;

/// Statuses of every path.
const ALWAYS: [&str; 5] = ["400", "401", "406", "421", "429"];
/// Statuses of problems, with their descriptions.
const STATUSES: [(&str, &str); 15] = [
    ("400", "The request is malformed."),
    ("401", "The token is missing or unknown."),
    ("403", "A policy, a rule or a person denied it, or a page of this origin may not call."),
    ("404", "There is no such thing for this client."),
    ("405", "The path does not take this method."),
    ("406", "The header `Accept` does not take the answer."),
    ("408", "The body took too long to arrive."),
    ("409", "The call with this key runs still, or the question was answered."),
    (
        "410",
        "The outcome or the answer of the call with this key is not known any more, or the question is not pending.",
    ),
    ("413", "The body is too large, or has too many values."),
    ("415", "The body is not sent as JSON."),
    ("421", "The request is for another host."),
    ("422", "The arguments are invalid, or the key belongs to another call."),
    ("429", "The client has too much in progress."),
    ("503", "There is no room now, or the tool does not work."),
];

pub(super) fn responses() -> Value {
    let mut all = Map::new();
    let content = || json!({ "application/problem+json": { "schema": reference("Problem") } });
    for (status, description) in STATUSES {
        all.insert(format!("E{status}"), json!({ "description": description, "content": content() }));
    }
    let unknown = "The call ended without a result, so its outcome is unknown.";
    all.insert("E500".to_owned(), json!({ "description": unknown, "content": content() }));
    all.into()
}

pub(super) fn parameters() -> Value {
    json!({
        "name": { "name": "name", "in": "path", "required": true, "schema": { "type": "string" }, "description": "The tool's name or alias." },
        "media": {
            "name": "media", "in": "query", "schema": { "enum": ["inline", "reference"] },
            "description": "The way in which pictures, sounds and files are sent: within the answer, or by the path of a later request.",
        },
        "key": {
            "name": KEY.as_str(), "in": "header",
            "schema": { "type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": "^[!-~]+$" },
            "description": "A key that runs one call, however often it is sent.",
        },
    })
}

/// Returns the responses of an operation: its own, and those of problems.
fn with_problems(status: &str, own: Value, problems: &[&str]) -> Value {
    let mut all = Map::new();
    all.insert(status.to_owned(), own);
    for status in ALWAYS.iter().chain(problems) {
        all.insert((*status).to_owned(), json!({ "$ref": format!("#/components/responses/E{status}") }));
    }
    all.into()
}

fn json_answer(description: &str, schema: Value) -> Value {
    let mut answer = json!({ "description": description });
    answer["content"]["application/json"]["schema"] = schema;
    answer
}

fn text_parameter(place: &str, name: &str, description: &str) -> Value {
    json!({ "name": name, "in": place, "required": place == "path", "schema": { "type": "string" }, "description": description })
}

/// Returns the paths that are the same for all tools.
pub(super) fn fixed(with_asks: bool) -> Map<String, Value> {
    let mut paths = Map::new();
    let name = json!([{ "$ref": "#/components/parameters/name" }]);
    let listed = json!({ "type": "object", "required": ["tools"], "properties": { "tools": { "type": "array", "items": reference("ListedTool") } } });
    let mut add = |path: &str, item: Value| paths.insert(path.to_owned(), item);
    add(
        "/v1/tools",
        json!({ "get": {
        "operationId": "listTools", "summary": "Lists tools.", "tags": ["tools"],
        "parameters": [
            text_parameter("query", "group", "Lists the tools of this group alone."),
            text_parameter("query", "source", "Lists the tools of this source alone: its kind, its name, or both, `mcp:files`."),
            text_parameter("query", "q", "Searches, and lists the best first."),
        ],
        "responses": with_problems("200", json_answer("The tools.", listed), &["403", "503"]),
    } }),
    );
    add(
        "/v1/tools/{name}",
        json!({ "get": {
        "operationId": "getTool", "summary": "Returns the definition of a tool.", "tags": ["tools"], "parameters": name,
        "responses": with_problems("200", json_answer("The tool.", reference("Tool")), &["403", "404", "503"]),
    } }),
    );
    add(
        "/v1/tools/{name}/validate",
        json!({ "post": {
        "operationId": "validateArguments", "summary": "Checks arguments, and runs nothing.", "tags": ["tools"], "parameters": name,
        "requestBody": body(&json!({ "type": "object" })),
        "responses": with_problems("200", json_answer("The verdict on the arguments.", reference("Checked")), &["403", "404", "408", "413", "415", "503"]),
    } }),
    );
    add(
        "/v1/tools/{name}/call",
        json!({ "post": {
        "operationId": "callTool", "summary": "Calls a tool.", "tags": ["tools"],
        "parameters": [name[0], { "$ref": "#/components/parameters/media" }, { "$ref": "#/components/parameters/key" }],
        "requestBody": body(&json!({ "type": "object" })),
        "responses": call_responses(&reference("Result")),
    } }),
    );
    let data = json!({ "description": "The data.", "content": { "*/*": {} } });
    add(
        "/v1/results/{id}/{number}",
        json!({ "get": {
        "operationId": "getResultFile", "summary": "Returns a picture, a sound or a file of a result.", "tags": ["results"],
        "parameters": [text_parameter("path", "id", "The result."), text_parameter("path", "number", "The number of the file, from 0.")],
        "responses": with_problems("200", data, &["403", "404", "503"]),
    } }),
    );
    let state = json!({ "type": "object", "required": ["key", "state"], "properties": { "key": { "type": "string" }, "state": { "enum": ["running", "ended", "unknown"] } } });
    let key = json!([text_parameter("path", "key", "The key.")]);
    let keyed = || {
        with_problems(
            "200",
            json_answer("The state that the call had.", state.clone()),
            &["403", "404", "503"],
        )
    };
    add(
        "/v1/keyed-calls/{key}",
        json!({
            "get": { "operationId": "getKeyedCall", "summary": "Returns the state of a keyed call.", "tags": ["results"], "parameters": key, "responses": keyed() },
            "delete": { "operationId": "cancelKeyedCall", "summary": "Cancels a keyed call.", "tags": ["results"], "parameters": key, "responses": keyed() },
        }),
    );
    let any = json!({ "type": "object" });
    add(
        "/v1/openapi.json",
        json!({ "get": {
        "operationId": "getDescription", "summary": "Returns this description.", "tags": ["about"],
        "responses": with_problems("200", json_answer("The description.", any), &["403", "503"]),
    } }),
    );
    let metrics = json!({ "description": "The metrics.", "content": { "text/plain": { "schema": { "type": "string" } } } });
    add(
        "/metrics",
        json!({ "get": {
        "operationId": "getMetrics", "summary": "Returns metrics in the text format of Prometheus.", "tags": ["about"],
        "responses": with_problems("200", metrics, &["403", "503"]),
    } }),
    );
    if with_asks {
        add("/v1/asks", asks_item());
        add("/v1/asks/{id}", answer_item());
    }
    paths
}

fn asks_item() -> Value {
    let listed = json!({ "type": "object", "required": ["asks"], "properties": { "asks": { "type": "array", "items": { "type": "object" } } } });
    json!({ "get": {
        "operationId": "listAsks", "summary": "Lists the questions of the client's own calls.", "tags": ["asks"],
        "responses": with_problems("200", json_answer("The questions.", listed), &["403", "404", "503"]),
    } })
}

fn answer_item() -> Value {
    let answer = json!({
        "type": "object", "required": ["type"],
        "properties": {
            "type": { "enum": ["allow", "deny", "value", "declined", "cancelled"] },
            "scope": { "enum": ["once", "session"] }, "message": { "type": "string" }, "value": {},
        },
    });
    let outcome = json!({ "type": "object", "required": ["id", "outcome"], "properties": { "id": { "type": "string" }, "outcome": { "const": "answered" } } });
    json!({ "post": {
        "operationId": "answerAsk", "summary": "Answers a question.", "tags": ["asks"],
        "parameters": [text_parameter("path", "id", "The question.")],
        "requestBody": { "required": true, "content": { "application/json": { "schema": answer } } },
        "responses": with_problems("200", json_answer("The answer counts.", outcome), &["403", "404", "408", "409", "410", "413", "415", "422", "503"]),
    } })
}

fn body(schema: &Value) -> Value {
    json!({ "description": "The arguments. An empty body is none.", "content": { "application/json": { "schema": schema } } })
}

/// Returns the responses of a call with a result of a schema.
fn call_responses(result: &Value) -> Value {
    let events = "Server-sent events: `progress`, `output`, `log`, `ask`, `answered` and `lost`, and at the end one `result` or `error`.";
    let ok = json!({
        "description": format!("The result. With `Accept: text/event-stream`: {events}"),
        "content": { "application/json": { "schema": result }, "text/event-stream": { "schema": { "type": "string" } } },
    });
    let problems = ["403", "404", "408", "409", "410", "413", "415", "422", "500", "503"];
    with_problems("200", ok, &problems)
}

/// Returns the path of the calls of a tool, and its item.
pub(super) fn of_tool(tool: &Tool, components: &mut Components) -> (String, Value) {
    let name = tool.name();
    let any = json!({ "type": "object" });
    let input = components.add(name, "input", tool.enforced_schema().unwrap_or(&any));
    let result = match tool.output_schema() {
        Some(schema) => {
            let output = components.add(name, "output", schema);
            json!({ "allOf": [reference("Result")], "type": "object", "properties": { "structured": output } })
        }
        None => reference("Result"),
    };
    let mut operation = json!({
        "operationId": format!("call:{name}"),
        "summary": summary(tool.description()),
        "description": tool.description(),
        "tags": [tool.groups().next().unwrap_or("tools")],
        "parameters": [{ "$ref": "#/components/parameters/media" }, { "$ref": "#/components/parameters/key" }],
        "requestBody": body(&input),
        "responses": call_responses(&result),
    });
    if tool.deprecated().is_some() {
        operation["deprecated"] = true.into();
    }
    (format!("/v1/tools/{}/call", encoded(name)), json!({ "post": operation }))
}

/// Returns a name as a segment of a path.
fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    name.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

//! The operations of a gateway, beside those of tools.

use serde_json::{Value, json};

/// One method of one path.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// The status of success, and its answer.
    pub(super) status: &'static str,
    pub(super) answer: Answer,
    /// Statuses of problems beside those that each path may have.
    pub(super) problems: &'static [&'static str],
    /// True if the `{id}` of the path is a number.
    pub(super) has_number: bool,
    /// True if it needs no token.
    pub(super) is_open: bool,
}

/// A parameter of the query.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) schema: fn() -> Value,
    pub(super) is_required: bool,
    pub(super) about: &'static str,
}

/// An answer.
pub(super) enum Answer {
    /// No content.
    None,
    /// A text of a type.
    Text(&'static str),
    /// An object with these members.
    Object(&'static [&'static str]),
    /// An object with a list of objects under a name.
    List(&'static str),
}

const BODY: &[&str] = &["408", "413", "415", "422"];

const fn operation(
    method: &'static str,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    answer: (&'static str, Answer),
) -> Operation {
    let (status, answer) = answer;
    Operation {
        method,
        path,
        id,
        summary,
        parameters: &[],
        status,
        answer,
        problems: &[],
        has_number: false,
        is_open: false,
    }
}

const fn get(path: &'static str, id: &'static str, summary: &'static str, answer: Answer) -> Operation {
    operation("get", path, id, summary, ("200", answer))
}

const fn post(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    answer: (&'static str, Answer),
) -> Operation {
    operation("post", path, id, summary, answer).problems(BODY)
}

const fn delete(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    answer: (&'static str, Answer),
) -> Operation {
    operation("delete", path, id, summary, answer)
}

impl Operation {
    const fn parameters(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    const fn problems(self, problems: &'static [&'static str]) -> Self {
        Self { problems, ..self }
    }

    const fn with_number(self) -> Self {
        Self { has_number: true, ..self }
    }

    const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }
}

const fn parameter(name: &'static str, schema: fn() -> Value, about: &'static str) -> Parameter {
    Parameter { name, schema, is_required: false, about }
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn seconds() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 60 })
}

fn session_status() -> Value {
    json!({ "enum": ["active", "waiting", "idle", "archived"] })
}

fn budget_kind() -> Value {
    json!({ "enum": ["everything", "agent", "session", "job", "person"] })
}

const AGENT: Parameter = parameter("agent", text, "The agent; by default the person's own one.");
const LIMIT: Parameter = parameter("limit", count, "How many at most.");
const SESSION: Parameter = parameter("session", text, "The key of a session, or `main`.");
const FILE: Parameter =
    Parameter { name: "name", schema: text, is_required: true, about: "The name of the file." };

/// All operations.
pub(super) const OPERATIONS: &[Operation] = &[
    get("/healthz", "getHealth", "Tells if all works.", Answer::Object(&["status"])).open(),
    get(
        "/v1/status",
        "getStatus",
        "Tells what there is, and for the owner what does not work.",
        Answer::Object(&["status", "version", "startedAt", "person", "sessions", "runs", "queued", "outbox"]),
    ),
    get("/v1/agents", "listAgents", "Lists the agents that the person may use.", Answer::List("agents")),
    get("/v1/sessions", "listSessions", "Lists sessions.", Answer::List("sessions")).parameters(&[
        parameter("kind", text, "Kinds, with commas between them."),
        AGENT,
        parameter("status", session_status, "The status."),
        parameter("label", text, "The label."),
        parameter("activeMinutes", count, "Those that were active within so many minutes."),
        parameter("archived", flag, "Also those that are archived."),
        LIMIT,
        parameter("cursor", text, "The `nextCursor` of the page before."),
    ]),
    get("/v1/sessions/{key}", "getSession", "Returns a session.", Answer::Object(&["key", "status"]))
        .problems(&["409"]),
    operation(
        "patch",
        "/v1/sessions/{key}",
        "changeSession",
        "Changes the label of a session, or archives it.",
        ("200", Answer::Object(&["key"])),
    )
    .problems(&["408", "409", "413", "415", "422"]),
    post(
        "/v1/sessions/{key}/cancel",
        "cancelRun",
        "Cancels the run of a session.",
        ("200", Answer::Object(&["cancelled"])),
    )
    .problems(&["408", "409", "413"]),
    post(
        "/v1/sessions/{key}/messages",
        "sendMessage",
        "Sends a message; the same `id` is the same message.",
        ("202", Answer::Object(&["id"])),
    )
    .problems(&["408", "409", "413", "415", "422"]),
    get(
        "/v1/sessions/{key}/messages",
        "readMessages",
        "Returns messages of the transcript.",
        Answer::List("messages"),
    )
    .parameters(&[
        LIMIT,
        parameter("before", count, "The `id` of a message: those before it."),
        parameter("includeTools", flag, "Also calls and results of tools."),
    ])
    .problems(&["409"]),
    get(
        "/v1/sessions/{key}/inbox/{id}",
        "getMessage",
        "Tells what became of a message.",
        Answer::Object(&["id"]),
    )
    .parameters(&[parameter("waitSeconds", seconds, "Waits for the end, so long at most.")])
    .problems(&["409"])
    .with_number(),
    delete(
        "/v1/sessions/{key}/inbox/{id}",
        "cancelMessage",
        "Takes a message back, or cancels the run that it began.",
        ("200", Answer::Object(&[])),
    )
    .problems(&["409"])
    .with_number(),
    get(
        "/v1/events",
        "followEvents",
        "Follows what happens, as server-sent events, after the header `Last-Event-ID`.",
        Answer::Text("text/event-stream"),
    )
    .parameters(&[SESSION, parameter("after", number, "The number of the last event that was seen.")])
    .problems(&["409"]),
    get("/v1/asks", "listAsks", "Lists questions that wait.", Answer::List("asks"))
        .parameters(&[SESSION])
        .problems(&["409"]),
    get("/v1/asks/{code}", "getAsk", "Returns a question.", Answer::Object(&["code"])),
    post(
        "/v1/asks/{code}",
        "answerAsk",
        "Answers a question.",
        ("200", Answer::Object(&["code", "outcome"])),
    )
    .problems(&["408", "409", "410", "413", "415", "422", "500"]),
    get("/v1/schedules", "listJobs", "Lists jobs.", Answer::List("jobs"))
        .parameters(&[SESSION, AGENT])
        .problems(&["409"]),
    post("/v1/schedules", "addJob", "Adds a job.", ("201", Answer::Object(&["id"])))
        .problems(&["408", "409", "413", "415", "422"]),
    post(
        "/v1/schedules/preview",
        "previewSchedule",
        "Shows the next five times of a schedule, and stores nothing.",
        ("200", Answer::Object(&["times"])),
    )
    .problems(&["408", "413", "415", "422"]),
    get("/v1/schedules/{id}", "getJob", "Returns a job.", Answer::Object(&["id"])),
    operation(
        "patch",
        "/v1/schedules/{id}",
        "changeJob",
        "Changes the fields of a job that are sent.",
        ("200", Answer::Object(&["id"])),
    )
    .problems(&["408", "409", "413", "415", "422"]),
    delete("/v1/schedules/{id}", "removeJob", "Removes a job.", ("204", Answer::None)),
    post("/v1/schedules/{id}/run", "runJob", "Runs a job once.", ("202", Answer::Object(&["id"])))
        .problems(&["408", "409", "413"]),
    get("/v1/schedules/{id}/runs", "listJobRuns", "Lists the runs of a job.", Answer::List("runs"))
        .parameters(&[LIMIT]),
    get("/v1/budgets", "listBudgets", "Lists the use of accounts.", Answer::List("budgets")).parameters(&[
        parameter("kind", budget_kind, "The kind of account."),
        LIMIT,
        parameter("after", text, "The `next` of the page before."),
    ]),
    get("/v1/usage", "listUsage", "Lists the use of an account by days.", Answer::List("days")).parameters(
        &[
            parameter("kind", budget_kind, "The kind of account."),
            parameter("name", text, "The name of the account."),
            parameter("days", count, "How many days."),
        ],
    ),
    get("/v1/outbox", "listDeliveries", "Lists deliveries.", Answer::List("deliveries")).parameters(&[
        parameter("state", text, "The state."),
        LIMIT,
        parameter("before", count, "The `id` of a delivery: those before it."),
    ]),
    post(
        "/v1/outbox/{id}/resend",
        "resendDelivery",
        "Sends a delivery once more that is unknown.",
        ("202", Answer::Object(&["id", "state"])),
    )
    .problems(&["408", "409", "413", "422"]),
    get(
        "/v1/configuration",
        "getConfiguration",
        "Shows the configuration as it was loaded, without secrets.",
        Answer::Object(&["sources", "values", "permissions", "restrictions", "diagnostics"]),
    ),
    post(
        "/v1/console",
        "openConsole",
        "Makes a code with which a page gets a token of its own.",
        ("201", Answer::Object(&["code", "path", "expiresInSeconds"])),
    )
    .problems(&["408", "413", "500"]),
    get(
        "/v1/tools/{name}/calls",
        "listLastCalls",
        "Lists the last calls of a tool that the history has.",
        Answer::List("calls"),
    )
    .problems(&["500"]),
    get("/v1/calls", "listCalls", "Lists calls of clients whose results come later.", Answer::List("calls")),
    delete("/v1/calls/{id}", "cancelCall", "Cancels such a call.", ("200", Answer::Object(&["cancelled"]))),
    get("/v1/uploads", "listUploads", "Lists uploaded files.", Answer::List("uploads"))
        .parameters(&[AGENT])
        .problems(&["500"]),
    post(
        "/v1/uploads",
        "upload",
        "Stores a file in the workspace of the agent.",
        ("201", Answer::Object(&["name", "path", "bytes", "sha256"])),
    )
    .parameters(&[FILE, AGENT])
    .problems(&["408", "413", "500", "507"]),
    delete("/v1/uploads/{name}", "removeUpload", "Removes an uploaded file.", ("204", Answer::None))
        .parameters(&[AGENT])
        .problems(&["500"]),
    get("/v1/nodes", "listNodes", "Lists nodes.", Answer::List("nodes")),
    post(
        "/v1/nodes/pending",
        "findPendingNode",
        "Finds a node by its code, before it is approved.",
        ("200", Answer::Object(&["node", "gateway"])),
    )
    .problems(&["408", "413", "415", "422"]),
    post(
        "/v1/nodes/approve",
        "approveNode",
        "Approves a node by its code and the fingerprint of its key.",
        ("200", Answer::Object(&["id"])),
    )
    .problems(&["408", "409", "413", "415", "422"]),
    delete("/v1/nodes/{id}", "revokeNode", "Revokes a node.", ("204", Answer::None)),
    get("/v1/channels", "listChannels", "Lists accounts of chat channels.", Answer::List("channels")),
    post(
        "/v1/channels/test",
        "testChannel",
        "Sends a message to oneself.",
        ("202", Answer::Object(&["deliveries"])),
    )
    .problems(&["408", "409", "413", "415", "422"]),
    get(
        "/v1/identities",
        "listIdentities",
        "Lists senders of channels who are people.",
        Answer::List("identities"),
    ),
    delete(
        "/v1/identities/{channel}/{sender}",
        "removeIdentity",
        "Takes an identity from its person.",
        ("204", Answer::None),
    ),
    get("/v1/pairings", "listPairings", "Lists unknown senders.", Answer::List("pairings")),
    post(
        "/v1/pairings/approve",
        "approvePairing",
        "Lets an unknown sender in.",
        ("200", Answer::Object(&["person", "identity"])),
    )
    .problems(&["408", "409", "413", "415", "422"]),
    post("/v1/pairings/deny", "denyPairing", "Turns an unknown sender away.", ("200", Answer::Object(&[])))
        .problems(&["408", "409", "413", "415", "422"]),
    get("/v1/people", "listPeople", "Lists people.", Answer::List("people")),
    post("/v1/people/{name}/block", "blockPerson", "Blocks a person.", ("200", Answer::Object(&[])))
        .problems(&["408", "409", "413", "422"]),
    post(
        "/v1/people/{name}/unblock",
        "unblockPerson",
        "Lets a person in again.",
        ("200", Answer::Object(&[])),
    )
    .problems(&["408", "409", "413", "422"]),
    get("/v1/tokens", "listTokens", "Lists tokens, without their texts.", Answer::List("tokens")),
    post(
        "/v1/tokens",
        "addToken",
        "Makes a token, which is shown once.",
        ("201", Answer::Object(&["token"])),
    )
    .problems(&["408", "409", "413", "415", "422"]),
    delete("/v1/tokens/{name}", "revokeToken", "Revokes a token.", ("204", Answer::None)).problems(&["409"]),
    post("/v1/stop", "stop", "Stops the gateway.", ("202", Answer::Object(&["status"])))
        .problems(&["408", "413"]),
    post("/v1/backup", "backUp", "Writes a consistent copy.", ("201", Answer::Object(&["directory"]))),
    get(
        "/metrics",
        "getMetrics",
        "Returns metrics in the text format of Prometheus.",
        Answer::Text("text/plain"),
    ),
];

/// Returns the body of an operation that has one.
pub(super) fn body(id: &str) -> Option<Value> {
    let text = || json!({ "type": "string" });
    let schema = match id {
        "sendMessage" => json!({
            "type": "object", "required": ["text"], "additionalProperties": false,
            "properties": { "text": text(), "id": text() },
        }),
        "changeSession" => json!({
            "type": "object", "additionalProperties": false,
            "properties": { "label": { "type": ["string", "null"] }, "archived": { "type": "boolean" } },
        }),
        "answerAsk" => json!({
            "type": "object", "required": ["type"],
            "properties": {
                "type": { "enum": ["allow", "deny", "value", "declined", "cancelled"] },
                "scope": { "enum": ["once", "session", "always"] }, "message": text(), "value": {},
            },
        }),
        "addJob" | "changeJob" => json!({
            "type": "object", "additionalProperties": false,
            "properties": {
                "schedule": text(), "timezone": text(), "every": text(), "at": { "type": ["string", "integer"] },
                "prompt": text(), "tool": text(), "arguments": { "type": "object" }, "sessionKey": text(),
                "agent": text(), "model": { "type": ["string", "null"] },
                "timeoutSeconds": { "type": ["integer", "null"], "minimum": 1 },
                "missed": { "enum": ["skip", "once", "all"] }, "enabled": { "type": "boolean" },
            },
        }),
        "addToken" => json!({
            "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": {
                "name": text(), "person": text(), "role": { "enum": ["owner", "approver", "user"] }, "agent": text(),
                "expiresAt": { "type": "integer" }, "expiresInSeconds": { "type": "integer", "minimum": 1 },
            },
        }),
        "approveNode" => json!({
            "type": "object", "required": ["code"], "additionalProperties": false,
            "properties": { "code": text(), "person": text() },
        }),
        "testChannel" => json!({
            "type": "object", "required": ["channel"], "additionalProperties": false,
            "properties": { "channel": text(), "account": text() },
        }),
        "approvePairing" => json!({
            "type": "object", "required": ["sender"], "additionalProperties": false,
            "properties": {
                "sender": text(), "owner": { "type": "boolean" }, "person": text(), "name": text(), "agent": text(),
                "role": { "enum": ["owner", "approver", "user"] },
            },
        }),
        "denyPairing" => json!({
            "type": "object", "required": ["sender"], "additionalProperties": false, "properties": { "sender": text() },
        }),
        "backUp" => json!({
            "type": "object", "required": ["directory"], "additionalProperties": false,
            "properties": { "directory": text() },
        }),
        "upload" => {
            return Some(json!({
                "required": true,
                "content": { "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } },
            }));
        }
        _ => return None,
    };
    Some(json!({ "required": true, "content": { "application/json": { "schema": schema } } }))
}

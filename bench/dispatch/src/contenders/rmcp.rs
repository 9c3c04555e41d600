//! rmcp: the tool router of a server, without the server's loop and its JSON lines. The request's context, which
//! that loop makes for each call, is part of the call.

use ::rmcp::handler::server::router::tool::ToolRouter;
use ::rmcp::handler::server::tool::ToolCallContext;
use ::rmcp::handler::server::wrapper::Parameters;
use ::rmcp::model::{CallToolRequestParams, CallToolResponse, RequestId};
use ::rmcp::schemars::{self, JsonSchema};
use ::rmcp::service::{Peer, RequestContext, RunningService, serve_directly};
use ::rmcp::{ErrorData, RoleServer, tool, tool_router};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::DuplexStream;
use tokio::runtime::Runtime;

use crate::Contender;

pub(super) struct Rmcp {
    router: ToolRouter<Server>,
    peer: Peer<RoleServer>,
    /// Kept, so that the peer stays connected.
    _served: (RunningService<RoleServer, Server>, DuplexStream),
}

struct Server;

fn once() -> u32 {
    1
}

#[derive(Deserialize, JsonSchema)]
struct Repeat {
    /// The text to repeat.
    text: String,
    /// How many times.
    #[serde(default = "once")]
    count: u32,
    /// If true, shouts.
    upper: Option<bool>,
}

#[tool_router(server_handler)]
impl Server {
    /// Repeats a text.
    #[tool]
    async fn repeat(&self, Parameters(Repeat { text, count, upper }): Parameters<Repeat>) -> String {
        crate::repeat(text, count, upper)
    }
}

impl Rmcp {
    pub(super) fn new(runtime: &Runtime) -> Self {
        let _entered = runtime.enter();
        let (server, client) = tokio::io::duplex(1 << 10);
        let service = serve_directly(Server, server, None);
        let peer = service.peer().clone();
        Self { router: Server::tool_router(), peer, _served: (service, client) }
    }
}

impl Contender for Rmcp {
    type Parsed = CallToolRequestParams;
    type Text = (CallToolRequestParams, String);
    type Answer = Result<CallToolResponse, ErrorData>;

    fn parsed(&self, arguments: Value) -> CallToolRequestParams {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        CallToolRequestParams::new("repeat").with_arguments(arguments)
    }

    fn text(&self, arguments: &str) -> (CallToolRequestParams, String) {
        (CallToolRequestParams::new("repeat"), arguments.to_owned())
    }

    async fn call_parsed(&self, call: CallToolRequestParams) -> Self::Answer {
        let request = RequestContext::new(RequestId::Number(1), self.peer.clone());
        self.router.call(ToolCallContext::new(&Server, call, request)).await
    }

    async fn call_text(&self, (mut call, text): (CallToolRequestParams, String)) -> Self::Answer {
        call.arguments = serde_json::from_str(&text).expect("JSON");
        self.call_parsed(call).await
    }

    fn returned(answer: Self::Answer) -> String {
        let Ok(CallToolResponse::Complete(result)) = answer else { panic!("an answer") };
        result.content[0].as_text().expect("a text").text.clone()
    }
}

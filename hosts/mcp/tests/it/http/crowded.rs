//! More sessions than there is room for: those that their clients have left make room, the others stay.

use super::{ByHeader, Server, add, add_call, initialize, serve, stateless};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use toolkit::prelude::*;
use toolkit::{BackgroundWork, tool_ref};
use toolkit_mcp::{HttpOptions, HttpService};

/// Work that goes on in a session.
#[derive(Default)]
struct Kept(Mutex<Vec<BackgroundWork>>);

/// Begins work that goes on, or ends it.
#[tool]
async fn work(ctx: &ToolContext, goes_on: bool) {
    let kept = ctx.session_state::<Kept>();
    let mut kept = kept.0.lock().unwrap();
    kept.clear();
    if goes_on {
        kept.push(ctx.background_work());
    }
}

/// Holds its call until it is let go.
struct Held {
    begun: Semaphore,
    end: Semaphore,
}

/// Runs until it is let go.
#[tool(read_only)]
async fn held(held: State<Held>) {
    held.begun.add_permits(1);
    held.end.acquire().await.unwrap().forget();
}

struct Crowd {
    server: Server,
    held: Arc<Held>,
}

impl Crowd {
    async fn new(most: usize, most_of_principal: usize) -> Self {
        let held = Arc::new(Held { begun: Semaphore::new(0), end: Semaphore::new(0) });
        let toolkit = Toolkit::empty()
            .without_asking_first()
            .tools([tool_ref!(add), tool_ref!(work), tool_ref!(self::held)])
            .shared_service(Arc::clone(&held))
            .build()
            .unwrap();
        let mut options = HttpOptions::new();
        (options.most_sessions, options.most_sessions_of_principal) = (most, most_of_principal);
        let shutdown = options.shutdown.clone();
        let server = serve(ByHeader(HttpService::new(toolkit, Caller::new(), options)), shutdown).await;
        Self { server, held }
    }

    async fn begin(&self, user: Option<&str>) -> (StatusCode, String) {
        let headers: Vec<(&str, &str)> = user.map(|user| ("x-user", user)).into_iter().collect();
        let begun = self.server.message(&headers, initialize()).await;
        (begun.status, begun.session.unwrap_or(begun.text))
    }

    async fn open(&self, user: Option<&str>) -> String {
        let (status, session) = self.begin(user).await;
        assert_eq!(status, StatusCode::OK, "{session}");
        session
    }

    async fn send(&self, session: &str, user: Option<&str>, message: Value) -> StatusCode {
        let mut headers = vec![("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
        headers.extend(user.map(|user| ("x-user", user)));
        self.server.message(&headers, message).await.status
    }

    /// Returns true if a session answers calls.
    async fn lives(&self, session: &str, user: Option<&str>) -> bool {
        match self.send(session, user, add_call()).await {
            StatusCode::OK => true,
            StatusCode::NOT_FOUND => false,
            other => panic!("{other}"),
        }
    }

    async fn work(&self, session: &str, user: Option<&str>, goes_on: bool) {
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "work", "arguments": {"goes_on": goes_on}}});
        assert_eq!(self.send(session, user, call).await, StatusCode::OK);
    }
}

#[tokio::test]
async fn the_session_that_was_idle_for_the_longest_time_makes_room() {
    let crowd = Crowd::new(2, 200).await;
    let (one, two) = (crowd.open(None).await, crowd.open(None).await);
    assert!(crowd.lives(&one, None).await);
    let three = crowd.open(None).await;
    assert!(!crowd.lives(&two, None).await);
    assert!(crowd.lives(&one, None).await && crowd.lives(&three, None).await);
    // A request without a session needs a place as well.
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "add")];
    let call = stateless(json!({"name": "add", "arguments": {"a": 2, "b": 3}}));
    let answer = crowd.server.message(&headers, call).await;
    assert_eq!(answer.message()["result"]["content"][0]["text"], "5", "{answer:?}");
    assert!(!crowd.lives(&one, None).await && crowd.lives(&three, None).await);
}

#[tokio::test]
async fn a_session_in_use_or_with_jobs_that_would_end_stays() {
    let crowd = Crowd::new(2, 200).await;
    let (busy, working) = (crowd.open(None).await, crowd.open(None).await);
    crowd.work(&working, None, true).await;
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "held", "arguments": {}}});
    let calling = async {
        let status = crowd.send(&busy, None, call).await;
        assert_eq!(status, StatusCode::OK);
    };
    let crowding = async {
        crowd.held.begun.acquire().await.unwrap().forget();
        let (status, text) = crowd.begin(None).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(text.contains("2 sessions are open already, and none of them is idle"), "{text}");
        // Once the job is over, it is idle.
        crowd.work(&working, None, false).await;
        crowd.open(None).await;
        crowd.held.end.add_permits(1);
    };
    tokio::join!(calling, crowding);
    assert!(!crowd.lives(&working, None).await && crowd.lives(&busy, None).await);
}

#[tokio::test]
async fn one_principal_ends_its_own_sessions_and_no_others() {
    let crowd = Crowd::new(100, 2).await;
    let (ada, eve) = (Some("ada"), Some("eve"));
    let of_ada = crowd.open(ada).await;
    let mut of_eve = Vec::new();
    for _ in 0..5 {
        of_eve.push(crowd.open(eve).await);
    }
    assert!(crowd.lives(&of_ada, ada).await);
    for (place, session) in of_eve.iter().enumerate() {
        assert_eq!(crowd.lives(session, eve).await, place >= 3, "{place}");
    }
    // A session that begins with the version without sessions is one of them, too.
    let headers = [("x-user", "eve"), ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "initialize")];
    for _ in 0..3 {
        crowd.server.message(&headers, initialize()).await;
    }
    assert!(crowd.lives(&of_ada, ada).await);
    let of_eve = [crowd.open(eve).await, crowd.open(eve).await];
    // The jobs of a principal are those of all its sessions, and end with none of them.
    crowd.work(&of_eve[0], eve, true).await;
    crowd.open(eve).await;
    assert!(!crowd.lives(&of_eve[1], eve).await && crowd.lives(&of_eve[0], eve).await);
}

//! The web console: its page and files, which need no token, and the codes with which a person opens it.

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde_json::{Value, json};
use toolkit_serve::axum::body::{Body, HttpBody};
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::http::{Request, Response, StatusCode};
use toolkit_serve::axum::routing::post;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Bounded, Problem};
use toolkit_web::ConsolePages;
use tower_service::Service;

use super::caller::Caller;
use super::grants::{Grant, no_random_numbers};
use super::state::HttpState;

/// Time for which a code counts.
const SECONDS: u64 = 60;

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/console", post(open))
}

/// Makes a code with which a page gets a token of its own. For the owner, who can make tokens anyway: a lesser token would get one that outlives it.
async fn open(State(state): State<HttpState>, caller: Caller) -> Result<(StatusCode, Json<Value>), Problem> {
    caller.check_manager()?;
    let grant =
        Grant { person: caller.name().to_owned(), role: caller.role(), agent: caller.agent().to_owned() };
    let code = state.console().code(grant).map_err(|error| no_random_numbers(&error))?;
    let answer = json!({ "code": code, "path": format!("/#code={code}"), "expiresInSeconds": SECONDS });
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Answers requests for the page and its files, and leaves all others to `inner`, which asks for a token.
#[derive(Debug, Clone)]
pub struct WithConsole<S> {
    pages: Bounded<Router>,
    inner: S,
}

impl<S> WithConsole<S> {
    pub(super) fn new(pages: &ConsolePages<Grant>, inner: S) -> Self {
        // Nobody knows whose these requests are.
        let limits = ConsolePages::<Grant>::body_limits();
        Self { pages: Bounded::new(pages.routes()).body(limits), inner }
    }
}

impl<S, B> Service<Request<B>> for WithConsole<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>,
    B: HttpBody<Data: Send> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // The pages are always ready.
        self.inner.poll_ready(task)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if ConsolePages::<Grant>::has_path(request.uri().path()) {
            return self.pages.call(request);
        }
        Box::pin(self.inner.call(request))
    }
}

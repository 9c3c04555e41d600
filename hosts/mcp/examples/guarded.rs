//! A server for tests, and for trying to sign in: it wants to know who asks, and decides about that itself. `guarded` prints its address;
//! whoever opens what it is sent to is let in at once. The tool `sum` wants leave of its own. POST
//! `/revoke` takes the tokens back that it gave, and `/revoke?all` what one gets new ones for, too; `/revoke?clients` forgets who was registered.
//! POST `/move` lets it name another place to get tokens at, `/elsewhere/token`, and GET `/elsewhere` tells how often somebody asked there.
//! POST `/brief` lets further tokens last for three seconds, with none after them. POST `/forge` lets it name a description of its own making, in the name of who decides. POST `/slow` lets each further token take half a second. With `guarded secret`, each who registers gets a secret, without which they get no token.

#![expect(clippy::print_stdout, reason = "who starts it reads its address")]

use data_encoding::{BASE64, BASE64URL_NOPAD};
use http::header::{CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;
use toolkit::prelude::*;
use toolkit_mcp::{HttpBody, HttpOptions, HttpService, new_token, serve_http};
use tower_service::Service;

/// Says it again.
#[tool(name = "echo", group = "guarded", read_only)]
async fn echo(
    /** The text to return. */
    message: String,
) -> String {
    message
}

/// Adds numbers.
#[tool(name = "sum", group = "guarded", read_only)]
async fn sum(
    /** The numbers to add. */
    numbers: Vec<i64>,
) -> String {
    numbers.iter().sum::<i64>().to_string()
}

/// The credentials that the server has issued.
#[derive(Default)]
struct Given {
    /// By the name that this server gave them.
    clients: HashMap<String, Client>,
    codes: HashMap<String, Code>,
    tokens: HashMap<String, String>,
    refresh: HashMap<String, String>,
    /// The modes that are switched on: `/move`, `/forge`, `/slow`, `/brief`.
    told: HashSet<String>,
    asked_elsewhere: u32,
}

struct Client {
    /// Where their people are sent back to.
    redirects: Vec<String>,
    secret: Option<String>,
}

struct Code {
    client: String,
    challenge: String,
    scope: String,
}

#[derive(Clone)]
struct Guarded {
    inner: HttpService,
    url: String,
    gives_secrets: bool,
    given: Arc<Mutex<Given>>,
}

type Answer = Response<HttpBody>;

fn answer(status: StatusCode, body: &Value) -> Answer {
    let body = Full::new(body.to_string().into()).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn refused(error: &str) -> Answer {
    answer(StatusCode::BAD_REQUEST, &json!({"error": error}))
}

/// The pairs of a query or a form.
fn pairs(text: &str) -> HashMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://form/?{text}"));
    url.map(|url| url.query_pairs().into_owned().collect()).unwrap_or_default()
}

/// Who asks by a header, with their secret.
fn basic(headers: &http::HeaderMap) -> Option<(String, String)> {
    let value = headers.get("authorization")?.to_str().ok()?.strip_prefix("Basic ")?;
    let pair = String::from_utf8(BASE64.decode(value.as_bytes()).ok()?).ok()?;
    let (id, secret) = pair.split_once(':')?;
    Some((id.to_owned(), secret.to_owned()))
}

fn secret() -> String {
    new_token().expect("the system has randomness")
}

impl Guarded {
    fn metadata(&self, path: &str) -> Option<Value> {
        let url = &self.url;
        let tokens =
            if self.is_told("move") || path.ends_with("forged") { "elsewhere/token" } else { "token" };
        let decides = if self.is_told("forge") { format!("{url}/.well-known/forged") } else { url.clone() };
        let methods = if self.gives_secrets { "client_secret_basic" } else { "none" };
        match path {
            "/.well-known/oauth-protected-resource/mcp" => Some(json!({
                "resource": format!("{url}/mcp"), "authorization_servers": [decides], "scopes_supported": ["basic"]
            })),
            "/.well-known/oauth-authorization-server" | "/.well-known/forged" => Some(json!({
                "issuer": url, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/{tokens}"),
                "registration_endpoint": format!("{url}/register"), "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": [methods],
                "authorization_response_iss_parameter_supported": true
            })),
            _ => None,
        }
    }

    fn register(&self, body: &[u8]) -> Answer {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let redirects: Vec<String> =
            serde_json::from_value(body["redirect_uris"].clone()).unwrap_or_default();
        if redirects.is_empty() {
            return refused("invalid_redirect_uri");
        }
        let id = secret();
        let secret = self.gives_secrets.then(secret);
        let registered = json!({"client_id": id, "client_secret": secret, "redirect_uris": redirects});
        self.given().clients.insert(id, Client { redirects, secret });
        answer(StatusCode::CREATED, &registered)
    }

    fn authorize(&self, query: &str) -> Answer {
        let asked = pairs(query);
        let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let mut given = self.given();
        let (client, back) = (of("client_id"), of("redirect_uri"));
        let is_known = given.clients.get(&client).is_some_and(|client| client.redirects.contains(&back));
        if !is_known || of("code_challenge_method") != "S256" || of("resource") != format!("{}/mcp", self.url)
        {
            return refused("invalid_request");
        }
        let code = secret();
        let mut location = reqwest::Url::parse(&back).expect("it was registered");
        location
            .query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", &of("state"))
            .append_pair("iss", &self.url);
        given.codes.insert(code, Code { client, challenge: of("code_challenge"), scope: of("scope") });
        let mut answer = answer(StatusCode::FOUND, &Value::Null);
        let location = HeaderValue::from_str(location.as_str()).expect("an address is a header");
        answer.headers_mut().insert(LOCATION, location);
        answer
    }

    /// `basic` is the name and the secret of who asks, where those are in a header.
    fn token(&self, basic: Option<(String, String)>, body: &[u8]) -> Answer {
        let asked = pairs(&String::from_utf8_lossy(body));
        let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let mut given = self.given();
        let (id, secret_sent) = match basic {
            Some((id, secret)) => (id, Some(secret)),
            None => (of("client_id"), None),
        };
        if given.clients.get(&id).is_none_or(|client| client.secret != secret_sent) {
            return refused("invalid_client");
        }
        let scope = match of("grant_type").as_str() {
            "authorization_code" => {
                let Some(code) = given.codes.remove(&of("code")) else { return refused("invalid_grant") };
                let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(of("code_verifier")));
                if code.client != id || code.challenge != challenge {
                    return refused("invalid_grant");
                }
                code.scope
            }
            // Each is good once.
            "refresh_token" => match given.refresh.remove(&of("refresh_token")) {
                Some(scope) => scope,
                None => return refused("invalid_grant"),
            },
            _ => return refused("unsupported_grant_type"),
        };
        let (token, refresh) = (secret(), secret());
        if given.told.contains("brief") {
            let token =
                json!({"access_token": token, "token_type": "Bearer", "expires_in": 3, "scope": scope});
            given.tokens.insert(token["access_token"].as_str().unwrap_or_default().to_owned(), scope);
            return answer(StatusCode::OK, &token);
        }
        given.tokens.insert(token.clone(), scope.clone());
        given.refresh.insert(refresh.clone(), scope.clone());
        answer(
            StatusCode::OK,
            &json!({
                "access_token": token, "token_type": "Bearer", "expires_in": 3600,
                "refresh_token": refresh, "scope": scope
            }),
        )
    }

    /// Returns the refusal of a request whose token is missing, unknown or insufficient.
    fn challenge(&self, token: Option<&str>, body: &[u8]) -> Option<Answer> {
        let given = self.given();
        let found = token.and_then(|token| given.tokens.get(token));
        let metadata = format!("resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", self.url);
        let (status, challenge) = match found {
            None => (StatusCode::UNAUTHORIZED, format!("Bearer {metadata}")),
            Some(scope) => {
                let body: Value = serde_json::from_slice(body).unwrap_or_default();
                if body["params"]["name"] != "sum" || scope.split(' ').any(|scope| scope == "sums") {
                    return None;
                }
                let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"sums\", {metadata}");
                (StatusCode::FORBIDDEN, challenge)
            }
        };
        let mut refused = answer(status, &Value::Null);
        let challenge = HeaderValue::from_str(&challenge).expect("it is of letters");
        refused.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        Some(refused)
    }

    fn is_told(&self, what: &str) -> bool {
        self.given().told.contains(what)
    }

    fn given(&self) -> std::sync::MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answered(mut self, request: Request<Incoming>) -> Answer {
        let (parts, body) = request.into_parts();
        let Ok(body) = body.collect().await else { return refused("invalid_request") };
        let body = body.to_bytes();
        let query = parts.uri.query().unwrap_or_default();
        match (&parts.method, parts.uri.path()) {
            (_, "/mcp") => {
                let token = parts.headers.get("authorization").and_then(|value| value.to_str().ok());
                let token = token.and_then(|value| value.strip_prefix("Bearer "));
                if let Some(refused) = self.challenge(token, &body) {
                    return refused;
                }
                let sent = self.inner.call(Request::from_parts(parts, Full::new(body))).await;
                sent.unwrap_or_else(|never| match never {})
            }
            (&Method::POST, "/register") => self.register(&body),
            (&Method::GET, "/authorize") => self.authorize(query),
            (&Method::POST, "/token") => {
                let answer = self.token(basic(&parts.headers), &body);
                if self.is_told("slow") {
                    // The token is issued before the delay.
                    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
                }
                answer
            }
            (&Method::POST, "/elsewhere/token") => {
                self.given().asked_elsewhere += 1;
                refused("invalid_grant")
            }
            (&Method::GET, "/elsewhere") => answer(StatusCode::OK, &json!(self.given().asked_elsewhere)),
            (&Method::POST, path @ ("/brief" | "/forge" | "/move" | "/slow")) => {
                self.given().told.insert(path[1..].to_owned());
                answer(StatusCode::OK, &Value::Null)
            }
            (&Method::POST, "/revoke") => {
                let mut given = self.given();
                given.tokens.clear();
                match query {
                    "all" => given.refresh.clear(),
                    "clients" => given.clients.clear(),
                    _ => {}
                }
                answer(StatusCode::OK, &Value::Null)
            }
            (_, path) => match self.metadata(path) {
                Some(metadata) => answer(StatusCode::OK, &metadata),
                None => answer(StatusCode::NOT_FOUND, &Value::Null),
            },
        }
    }
}

impl Service<Request<Incoming>> for Guarded {
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let guarded = self.clone();
        Box::pin(async move { Ok(guarded.answered(request).await) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let toolkit = Toolkit::builder().build()?;
    let guarded = Guarded {
        inner: HttpService::new(toolkit, Caller::new(), HttpOptions::new()),
        url: url.clone(),
        gives_secrets: std::env::args().nth(1).is_some_and(|mode| mode == "secret"),
        given: Arc::default(),
    };
    println!("{url}/mcp");
    serve_http(listener, guarded, CancellationToken::new()).await?;
    Ok(())
}

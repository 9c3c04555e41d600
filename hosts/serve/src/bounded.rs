//! Limits of what a client may send and keep open.

use crate::body::AnswerBody;
use crate::connection::Connection;
use crate::layer::Answering;
use crate::principal::Principal;
use crate::problem::Problem;
use crate::request_body::{BodyLimits, whole};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::Full;
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// Time after which a client may try again to open a stream.
const AGAIN: Duration = Duration::from_secs(5);

/// Reads the body of each request whole, within limits, and counts the requests and the event streams that are open.
///
/// Both count for their [`Principal`], or else for their [`Connection`]. A request takes its place before its body is read, and has it until its
/// answer begins. One that accepts an event stream takes a place among the streams before it is handled, and gives it back if the answer is none:
/// no call is begun of which the answer could not be sent.
#[derive(Debug, Clone)]
pub struct Bounded<S> {
    inner: S,
    body: BodyLimits,
    /// Other limits at one path, and how many such bodies are read at once.
    larger: Option<(&'static str, BodyLimits, Arc<Places>)>,
    requests: Arc<Places>,
    streams: Arc<Places>,
}

impl<S> Bounded<S> {
    /// Limits requests to 4 MiB in 30 seconds, and streams to 512 in all and 64 for one principal. The number of requests has no limit.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            body: BodyLimits::default(),
            larger: None,
            requests: Arc::new(Places::new("requests", usize::MAX, usize::MAX)),
            streams: Arc::new(Places::new("streams", 512, 64)),
        }
    }

    /// Sets other limits of a body.
    #[must_use]
    pub fn body(self, body: BodyLimits) -> Self {
        Self { body, ..self }
    }

    /// Sets other limits of the bodies of `POST` at one path, for larger ones, and how many of these are in memory at once: of all, and of one principal or
    /// connection.
    #[must_use]
    pub fn larger_body(self, path: &'static str, body: BodyLimits, all: usize, each: usize) -> Self {
        Self { larger: Some((path, body, Arc::new(Places::new("large requests", all, each)))), ..self }
    }

    /// Sets other numbers of open streams: of all, and of one principal or connection.
    #[must_use]
    pub fn streams(self, all: usize, each: usize) -> Self {
        Self { streams: Arc::new(Places::new("streams", all, each)), ..self }
    }

    /// Sets how many requests of one principal or connection may be without an answer at once, so that none takes every connection by requests
    /// that wait.
    #[must_use]
    pub fn requests(self, each: usize) -> Self {
        Self { requests: Arc::new(Places::new("requests", usize::MAX, each)), ..self }
    }
}

impl<S, B, A> Service<Request<B>> for Bounded<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<A>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    A: AnswerBody,
{
    type Response = Response<A>;
    type Error = Infallible;
    type Future = Answering<A>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(task)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The service that was polled until it was ready is the one to call.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let (requests, streams) = (Arc::clone(&self.requests), Arc::clone(&self.streams));
        let is_larger = |path: &str| request.method() == Method::POST && path == request.uri().path();
        let larger = self.larger.clone().filter(|(path, ..)| is_larger(path));
        let (limits, large) = match larger {
            Some((_, limits, large)) => (limits, Some(large)),
            None => (self.body, None),
        };
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let owner = owner(&parts.extensions);
            let _place = match requests.enter(owner.clone()) {
                Ok(place) => place,
                Err(problem) => return Ok(problem.into_response()),
            };
            let large_place = match large.map(|large| large.enter(owner.clone())).transpose() {
                Ok(place) => place,
                Err(problem) => return Ok(problem.into_response()),
            };
            let body = match whole(body, limits).await {
                // Whoever handles it may have it longer than the request is there, such as a thread that writes it.
                Ok(body) => match large_place {
                    Some(place) => Bytes::from_owner(LargeBody { body, _place: place }),
                    None => body,
                },
                Err(problem) => return Ok(problem.into_response()),
            };
            let place = accepts_stream(&parts.headers).then(|| streams.enter(owner.clone())).transpose();
            let place = match place {
                Ok(place) => place,
                Err(problem) => return Ok(problem.into_response()),
            };
            let answer = inner.call(Request::from_parts(parts, Full::new(body))).await?;
            if !is_stream(answer.headers()) {
                return Ok(answer);
            }
            // A stream that the request did not ask for counts as well.
            Ok(match place.map_or_else(|| streams.enter(owner), Ok) {
                Ok(place) => answer.map(|body| body.holding(place)),
                Err(problem) => problem.into_response(),
            })
        })
    }
}

fn accepts_stream(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().any(|value| {
        value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("text/event-stream"))
    })
}

fn is_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("text/event-stream"))
}

/// Whom a stream counts for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Owner {
    Principal(Principal),
    Connection(usize),
    Unknown,
}

fn owner(extensions: &http::Extensions) -> Owner {
    match (extensions.get::<Principal>(), extensions.get::<Connection>()) {
        (Some(principal), _) => Owner::Principal(principal.clone()),
        (None, Some(connection)) => Owner::Connection(connection.address()),
        (None, None) => Owner::Unknown,
    }
}

/// A larger body, which has its place as long as it is in memory.
struct LargeBody {
    body: Bytes,
    _place: Place,
}

impl AsRef<[u8]> for LargeBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Places of one kind.
#[derive(Debug)]
struct Places {
    /// The plural of the kind.
    kind: &'static str,
    all: usize,
    each: usize,
    taken: Mutex<HashMap<Owner, usize>>,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
struct Place {
    places: Arc<Places>,
    owner: Owner,
}

impl Places {
    fn new(kind: &'static str, all: usize, each: usize) -> Self {
        Self { kind, all, each, taken: Mutex::default() }
    }

    fn enter(self: &Arc<Self>, owner: Owner) -> Result<Place, Problem> {
        let kind = self.kind;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(&owner).copied().unwrap_or_default();
        if own >= self.each {
            let text = format!("{} {kind} of this client are open already; let one of them end", self.each);
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).retry_after(AGAIN));
        }
        if taken.values().sum::<usize>() >= self.all {
            let text = format!("{} {kind} are open already; try later", self.all);
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, text).retry_after(AGAIN));
        }
        taken.insert(owner.clone(), own + 1);
        Ok(Place { places: Arc::clone(self), owner })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;
    use http_body_util::combinators::BoxBody;
    use std::future::{Ready, ready};

    type Answer = Response<BoxBody<Bytes, Infallible>>;

    /// Keeps the bodies of requests.
    #[derive(Clone, Default)]
    struct Keeping(Arc<Mutex<Vec<Full<Bytes>>>>);

    impl Service<Request<Full<Bytes>>> for Keeping {
        type Response = Answer;
        type Error = Infallible;
        type Future = Ready<Result<Answer, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
            self.0.lock().unwrap().push(request.into_body());
            ready(Ok(Response::new(BoxBody::of(Bytes::new()))))
        }
    }

    #[tokio::test]
    async fn a_larger_body_has_its_place_until_it_is_dropped() {
        let keeping = Keeping::default();
        let limits = BodyLimits::new(10, Duration::from_mins(1));
        let mut bounded = Bounded::new(keeping.clone()).larger_body("/large", limits, 1, 1);
        let request = || Request::post("/large").body(Full::new(Bytes::from_static(b"0123456789"))).unwrap();
        assert_eq!(bounded.call(request()).await.unwrap().status(), StatusCode::OK);
        // The request has its answer, and a thread has its body still.
        assert_eq!(bounded.call(request()).await.unwrap().status(), StatusCode::TOO_MANY_REQUESTS);
        let kept = keeping.0.lock().unwrap().pop().unwrap();
        assert_eq!(kept.collect().await.unwrap().to_bytes(), "0123456789");
        assert_eq!(bounded.call(request()).await.unwrap().status(), StatusCode::OK);
    }
}

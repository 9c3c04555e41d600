//! The common form of layers: services around another one, of the same requests and answers.

use super::bearer::Bearer;
use super::cors::Cors;
use super::path::AtPath;
use super::service::HttpBody;
use http::{Request, Response};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;

/// The future of an answer.
pub(super) type Answering = Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

/// A service that a layer can be around.
pub(super) trait Inner<B>:
    Service<Request<B>, Response = Response<HttpBody>, Error = Infallible, Future: Send + 'static>
{
}

impl<B, S> Inner<B> for S where
    S: Service<Request<B>, Response = Response<HttpBody>, Error = Infallible, Future: Send + 'static>
{
}

/// Returns an answer that is there already.
pub(super) fn answered(answer: Response<HttpBody>) -> Answering {
    Box::pin(std::future::ready(Ok(answer)))
}

/// Makes layers, which have a field `inner` and a method `answer`, services.
macro_rules! layers {
    ($($layer:ident),*) => {
        $(
            impl<S, B> Service<Request<B>> for $layer<S>
            where
                S: Service<Request<B>, Response = Response<HttpBody>, Error = Infallible, Future: Send + 'static>,
            {
                type Response = Response<HttpBody>;
                type Error = Infallible;
                type Future = Answering;

                fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
                    self.inner.poll_ready(task)
                }

                fn call(&mut self, request: Request<B>) -> Answering {
                    self.answer(request)
                }
            }
        )*
    };
}

layers!(AtPath, Bearer, Cors);

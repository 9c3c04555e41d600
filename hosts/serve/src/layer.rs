//! The common form of layers: services around another one.

use http::{Request, Response};
use std::convert::Infallible;
use std::pin::Pin;
use tower_service::Service;

/// The future of an answer.
pub(crate) type Answering<A> = Pin<Box<dyn Future<Output = Result<Response<A>, Infallible>> + Send>>;

/// A service that a layer can be around: it takes requests with bodies `B`, and gives answers with bodies `A`.
pub(crate) trait Inner<B, A>:
    Service<Request<B>, Response = Response<A>, Error = Infallible, Future: Send + 'static>
{
}

impl<B, A, S> Inner<B, A> for S where
    S: Service<Request<B>, Response = Response<A>, Error = Infallible, Future: Send + 'static>
{
}

/// Returns an answer that is there already.
pub(crate) fn answered<A: Send + 'static>(answer: Response<A>) -> Answering<A> {
    Box::pin(std::future::ready(Ok(answer)))
}

/// Makes a layer, which has a field `inner` and a method `answer`, a service.
macro_rules! layer {
    ($layer:ident) => {
        impl<S, B, A> tower_service::Service<http::Request<B>> for $layer<S>
        where
            S: tower_service::Service<
                    http::Request<B>,
                    Response = http::Response<A>,
                    Error = std::convert::Infallible,
                    Future: Send + 'static,
                >,
            A: $crate::body::AnswerBody,
        {
            type Response = http::Response<A>;
            type Error = std::convert::Infallible;
            type Future = $crate::layer::Answering<A>;

            fn poll_ready(
                &mut self,
                task: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), std::convert::Infallible>> {
                self.inner.poll_ready(task)
            }

            fn call(&mut self, request: http::Request<B>) -> Self::Future {
                self.answer(request)
            }
        }
    };
}

pub(crate) use layer;

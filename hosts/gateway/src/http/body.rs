//! Bodies of requests.

use serde::de::DeserializeOwned;
use toolkit_serve::Problem;
use toolkit_serve::axum::Json;
use toolkit_serve::axum::extract::{FromRequest, Request};

/// A JSON body, of which a wrong one is a problem.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let Json(value) = Json::from_request(request, state).await?;
        Ok(Self(value))
    }
}

//! The sender of a request.

use std::ops::Deref;

use toolkit_serve::Problem;
use toolkit_serve::axum::extract::FromRequestParts;
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::http::request::Parts;

use crate::{Access, Person};

/// The person who sends a request, with their token. An extractor for the handlers of routes.
#[derive(Debug, Clone)]
pub struct Caller(pub Access);

impl Caller {
    /// Refuses a request that only the owner may make.
    ///
    /// # Errors
    ///
    /// A problem with status 403 for all others.
    pub fn check_manager(&self) -> Result<(), Problem> {
        if self.is_manager() {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "only the owner may do this, with a token of the role `owner`",
        ))
    }
}

impl Deref for Caller {
    type Target = Person;

    fn deref(&self) -> &Person {
        &self.0.person
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "this needs a token"))
    }
}

//! The rights of a client.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use toolkit::{Caller, Tool};
use toolkit_serve::axum::extract::FromRequestParts;
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::http::request::Parts;
use toolkit_serve::{Problem, Revocation};

/// The way in which questions of calls are answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asking {
    /// Nobody is asked: an action that needs approval is denied, with an explanation.
    #[default]
    Off,
    /// The client that made the call answers, at `/v1/asks`, for its session at most.
    Served,
    /// The approver of the toolkit answers.
    Host,
}

/// Returns true for tools that a client may use.
type Admits = dyn Fn(&Tool) -> bool + Send + Sync;

/// A client of the tools, with its rights: an extension of each request, added by a layer of the host.
///
/// ```
/// use toolkit::Caller;
/// use toolkit_web::{Access, Asking};
///
/// let access = Access::new("person ada", Caller::new().with_agent("main"))
///     .only(["clock", "weather"])
///     .asking(Asking::Served)
///     .answered_by("ada");
/// # drop(access);
/// ```
#[derive(Clone)]
pub struct Access {
    client: Arc<str>,
    caller: Caller,
    only: Option<Arc<BTreeSet<String>>>,
    only_if: Option<Arc<Admits>>,
    asking: Asking,
    answered_by: Option<String>,
    keeps_files: bool,
    is_owner: bool,
    revocation: Option<Revocation>,
}

impl Access {
    /// Creates the access of a client, by a name that no other client has. All requests with this name share its keyed calls, stored files and questions.
    /// If `caller` names no session, they share one session of the toolkit, too, which ends when the client is idle or revoked; a host that names one
    /// ends it itself.
    pub fn new(client: impl Into<Arc<str>>, caller: Caller) -> Self {
        Self {
            client: client.into(),
            caller,
            only: None,
            only_if: None,
            asking: Asking::Off,
            answered_by: None,
            keeps_files: true,
            is_owner: false,
            revocation: None,
        }
    }

    /// Limits the client to the tools of these names: in lists, descriptions and metrics, in searches, for its calls, and for the calls that these make.
    /// Other tools are unknown to it.
    #[must_use]
    pub fn only(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { only: Some(Arc::new(names.into_iter().map(Into::into).collect())), ..self }
    }

    /// Limits the client to the tools for which a function returns true, as [`only`](Self::only) does by names.
    #[must_use]
    pub fn only_if(self, is_admitted: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        Self { only_if: Some(Arc::new(is_admitted)), ..self }
    }

    /// Sets how questions are answered; [`Asking::Off`] by default.
    #[must_use]
    pub fn asking(self, asking: Asking) -> Self {
        Self { asking, ..self }
    }

    /// Sets the name that is recorded for the answers that this client gives. Without one, nobody is named.
    #[must_use]
    pub fn answered_by(self, name: impl Into<String>) -> Self {
        Self { answered_by: Some(name.into()), ..self }
    }

    /// Sets if files of results may be kept for a later request, `?media=reference`. By default they may.
    #[must_use]
    pub fn keeps_files(self, keeps_files: bool) -> Self {
        Self { keeps_files, ..self }
    }

    /// Sets if the client is the owner of the host, who is told paths on this machine: of the configuration files with the rules that decide, and of the
    /// files that a call made or changed, in metadata of results, and in reasons why a file cannot be read. By default it is not.
    #[must_use]
    pub fn as_owner(self, is_owner: bool) -> Self {
        Self { is_owner, ..self }
    }

    /// Ends the calls of this request when its token is revoked, and all of the client when the principal of the revocation is: with its last token.
    #[must_use]
    pub fn revoked_with(self, revocation: impl Into<Option<Revocation>>) -> Self {
        Self { revocation: revocation.into(), ..self }
    }

    pub(crate) fn client(&self) -> &Arc<str> {
        &self.client
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn mode(&self) -> Asking {
        self.asking
    }

    pub(crate) fn answerer(&self) -> Option<&str> {
        self.answered_by.as_deref()
    }

    pub(crate) fn may_keep_files(&self) -> bool {
        self.keeps_files
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.is_owner
    }

    pub(crate) fn revocation(&self) -> Option<&Revocation> {
        self.revocation.as_ref()
    }

    /// Returns true unless the client is limited to other tools.
    pub(crate) fn admits(&self, tool: &Tool) -> bool {
        self.admits_name(tool.name()) && self.only_if.as_ref().is_none_or(|is_admitted| is_admitted(tool))
    }

    pub(crate) fn admits_name(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// Returns true if the client is limited to names, of which this is one.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.only.as_ref().is_some_and(|only| only.contains(name))
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.only.is_some() || self.only_if.is_some()
    }
}

impl<S: Sync> FromRequestParts<S> for Access {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let access = parts.extensions.get::<Self>().cloned();
        access.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, "this needs a token"))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("client", &self.client)
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}

//! The service behind the tool `nodes`.

use std::sync::Arc;

use builtin_tools::nodes::{NodeAnswer, NodeCall, NodeInfo, NodeService};
use tokio::time::timeout;
use toolkit::{Caller, ToolContext, ToolError, ToolErrorKind, ToolOutput};

use super::{NodeLink, Nodes};
use crate::OWNER;
use crate::SessionKey;
use crate::people::is_owners;
use crate::session_tools::{of_store, session_of};

impl Nodes {
    /// Returns the person of the session for which a tool is called: only their nodes are found.
    async fn person_of(&self, caller: &Caller) -> Result<String, ToolError> {
        let outside = || ToolError::unavailable("this call is not made in a session of the gateway");
        let key: SessionKey = session_of(caller).ok_or_else(outside)?.parse().map_err(|_| outside())?;
        let session = self.0.store.session(key).await.map_err(of_store)?.ok_or_else(outside)?;
        if is_owners(&session) {
            return Ok(OWNER.to_owned());
        }
        session.person.ok_or_else(|| {
            ToolError::denied("this session belongs to no single person, and so it has no nodes")
        })
    }

    /// The nodes of a person that are connected and serve something, by id.
    fn links_of(&self, person: &str) -> Vec<Arc<NodeLink>> {
        let is_of_person = |link: &&Arc<NodeLink>| link.person() == person && link.calls().is_some();
        let mut links: Vec<_> = self.links().values().filter(is_of_person).cloned().collect();
        links.sort_by(|one, other| one.id().cmp(other.id()));
        links
    }

    async fn call(&self, ctx: &ToolContext, call: NodeCall) -> Result<ToolOutput, ToolError> {
        let person = self.person_of(ctx.caller()).await?;
        let links = self.links_of(&person);
        let Some(link) = links.iter().find(|link| link.id() == call.node_id) else {
            return Err(ToolError::new(
                ToolErrorKind::InvalidArguments,
                format!("no node `{}` is connected; `list` shows those that are", call.node_id),
            ));
        };
        let gone = || {
            let why = link.why();
            ToolError::unavailable(format!(
                "{why} during the call to `{}`; it is unknown if the call had effects",
                link.id()
            ))
        };
        let Some(calls) = link.calls() else { return Err(gone()) };
        let calling = calls.call(ctx, &call.action, call.arguments);
        tokio::select! {
            // First: the reason says more than the end of the connection.
            biased;
            () = link.ended() => Err(gone()),
            answer = timeout(link.call_within(), calling) => answer.unwrap_or_else(|_| {
                Err(ToolError::new(ToolErrorKind::TimedOut, format!(
                    "the node `{}` did not answer within {:?}, and was told to cancel; the call may have been done in part",
                    link.id(),
                    link.call_within()
                )))
            }),
        }
    }
}

impl NodeService for Nodes {
    fn connected<'a>(&'a self, caller: &'a Caller) -> NodeAnswer<'a, Vec<NodeInfo>> {
        Box::pin(async move {
            let person = self.person_of(caller).await?;
            let links = self.links_of(&person).into_iter();
            Ok(links
                .map(|link| NodeInfo {
                    node_id: link.id().to_owned(),
                    name: link.name().to_owned(),
                    platform: link.platform().to_owned(),
                    actions: link.actions(),
                })
                .collect())
        })
    }

    fn call<'a>(&'a self, ctx: &'a ToolContext, call: NodeCall) -> NodeAnswer<'a, ToolOutput> {
        Box::pin(self.call(ctx, call))
    }
}

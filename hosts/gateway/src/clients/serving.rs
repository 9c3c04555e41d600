//! The task of a link: its client's tools in the toolboxes of its sessions, until it ends.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use toolkit_mcp::SessionServer;

use super::Clients;
use super::deferring::Deferring;
use super::link::{Ends, Link};
use crate::OWNER;
use crate::people::Access;

/// The bytes between the MCP client and the link.
const BUFFER: usize = 64 << 10;

/// Serves a link until it ends, and ends the calls that wait for it then. At the end of the gateway they go on waiting: the client may come back.
pub(super) async fn serve(clients: Clients, link: Arc<Link>, ends: Ends, shutdown: CancellationToken) {
    let limits = clients.limits().clone();
    let Ends { mut incoming, access, is_connected } = ends;
    let (near, far) = tokio::io::duplex(BUFFER);
    let (from_client, to_link) = tokio::io::split(far);
    let (from_link, to_client) = tokio::io::split(near);
    let attached = attach(&clients, &link, from_client, to_link);
    let why = tokio::select! {
        biased;
        () = shutdown.cancelled() => None,
        () = link.ended() => Some(link.why()),
        () = revoked(access) => Some("the token of the client was revoked".to_owned()),
        () = abandoned(is_connected, limits.resume_within) => {
            Some(format!("the client did not come back within {:?}", limits.resume_within))
        }
        why = attached => Some(why),
        () = pass_in(&mut incoming, to_client) => Some("the connection ended".to_owned()),
        () = pass_out(&link, from_link) => Some("the connection ended".to_owned()),
    };
    let is_shutdown = why.is_none();
    let why = why.unwrap_or_else(|| "the gateway stops".to_owned());
    link.end(&*why);
    if !is_shutdown {
        match clients.0.store.end_calls_of_client(link.digest().to_owned(), why).await {
            Ok(ended) => clients.hand_in(ended).await,
            Err(error) => tracing::error!(%error, "calls of a client that is gone cannot be ended"),
        }
    }
    // Not before: until then a client that comes back by the same id gets another one, so that no call of a new link is ended here.
    clients.0.links().remove(link.digest());
}

/// Attaches the client to its sessions, and tells it what became of its tools. Returns the reason for which that ended.
async fn attach(
    clients: &Clients,
    link: &Arc<Link>,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
) -> String {
    let Some(at_work) = clients.0.at_work.get() else { return "the gateway begins".to_owned() };
    let limits = clients.limits();
    let deferring = Deferring::new(clients, link);
    let sessions = link.sessions().iter().map(ToString::to_string);
    let mut server = SessionServer::new(id(link), sessions)
        .timeout(limits.call_within)
        // The name alone is chosen by whoever has any token of the person.
        .identity(format!(
            "the client `{}` of `{}`, by the token {}",
            link.name(),
            link.person(),
            link.token()
        ))
        // Questions of the gateway go to its owner and to approvers, and not to the person of the client.
        .may_ask(link.person() == OWNER)
        .deferred(Arc::new(deferring));
    server.max_message_bytes = limits.max_message;
    let attached = clients.0.servers.attach_lines(&at_work.toolkit, server, read, write).await;
    let mut attached = match attached {
        Ok(attached) => attached,
        Err(why) => return why,
    };
    loop {
        let notices: Vec<_> = attached.diagnostics().into_iter().map(|notice| notice.message).collect();
        link.set_tools(json!({ "type": "tools", "tools": attached.tools(), "notices": notices }));
        if !attached.changed().await {
            return attached.ended().await;
        }
    }
}

/// The id by which rules name the tools: that of the person before the client's own, which has no dot, so that nobody has the id of another's client.
fn id(link: &Link) -> String {
    format!("{}.{}", link.person(), link.name())
}

/// Passes messages of the client on.
async fn pass_in(incoming: &mut mpsc::Receiver<String>, mut to: impl AsyncWrite + Unpin) {
    while let Some(mut message) = incoming.recv().await {
        message.push('\n');
        if to.write_all(message.as_bytes()).await.is_err() {
            break;
        }
    }
}

/// Passes messages for the client on.
async fn pass_out(link: &Link, from: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        link.push(line);
    }
}

/// Waits until the token by which the client came last is revoked.
async fn revoked(mut access: watch::Receiver<Access>) {
    loop {
        let revoked = access.borrow_and_update().revocation.token_revoked();
        tokio::select! {
            () = revoked => return,
            changed = access.changed() => if changed.is_err() {
                std::future::pending::<()>().await;
            },
        }
    }
}

/// Waits until the client has not been there for some time.
async fn abandoned(mut is_connected: watch::Receiver<bool>, within: Duration) {
    loop {
        if is_connected.wait_for(|is| !is).await.is_err() {
            std::future::pending::<()>().await;
        }
        if tokio::time::timeout(within, is_connected.wait_for(|is| *is)).await.is_err() {
            return;
        }
    }
}

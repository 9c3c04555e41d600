//! How far a call got, for a client that wants to know.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use toolkit::{Event, Events};

/// Tells the client how far the call gets, until it is over.
pub(super) async fn tell(mut events: Events, call_id: &str, peer: &Peer<RoleServer>, token: ProgressToken) {
    let mut last = f64::NEG_INFINITY;
    while let Some(event) = events.next().await {
        if event.call_id != call_id {
            continue;
        }
        match event.event {
            Event::Finished { .. } | Event::Interrupted => return,
            // It has to grow, says the protocol.
            Event::Progress(progress) if progress.done > last => {
                last = progress.done;
                let mut param = ProgressNotificationParam::new(token.clone(), progress.done);
                param.total = progress.total;
                param.message = progress.message;
                if peer.notify_progress(param).await.is_err() {
                    return;
                }
            }
            _ => {}
        }
    }
}

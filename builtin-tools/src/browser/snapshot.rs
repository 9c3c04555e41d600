//! Snapshots: the accessibility tree of a page as text, with refs to its elements.

mod render;
mod tree;

pub(super) use render::render;
pub(super) use tree::{AxNode, Frame, Frames};

use super::cdp::CdpError;
use super::page::Page;
use serde_json::json;
use similar::{Algorithm, TextDiff};
use std::collections::VecDeque;
use std::time::Duration;

/// The most frames of a page that are looked into.
const MAX_FRAMES: usize = 50;
/// How deep a tree is read whose whole is too large.
const SHALLOW: u32 = 12;
/// How long the comparison of two snapshots may take; then it is less exact.
const COMPARING: Duration = Duration::from_millis(500);

/// Reads the trees of all frames of a page.
pub(super) async fn read(page: &Page) -> Result<Frames, CdpError> {
    let mut frames = Frames::default();
    let mut queue = VecDeque::from([(None, page.session.clone(), None::<String>)]);
    while let Some((owner, session, frame)) = queue.pop_front() {
        if frames.len() == MAX_FRAMES {
            frames.is_cut = true;
            break;
        }
        let (nodes, is_whole) = match nodes(page, &session, frame.as_deref()).await {
            Ok(found) => found,
            // A frame may go while it is looked at, the page itself not.
            Err(CdpError::Refused { .. } | CdpError::Detached) if owner.is_some() => continue,
            Err(error) => return Err(error),
        };
        frames.is_cut |= !is_whole;
        for node in nodes.iter().filter(|node| !node.is_ignored && node.role == "Iframe") {
            let Some(backend) = node.backend else { continue };
            let described =
                page.call_in(&session, "DOM.describeNode", json!({ "backendNodeId": backend })).await;
            let inner =
                described.ok().and_then(|node| node["node"]["frameId"].as_str().map(ToOwned::to_owned));
            if let Some(inner) = inner {
                let own = page.shared.lock().session_of_frame(&inner);
                let key = Some((session.clone(), backend));
                match own {
                    Some(own) => queue.push_back((key, own, None)),
                    None => queue.push_back((key, session.clone(), Some(inner))),
                }
            }
        }
        let frame = match frame {
            Some(frame) => frame,
            None => {
                page.shared.lock().session(&session).map(|session| session.target.clone()).unwrap_or_default()
            }
        };
        frames.push(owner, Frame { session, id: frame, nodes });
    }
    Ok(frames)
}

/// The nodes of one frame, and true if they are all.
async fn nodes(page: &Page, session: &str, frame: Option<&str>) -> Result<(Vec<AxNode>, bool), CdpError> {
    let mut params = json!({});
    if let Some(frame) = frame {
        params["frameId"] = frame.into();
    }
    match page.call_in(session, "Accessibility.getFullAXTree", params.clone()).await {
        Ok(tree) => Ok((tree::parse(&tree), true)),
        Err(CdpError::TooLarge { .. }) => {
            params["depth"] = SHALLOW.into();
            let tree = page.call_in(session, "Accessibility.getFullAXTree", params).await?;
            Ok((tree::parse(&tree), false))
        }
        Err(error) => Err(error),
    }
}

/// The lines that changed, with two lines around each; `None` where nothing did.
pub(super) fn changes(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).timeout(COMPARING).diff_lines(old, new);
    Some(diff.unified_diff().context_radius(2).to_string())
}

#[cfg(test)]
mod tests;

//! Elements of a page: found by a ref or a selector, and waited for until they can be acted on.

use super::cdp::CdpError;
use super::failure::failure;
use super::page::{Deadline, On, Page, is_replaced, millis};
use super::refs::Node;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, text::escape_line};

/// The pause before an element is looked for again in a new document.
const PAUSE: Duration = Duration::from_millis(50);

/// How an element is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Locator {
    /// By a ref of a snapshot.
    Ref(String),
    /// By a CSS selector, `text=…` or `xpath=…`.
    Selector(String),
}

impl Locator {
    /// As it is shown in messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Ref(name) => escape_line(name).into_owned(),
            Self::Selector(selector) => format!("`{}`", escape_line(selector)),
        }
    }
}

/// An element that was found.
pub(super) struct Element {
    pub(super) session: String,
    pub(super) frame: String,
    pub(super) object: String,
}

impl Element {
    pub(super) fn on(&self) -> On {
        On::Object { session: self.session.clone(), object: self.object.clone() }
    }
}

/// The state of an element that an action needs.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a need of its own")]
pub(super) struct Needs {
    pub(super) visible: bool,
    pub(super) enabled: bool,
    pub(super) editable: bool,
    pub(super) uncovered: bool,
}

impl Needs {
    pub(super) const POINTER: Self = Self { visible: true, enabled: true, editable: false, uncovered: true };
    pub(super) const HOVER: Self = Self { visible: true, enabled: false, editable: false, uncovered: true };
    pub(super) const FIELD: Self = Self { visible: true, enabled: true, editable: true, uncovered: false };
    pub(super) const LIST: Self = Self { visible: true, enabled: true, editable: false, uncovered: false };
    pub(super) const SHOWN: Self = Self { visible: true, enabled: false, editable: false, uncovered: false };
    pub(super) const ENABLED: Self =
        Self { visible: false, enabled: true, editable: false, uncovered: false };

    fn value(self) -> Value {
        let Self { visible, enabled, editable, uncovered } = self;
        json!({ "visible": visible, "enabled": enabled, "editable": editable, "uncovered": uncovered })
    }
}

/// A box in the viewport of the page, in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Place {
    /// The point that is acted at.
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Finds an element, waiting for it until the deadline.
pub(super) async fn find(page: &Page, locator: &Locator, deadline: &Deadline) -> Result<Element, ToolError> {
    match locator {
        Locator::Ref(name) => by_ref(page, name).await,
        Locator::Selector(selector) => loop {
            match by_selector(page, selector, deadline).await {
                Err(error) if is_replaced(&error) && !deadline.is_over() => tokio::time::sleep(PAUSE).await,
                Err(error) => return Err(failure(&error)),
                Ok(found) => {
                    break found.unwrap_or_else(|| {
                        Err(ToolError::not_found(format!(
                            "no element matches {} within {:?}; take a `snapshot` to see the page",
                            locator.shown(),
                            deadline.within
                        )))
                    });
                }
            }
        },
    }
}

async fn by_ref(page: &Page, name: &str) -> Result<Element, ToolError> {
    let shown = escape_line(name).into_owned();
    let gone = || ToolError::not_found(format!("{shown} is not on the page any more; take a new `snapshot`"));
    let node = {
        let state = page.shared.lock();
        let tab = state.tab(page.number).ok_or_else(|| ToolError::not_found("the tab is closed"))?;
        match tab.refs.get(name) {
            Some(node) => node.clone(),
            None if tab.refs.is_old(name) => return Err(gone()),
            None if tab.refs.is_empty() => {
                return Err(ToolError::not_found(format!(
                    "there is no element {shown}: refs come from a `snapshot` of this page; take one first"
                )));
            }
            None => {
                return Err(ToolError::not_found(format!(
                    "there is no element {shown}; use a ref of the last `snapshot`, such as `e1`"
                )));
            }
        }
    };
    let Node { session, frame, backend, .. } = node;
    let resolved = async {
        let On::World { context, .. } = page.world(&session, &frame).await? else {
            return Err(CdpError::Detached);
        };
        let params = json!({ "backendNodeId": backend, "executionContextId": context });
        page.call_in(&session, "DOM.resolveNode", params).await
    };
    match resolved.await {
        Ok(node) => match node["object"]["objectId"].as_str() {
            Some(object) => Ok(Element { session, frame, object: object.to_owned() }),
            None => Err(gone()),
        },
        Err(CdpError::Refused { .. } | CdpError::Detached) => Err(gone()),
        Err(error) => Err(failure(&error)),
    }
}

async fn by_selector(
    page: &Page,
    selector: &str,
    deadline: &Deadline,
) -> Result<Option<Result<Element, ToolError>>, CdpError> {
    let world = page.main_world().await?;
    let wrong = page.run(&world, "check", &[selector.into()], Duration::ZERO).await?;
    if let Some(wrong) = wrong.as_str() {
        let message = format!(
            "`selector` cannot be read: {}; write CSS, or `text=…` for the element with a text",
            escape_line(wrong)
        );
        return Ok(Some(Err(ToolError::new(ToolErrorKind::InvalidArguments, message))));
    }
    let left = deadline.left();
    let object = page.run_object(&world, "find", &[selector.into(), millis(left)], left).await?;
    Ok(object.map(|object| Ok(Element { session: page.session.clone(), frame: page.target.clone(), object })))
}

/// Finds an element and waits until it can be acted on. Returns it with its place.
pub(super) async fn ready(
    page: &Page,
    locator: &Locator,
    needs: Needs,
    deadline: &Deadline,
) -> Result<(Element, Place), ToolError> {
    loop {
        let element = find(page, locator, deadline).await?;
        let left = deadline.left();
        let answer = page.run(&element.on(), "ready", &[needs.value(), millis(left)], left).await;
        let is_gone = match &answer {
            Ok(answer) => answer["gone"] == true,
            Err(error) => is_replaced(error),
        };
        if is_gone {
            if deadline.is_over() || matches!(locator, Locator::Ref(_)) {
                return Err(ToolError::not_found(format!(
                    "{} is not on the page any more; take a new `snapshot`",
                    locator.shown()
                )));
            }
            // The page has made it anew.
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let answer = answer.map_err(|error| failure(&error))?;
        if let Some(reason) = answer["reason"].as_str() {
            return Err(ToolError::failed(format!(
                "{} cannot be acted on: {} (waited {:?}); take a `snapshot` to see what is in the way",
                locator.shown(),
                escape_line(reason),
                deadline.within
            )));
        }
        let number = |key: &str| answer[key].as_f64().unwrap_or_default();
        let (across, down) = offset(page, &element).await.map_err(|error| failure(&error))?;
        let place = Place {
            x: number("x") + across,
            y: number("y") + down,
            left: number("left") + across,
            top: number("top") + down,
            width: number("width"),
            height: number("height"),
        };
        return Ok((element, place));
    }
}

/// Where the viewport of the element's frame begins in that of the page.
async fn offset(page: &Page, element: &Element) -> Result<(f64, f64), CdpError> {
    let (mut across, mut down) = (0.0, 0.0);
    let (mut session, mut frame) = (element.session.clone(), element.frame.clone());
    loop {
        let (target, parent) = match page.shared.lock().session(&session) {
            Some(known) => (known.target.clone(), known.parent.clone()),
            None => return Err(CdpError::Detached),
        };
        let within = match (frame == target, parent) {
            // A frame of the same process: its box is told in the viewport of the outermost one of that.
            (false, _) => session.clone(),
            (true, Some(parent)) => parent,
            (true, None) => return Ok((across, down)),
        };
        let owner = page.call_in(&within, "DOM.getFrameOwner", json!({ "frameId": frame })).await?;
        let node = json!({ "backendNodeId": owner["backendNodeId"] });
        let model = page.call_in(&within, "DOM.getBoxModel", node).await?;
        across += model["model"]["content"][0].as_f64().unwrap_or_default();
        down += model["model"]["content"][1].as_f64().unwrap_or_default();
        let root = page.shared.lock().session(&within).map(|known| known.target.clone());
        (session, frame) = (within, root.ok_or(CdpError::Detached)?);
    }
}

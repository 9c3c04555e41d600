//! One tab: commands to it, and functions that run in its pages.

use super::cdp::{CdpError, Commands};
use super::state::{Load, Shared};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Functions for pages. They run in a world of their own: what a page does to its objects does not reach them.
const LIBRARY: &str = include_str!("page.js");
/// Time for a command.
pub(super) const COMMAND: Duration = Duration::from_secs(30);
/// Time for an answer of a page beyond what it is told to wait.
const ANSWER: Duration = Duration::from_secs(5);
/// The time without a change after which a page counts as settled.
const QUIET: Duration = Duration::from_millis(100);
/// The longest that is waited for a page to settle.
const SETTLING: Duration = Duration::from_secs(1);

/// A tab.
#[derive(Clone)]
pub(super) struct Page {
    pub(super) commands: Commands,
    pub(super) shared: Shared,
    pub(super) number: u32,
    pub(super) session: String,
    /// The target, which is also the id of the main frame.
    pub(super) target: String,
}

/// When waiting ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    end: Instant,
    pub(super) within: Duration,
}

impl Deadline {
    pub(super) fn new(within: Duration) -> Self {
        Self { end: Instant::now() + within, within }
    }

    pub(super) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    pub(super) fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

/// The object that a function of the library is called on.
#[derive(Debug, Clone)]
pub(super) enum On {
    /// The world of a frame.
    World { session: String, context: i64 },
    /// An object.
    Object { session: String, object: String },
}

impl Page {
    /// A command to the page.
    pub(super) async fn call(&self, method: &'static str, params: Value) -> Result<Value, CdpError> {
        self.call_in(&self.session, method, params).await
    }

    /// A command to the session of the page or of one of its frames.
    pub(super) async fn call_in(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
    ) -> Result<Value, CdpError> {
        self.check()?;
        self.commands.call(Some(session), method, params, COMMAND).await
    }

    /// Fails where the page's process has crashed: nothing answers to it any more.
    pub(super) fn check(&self) -> Result<(), CdpError> {
        match self.shared.lock().tab(self.number) {
            Some(tab) if tab.has_crashed => Err(CdpError::PageCrashed),
            Some(_) => Ok(()),
            None => Err(CdpError::Detached),
        }
    }

    /// The world of the library in a frame.
    pub(super) async fn world(&self, session: &str, frame: &str) -> Result<On, CdpError> {
        let params = json!({ "frameId": frame, "worldName": "toolkit" });
        let made = self.call_in(session, "Page.createIsolatedWorld", params).await?;
        let context = made["executionContextId"].as_i64().unwrap_or_default();
        Ok(On::World { session: session.to_owned(), context })
    }

    /// The same in the main frame.
    pub(super) async fn main_world(&self) -> Result<On, CdpError> {
        self.world(&self.session, &self.target).await
    }

    /// Calls a function of the library, and returns its value.
    pub(super) async fn run(
        &self,
        on: &On,
        name: &str,
        arguments: &[Value],
        wait: Duration,
    ) -> Result<Value, CdpError> {
        Ok(taken(self.invoke(on, name, arguments, wait, true).await?, "value"))
    }

    /// Calls a function of the library that returns an object; `None` where it returns `null`.
    pub(super) async fn run_object(
        &self,
        on: &On,
        name: &str,
        arguments: &[Value],
        wait: Duration,
    ) -> Result<Option<String>, CdpError> {
        let object = self.invoke(on, name, arguments, wait, false).await?;
        Ok(object["objectId"].as_str().map(ToOwned::to_owned))
    }

    async fn invoke(
        &self,
        on: &On,
        name: &str,
        arguments: &[Value],
        wait: Duration,
        by_value: bool,
    ) -> Result<Value, CdpError> {
        let library = LIBRARY.trim_end();
        let arguments: Vec<Value> = arguments.iter().map(|value| json!({ "value": value })).collect();
        let mut params = json!({
            "functionDeclaration": format!("function(...given) {{ return {library}.{name}.apply(this, given); }}"),
            "arguments": arguments,
            "awaitPromise": true,
            "returnByValue": by_value,
            "userGesture": true,
        });
        let session = match on {
            On::World { session, context } => {
                params["executionContextId"] = (*context).into();
                session
            }
            On::Object { session, object } => {
                params["objectId"] = object.as_str().into();
                session
            }
        };
        let method = "Runtime.callFunctionOn";
        self.check()?;
        let answer = self.commands.call(Some(session), method, params, wait + ANSWER).await?;
        if answer["exceptionDetails"].is_object() {
            let message = super::state::exception(&answer["exceptionDetails"]);
            return Err(CdpError::Refused { method, message });
        }
        Ok(taken(answer, "result"))
    }

    /// How far the main frame is.
    pub(super) fn load(&self) -> Load {
        self.shared.lock().tab(self.number).map_or(Load::Complete, |tab| tab.load)
    }

    /// Counts the documents of the main frame.
    pub(super) fn documents(&self) -> u64 {
        self.shared.lock().tab(self.number).map_or(0, |tab| tab.documents)
    }

    pub(super) fn url(&self) -> String {
        self.shared.lock().tab(self.number).map(|tab| tab.url.clone()).unwrap_or_default()
    }

    /// Waits until the page is loaded and changes nothing any more, or until time is over.
    pub(super) async fn settle(&self, loading: Duration) {
        let deadline = Deadline::new(loading);
        loop {
            if !self.commands.is_open() || self.check().is_err() {
                return;
            }
            self.settle_once().await;
            let documents = self.documents();
            // Whether the tab or the browser is gone is noticed by what comes next.
            let ended = self.shared.until(deadline.left(), |state| match state.tab(self.number) {
                Some(tab) if tab.load != Load::Complete && self.commands.is_open() => None,
                _ => Some(()),
            });
            let is_loaded = ended.await.is_some();
            if !is_loaded || deadline.is_over() {
                return;
            }
            if self.documents() == documents && self.load() == Load::Complete {
                // Scripts of the page may navigate once it is loaded.
                self.settle_once().await;
                if self.documents() == documents && self.load() == Load::Complete {
                    return;
                }
            }
        }
    }

    async fn settle_once(&self) {
        let Ok(world) = self.main_world().await else { return };
        let limits = [millis(QUIET), millis(SETTLING)];
        let _ = self.run(&world, "settle", &limits, SETTLING).await;
    }
}

/// A field of an object.
fn taken(object: Value, key: &str) -> Value {
    match object {
        Value::Object(mut object) => object.remove(key).unwrap_or_default(),
        _ => Value::Null,
    }
}

/// Milliseconds as an argument of a function of the library.
pub(super) fn millis(duration: Duration) -> Value {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).into()
}

/// True for an error that says that the document was replaced meanwhile.
pub(super) fn is_replaced(error: &CdpError) -> bool {
    let CdpError::Refused { message, .. } = error else { return false };
    [
        "context",
        "navigated",
        "Promise was collected",
        "Could not find",
        "No frame",
        "Frame with the given id",
        "not belong",
    ]
    .iter()
    .any(|part| message.contains(part))
}

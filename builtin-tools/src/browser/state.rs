//! The state of a browser, from its events: tabs, sessions, and their notices.

mod console;
mod events;
mod notice;

pub(super) use console::{Console, exception};
pub(super) use events::{Context, metrics};
pub(super) use notice::{Download, DownloadState, MAX_DOWNLOAD_BYTES, Notice, Notices};

use super::refs::Refs;
use crate::config::BrowserDialogs;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The most characters of a URL or title that are kept.
pub(super) const MAX_URL_CHARS: usize = 2_000;

/// A browser's state, shared with the task that reads its events.
#[derive(Clone)]
pub(super) struct Shared {
    state: Arc<Mutex<State>>,
    /// Changes with each event.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
pub(super) struct State {
    /// In the order of their opening.
    pub(super) tabs: Vec<Tab>,
    /// The number of the tab that actions are about.
    pub(super) active: u32,
    sessions: HashMap<String, Session>,
    next_tab: u32,
    pub(super) notices: Notices,
    downloads: HashMap<String, Download>,
    /// How dialogs are answered at the moment.
    pub(super) dialogs: DialogAnswer,
    /// The last drag that the page began, while drags are intercepted.
    pub(super) drag: Option<Value>,
}

/// How dialogs are answered.
#[derive(Debug, Clone)]
pub(super) struct DialogAnswer {
    pub(super) dialogs: BrowserDialogs,
    /// For a prompt.
    pub(super) text: Option<String>,
}

impl Default for DialogAnswer {
    fn default() -> Self {
        Self { dialogs: BrowserDialogs::Dismiss, text: None }
    }
}

/// An attached target: a page, or a frame in a process of its own.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) tab: u32,
    /// The target, which is also the id of its main frame.
    pub(super) target: String,
    /// The session of the frame around it; `None` for a page.
    pub(super) parent: Option<String>,
}

/// A tab.
pub(super) struct Tab {
    /// Shown as `t1`, `t2`, ….
    pub(super) number: u32,
    pub(super) target: String,
    pub(super) session: String,
    pub(super) url: String,
    pub(super) load: Load,
    /// Counts the documents of the main frame.
    pub(super) documents: u64,
    pub(super) has_crashed: bool,
    pub(super) console: Console,
    pub(super) refs: Refs,
    /// The last whole snapshot.
    pub(super) snapshot: Option<String>,
    /// The file input of the last file chooser that the page wanted to open.
    pub(super) file_chooser: Option<i64>,
}

/// How far the main frame of a tab is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Load {
    /// A navigation has begun, and there is no new document so far.
    Requested,
    /// There is a new document.
    Committed,
    /// Its HTML is parsed.
    Parsed,
    /// All that it needs has come, or loading was stopped.
    Complete,
}

impl Shared {
    pub(super) fn new() -> Self {
        let state = State { next_tab: 1, ..State::default() };
        Self { state: Arc::new(Mutex::new(state)), changes: watch::Sender::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Wakes who waits, so that it looks whether the connection has ended.
    pub(super) fn wake(&self) {
        self.changed();
    }

    /// Waits until `look` finds something; `None` after `within`.
    pub(super) async fn until<T>(
        &self,
        within: Duration,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut changes = self.changes.subscribe();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                if let Some(found) = look(&mut self.lock()) {
                    return Some(found);
                }
                changes.changed().await.ok()?;
            }
        };
        timeout(within, waiting).await.ok().flatten()
    }
}

impl State {
    pub(super) fn tab(&self, number: u32) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.number == number)
    }

    pub(super) fn tab_mut(&mut self, number: u32) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.number == number)
    }

    pub(super) fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// The session of a frame that has a process of its own.
    pub(super) fn session_of_frame(&self, frame: &str) -> Option<String> {
        self.sessions.iter().find(|(_, session)| session.target == frame).map(|(id, _)| id.clone())
    }

    /// Downloads that are under way.
    pub(super) fn is_downloading(&self) -> bool {
        self.downloads.values().any(|download| download.state == DownloadState::UnderWay)
    }

    /// Takes the downloads that have ended since the last call.
    pub(super) fn take_downloads(&mut self) -> Vec<Download> {
        let ended: Vec<String> = self
            .downloads
            .iter()
            .filter(|(_, download)| download.state != DownloadState::UnderWay)
            .map(|(id, _)| id.clone())
            .collect();
        ended.iter().filter_map(|id| self.downloads.remove(id)).collect()
    }

    /// Makes a tab the first one, `t1`, and forgets all else.
    pub(super) fn begin(&mut self, number: u32) {
        self.tabs.retain(|tab| tab.number == number);
        self.sessions.retain(|_, session| session.tab == number);
        for tab in &mut self.tabs {
            tab.number = 1;
        }
        for session in self.sessions.values_mut() {
            session.tab = 1;
        }
        (self.active, self.next_tab) = (1, 2);
        self.notices = Notices::default();
    }

    fn open_tab(&mut self, target: &str, session: &str, url: &str) -> u32 {
        let number = self.next_tab;
        self.next_tab += 1;
        self.tabs.push(Tab {
            number,
            target: target.to_owned(),
            session: session.to_owned(),
            url: cut(url),
            load: Load::Complete,
            documents: 0,
            has_crashed: false,
            console: Console::default(),
            refs: Refs::default(),
            snapshot: None,
            file_chooser: None,
        });
        number
    }
}

impl Tab {
    /// A new document is there: what was known of the old one is void.
    fn begin_document(&mut self, url: &str) {
        self.url = cut(url);
        self.load = Load::Committed;
        self.documents += 1;
        self.has_crashed = false;
        self.refs.clear();
        self.snapshot = None;
        self.file_chooser = None;
    }
}

/// A text of a page, cut.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(MAX_URL_CHARS).collect()
}

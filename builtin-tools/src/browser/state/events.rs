//! Events of the browser, and what is done at once about them.

use super::{
    DialogAnswer, Download, DownloadState, Load, MAX_DOWNLOAD_BYTES, Notice, Session, Shared, State, cut,
};
use crate::browser::cdp::{Commands, Event};
use crate::config::BrowserDialogs;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The most tabs; further ones are closed at once.
const MAX_TABS: usize = 30;
/// The most downloads that are remembered until a call reports them.
const MAX_DOWNLOADS: usize = 50;

/// Script that takes from a page what would reach the network beside a proxy.
const WITHOUT_PEERS: &str = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel']) delete globalThis[name];";

/// The state that all events of one browser share.
pub(in crate::browser) struct Context {
    pub(in crate::browser) shared: Shared,
    /// Width and height of a page.
    pub(in crate::browser) viewport: (u32, u32),
    /// Where the browser puts downloads, named by their ids.
    pub(in crate::browser) downloads: PathBuf,
    /// The context that pages are in, once it is made.
    pub(in crate::browser) pages: Arc<OnceLock<String>>,
    /// True if the browser ran already: it has pages of others, and settings of its own.
    pub(in crate::browser) is_remote: bool,
    /// User name and password of the proxy.
    pub(in crate::browser) credential: Option<(String, String)>,
}

impl Context {
    fn browser_context(&self) -> &str {
        self.pages.get().map_or("", String::as_str)
    }

    pub(in crate::browser) fn handle(&self, event: &Event, commands: &Commands) {
        self.shared.lock().handle(event, commands, self);
        self.shared.changed();
    }
}

impl State {
    fn handle(&mut self, event: &Event, commands: &Commands, context: &Context) {
        let params = &event.params;
        let text = |key: &str| params[key].as_str().unwrap_or_default();
        match (event.method.as_str(), event.session.as_deref()) {
            ("Target.attachedToTarget", parent) => self.attached(params, parent, commands, context),
            ("Target.detachedFromTarget", _) => self.detached(text("sessionId"), commands),
            ("Target.targetCrashed", _) => {
                if let Some(session) = self.session_of_frame(text("targetId")) {
                    self.crashed(&session, commands);
                }
            }
            ("Inspector.targetCrashed", Some(session)) => self.crashed(session, commands),
            ("Fetch.authRequired", Some(session)) => authenticate(params, session, commands, context),
            ("Fetch.requestPaused", Some(session)) => {
                let request = json!({ "requestId": params["requestId"] });
                commands.post(Some(session), "Fetch.continueRequest", &request);
            }
            ("Page.javascriptDialogOpening", Some(session)) => self.dialog(params, session, commands),
            ("Page.fileChooserOpened", Some(session)) => {
                let node = params["backendNodeId"].as_i64();
                if let (Some(tab), Some(node)) = (self.tab_of(session), node) {
                    let number = tab.number;
                    tab.file_chooser = Some(node);
                    self.notices.push(Notice::FileChooser { tab: number, node });
                }
            }
            ("Input.dragIntercepted", _) => self.drag = Some(params["data"].clone()),
            ("Browser.downloadWillBegin", _) if self.downloads.len() < MAX_DOWNLOADS => {
                let download = Download {
                    url: cut(text("url")),
                    name: cut(text("suggestedFilename")),
                    received: 0,
                    state: DownloadState::UnderWay,
                };
                self.downloads.insert(text("guid").to_owned(), download);
            }
            ("Browser.downloadProgress", _) => self.download_progress(params, commands, context),
            (method, Some(session)) => {
                if let Some(tab) = self.tab_of(session) {
                    tab.handle(method, session, params);
                }
            }
            _ => {}
        }
    }

    /// The tab of a page's session, or of a frame's.
    fn tab_of(&mut self, session: &str) -> Option<&mut super::Tab> {
        let number = self.sessions.get(session)?.tab;
        self.tab_mut(number)
    }

    fn attached(&mut self, params: &Value, parent: Option<&str>, commands: &Commands, context: &Context) {
        let info = &params["targetInfo"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (session, target) = (text(&params["sessionId"]), text(&info["targetId"]));
        let post = |method: &str, params: Value| commands.post(Some(&session), method, &params);
        let is_own = info["browserContextId"] == context.browser_context();
        let tab = match (info["type"].as_str(), parent) {
            (Some("page"), _) if !is_own => None,
            (Some("page"), _) if self.tabs.len() < MAX_TABS => {
                let number = self.open_tab(&target, &session, info["url"].as_str().unwrap_or_default());
                if info["openerId"].is_string() {
                    self.notices.push(Notice::TabOpened { number });
                }
                Some((number, None))
            }
            (Some("page"), _) => {
                commands.post(None, "Target.closeTarget", &json!({ "targetId": target }));
                None
            }
            (Some("iframe"), Some(parent)) => {
                self.session(parent).map(|session| (session.tab, Some(parent.to_owned())))
            }
            _ => None,
        };
        let Some((tab, parent)) = tab else {
            // It waits for a debugger, perhaps.
            post("Runtime.runIfWaitingForDebugger", json!({}));
            commands.post(None, "Target.detachFromTarget", &json!({ "sessionId": session }));
            return;
        };
        post("Inspector.enable", json!({}));
        post("Page.enable", json!({}));
        post("Runtime.enable", json!({}));
        post("Log.enable", json!({}));
        // Workers are let go at once, below. One that is left out of the filter would wait for ever.
        let filter = json!([{ "type": "iframe" }, { "type": "worker" }, { "type": "shared_worker" }, { "type": "service_worker" }, { "exclude": true }]);
        post(
            "Target.setAutoAttach",
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter }),
        );
        post("Page.setInterceptFileChooserDialog", json!({ "enabled": true }));
        if context.is_remote {
            // No flag keeps its pages from reaching others beside the proxy.
            post(
                "Page.addScriptToEvaluateOnNewDocument",
                json!({ "source": WITHOUT_PEERS, "runImmediately": true }),
            );
        }
        post("Runtime.runIfWaitingForDebugger", json!({}));
        if info["openerId"].is_string() {
            post("Emulation.setDeviceMetricsOverride", metrics(context.viewport));
        }
        self.sessions.insert(session, Session { tab, target, parent });
    }

    fn detached(&mut self, session: &str, commands: &Commands) {
        commands.end_session(session, false);
        let Some(Session { tab, parent: None, .. }) = self.sessions.remove(session) else { return };
        self.sessions.retain(|id, session| {
            let stays = session.tab != tab;
            if !stays {
                commands.end_session(id, false);
            }
            stays
        });
        self.tabs.retain(|other| other.number != tab);
        self.notices.push(Notice::TabClosed { number: tab });
        if self.active == tab {
            self.active = self.tabs.last().map_or(0, |tab| tab.number);
        }
    }

    fn crashed(&mut self, session: &str, commands: &Commands) {
        commands.end_session(session, true);
        let is_page = self.sessions.get(session).is_some_and(|session| session.parent.is_none());
        if let Some(tab) = self.tab_of(session).filter(|tab| is_page && !tab.has_crashed) {
            let number = tab.number;
            tab.has_crashed = true;
            tab.load = Load::Complete;
            self.notices.push(Notice::TabCrashed { number });
        }
    }

    fn dialog(&mut self, params: &Value, session: &str, commands: &Commands) {
        let kind = params["type"].as_str().unwrap_or("dialog").to_owned();
        let DialogAnswer { dialogs, text } = &self.dialogs;
        // An alert has one button. A page that asks before it is left would keep its tab from being used.
        let accept = matches!(&*kind, "alert" | "beforeunload") || *dialogs == BrowserDialogs::Accept;
        let mut answer = json!({ "accept": accept });
        if accept && kind == "prompt" {
            answer["promptText"] = match text {
                Some(text) => text.clone().into(),
                None => params["defaultPrompt"].clone(),
            };
        }
        commands.post(Some(session), "Page.handleJavaScriptDialog", &answer);
        let message = cut(params["message"].as_str().unwrap_or_default());
        let answer = if accept { "accepted" } else { "dismissed" };
        self.notices.push(Notice::Dialog { kind, message, answer });
    }

    fn download_progress(&mut self, params: &Value, commands: &Commands, context: &Context) {
        let guid = params["guid"].as_str().unwrap_or_default();
        // The id becomes the name of a file.
        let is_plain = guid.chars().all(|char| char.is_ascii_alphanumeric() || char == '-');
        let Some(download) = self.downloads.get_mut(guid).filter(|_| is_plain) else { return };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of bytes")]
        let received = params["receivedBytes"].as_f64().unwrap_or_default().max(0.0) as u64;
        if download.state == DownloadState::TooLarge {
            return;
        }
        download.received = received;
        if received > MAX_DOWNLOAD_BYTES {
            commands.post(
                None,
                "Browser.cancelDownload",
                &json!({ "guid": guid, "browserContextId": context.browser_context() }),
            );
            download.state = DownloadState::TooLarge;
            return;
        }
        download.state = match params["state"].as_str() {
            Some("completed") => DownloadState::Complete(context.downloads.join(guid)),
            Some("canceled") => DownloadState::Cancelled,
            _ => DownloadState::UnderWay,
        };
    }
}

impl super::Tab {
    fn handle(&mut self, method: &str, session: &str, params: &Value) {
        match method {
            "Runtime.consoleAPICalled" => return self.console.called(params),
            "Runtime.exceptionThrown" => return self.console.thrown(params),
            "Log.entryAdded" => return self.console.logged(&params["entry"]),
            _ => {}
        }
        // All other events are about the main frame.
        let frame = params["frameId"].as_str().or_else(|| params["frame"]["id"].as_str());
        if session != self.session || frame.is_some_and(|frame| frame != self.target) {
            return;
        }
        let url = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match method {
            "Page.frameStartedNavigating" if params["navigationType"] != "sameDocument" => {
                self.load = Load::Requested;
            }
            "Page.frameNavigated" => {
                let frame = &params["frame"];
                let unreachable = frame["unreachableUrl"].as_str();
                self.begin_document(&unreachable.map_or_else(|| url(&frame["url"]), ToOwned::to_owned));
            }
            "Page.navigatedWithinDocument" => self.url = cut(&url(&params["url"])),
            "Page.domContentEventFired" if self.load == Load::Committed => self.load = Load::Parsed,
            "Page.loadEventFired" | "Page.frameStoppedLoading" => self.load = Load::Complete,
            _ => {}
        }
    }
}

/// The size of a page, for `Emulation.setDeviceMetricsOverride`. That of a window has the window's own bars in it.
pub(in crate::browser) fn metrics((width, height): (u32, u32)) -> Value {
    json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false })
}

/// Signs in to the proxy, and to nothing else.
fn authenticate(params: &Value, session: &str, commands: &Commands, context: &Context) {
    let is_proxy = params["authChallenge"]["source"] == "Proxy";
    let response = match &context.credential {
        Some((user, password)) if is_proxy => {
            json!({ "response": "ProvideCredentials", "username": user, "password": password })
        }
        _ => json!({ "response": "CancelAuth" }),
    };
    let answer = json!({ "requestId": params["requestId"], "authChallengeResponse": response });
    commands.post(Some(session), "Fetch.continueWithAuth", &answer);
}

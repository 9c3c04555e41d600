//! Starting a browser, and ending it.

use super::allowed::{Allowed, explain};
use super::cdp::{Cdp, CdpError, Commands};
use super::failure::failure;
use super::page::{COMMAND, Page};
use super::place::scratch;
use super::program;
use super::remote::{self, Remote};
use super::state::{Context, Shared, metrics};
use crate::scratch::Scratch;
use serde_json::json;
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use toolkit::prelude::*;
use toolkit::text::escape_line;
use toolkit_http::{ForwardLimits, ForwardProxy, Guard, Refusal};
use toolkit_sandbox::{Command, End, Job, Output};

/// The most bytes that are kept of what the program says.
const MAX_SAID_BYTES: usize = 4 << 10;
/// How long the last output of a program that failed is waited for.
const LAST_OUTPUT: Duration = Duration::from_secs(1);
/// An address that the guard refuses in any case, without looking up a name.
const REFUSED_URL: &str = "http://169.254.169.254/";

/// A running browser. Dropping it ends all its processes.
pub(super) struct Browser {
    cdp: Cdp,
    pub(super) shared: Shared,
    proxy: ForwardProxy,
    /// The key of the guard's settings: see [`Allowed::key`].
    pub(super) allowed: String,
    /// The guard, for what no proxy checks: a browser whose pages do not use it.
    guard: Option<Guard>,
    /// The context of all pages: without what a default profile has, and gone with the connection.
    pages: Arc<OnceLock<String>>,
    viewport: (u32, u32),
    owned: Option<Owned>,
    _tasks: JoinSet<()>,
    /// Read what the program says, until it closes its output.
    readers: JoinSet<()>,
    /// Sites that were allowed.
    sites: Mutex<HashSet<String>>,
    uses: AtomicUsize,
    used: Mutex<Instant>,
}

/// The processes and their files, which outlive the connection.
struct Owned {
    /// The program; `None` if the browser ran already.
    job: Option<Arc<Job>>,
    scratch: Scratch,
}

/// The settings that a browser is started with.
pub(super) struct Plan {
    pub(super) program: Program,
    pub(super) allowed: Allowed,
    pub(super) viewport: (u32, u32),
}

/// A browser to start, or one that runs.
pub(super) enum Program {
    Own { executable: PathBuf, without_sandbox: bool },
    Remote(Remote),
}

impl Program {
    /// True if pages use the proxy of the guard.
    fn is_proxied(&self) -> bool {
        match self {
            Self::Own { .. } => true,
            Self::Remote(remote) => remote.is_proxied,
        }
    }

    fn failed(&self, why: &dyn fmt::Display) -> ToolError {
        match self {
            Self::Own { .. } => ToolError::unavailable(format!("the browser cannot be started: {why}")),
            Self::Remote(remote) => remote::unusable(remote, &why.to_string()),
        }
    }
}

/// The streams that a browser speaks the protocol over.
struct Streams {
    reader: Box<dyn AsyncRead + Unpin + Send>,
    writer: Box<dyn AsyncWrite + Unpin + Send>,
    job: Option<Arc<Job>>,
    /// The tasks of a connection that is no pipe.
    transport: JoinSet<()>,
}

/// Keeps a browser from being closed for being idle.
pub(super) struct Use<'a>(&'a Browser);

impl Drop for Use<'_> {
    fn drop(&mut self) {
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.uses.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts a browser, or connects to one, and opens one empty tab in it.
pub(super) async fn launch(plan: Plan) -> Result<Browser, ToolError> {
    let Plan { program, allowed, viewport } = plan;
    let scratch = tokio::task::spawn_blocking(scratch).await.map_err(|error| program.failed(&error))?;
    let scratch =
        scratch.map_err(|error| program.failed(&format!("its directory cannot be made: {error}")))?;
    let Allowed { guard, key } = allowed;
    let proxy = ForwardProxy::start(guard.clone(), ForwardLimits::default(), explain).await;
    let proxy = proxy.map_err(|error| program.failed(&format!("its proxy cannot be started: {error}")))?;
    let said = Said::default();
    let mut tasks = JoinSet::new();
    let mut readers = JoinSet::new();
    let streams = match &program {
        Program::Own { executable, without_sandbox } => {
            let address = format!("http://{}", proxy.address());
            let data = scratch.directory().join("data");
            let arguments = program::arguments(&data, &address, viewport, *without_sandbox);
            start(executable, arguments, &scratch, &mut readers, &said)
                .await
                .map_err(|error| program.failed(&error))?
        }
        Program::Remote(remote) => {
            let socket = remote.connect().await.map_err(|error| program.failed(&error))?;
            let (reader, writer) = (Box::new(socket.reader), Box::new(socket.writer));
            Streams { reader, writer, job: None, transport: socket.tasks }
        }
    };
    let Streams { reader, writer, job, transport } = streams;
    let shared = Shared::new();
    let pages = Arc::new(OnceLock::new());
    let context = Context {
        shared: shared.clone(),
        viewport,
        downloads: scratch.directory().join("downloads"),
        pages: Arc::clone(&pages),
        credential: Some((proxy.user().to_owned(), proxy.password().to_owned())),
        is_remote: job.is_none(),
    };
    let cdp = Cdp::start(reader, writer, move |event, commands| context.handle(&event, commands));
    let (commands, waiters) = (cdp.commands().clone(), shared.clone());
    match &job {
        Some(job) => tasks.spawn(watch(Arc::clone(job), commands, waiters)),
        None => tasks.spawn(watch_connection(transport, commands, waiters)),
    };
    let mut browser = Browser {
        cdp,
        shared,
        proxy,
        guard: (!program.is_proxied()).then_some(guard),
        allowed: key,
        pages,
        viewport,
        owned: Some(Owned { job, scratch }),
        _tasks: tasks,
        readers,
        sites: Mutex::default(),
        uses: AtomicUsize::new(0),
        used: Mutex::new(Instant::now()),
    };
    match browser.begin().await {
        Ok(()) => {
            *browser.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            Ok(browser)
        }
        Err(error) => {
            // A program that has ended may have said why just before.
            let _ = tokio::time::timeout(LAST_OUTPUT, async {
                while browser.readers.join_next().await.is_some() {}
            })
            .await;
            let said = said.end();
            let said =
                if said.is_empty() { String::new() } else { format!("; it said: {}", escape_line(&said)) };
            Err(program.failed(&format!("{error}{said}")))
        }
    }
}

/// Starts the program.
async fn start(
    executable: &Path,
    arguments: Vec<std::ffi::OsString>,
    scratch: &Scratch,
    readers: &mut JoinSet<()>,
    said: &Said,
) -> Result<Streams, String> {
    let told = |error: io::Error| error.to_string();
    let (their_input, our_output) = io::pipe().map_err(told)?;
    let (our_input, their_output) = io::pipe().map_err(told)?;
    let writer = pipe::Sender::from_owned_fd(our_output.into()).map_err(told)?;
    let reader = pipe::Receiver::from_owned_fd(our_input.into()).map_err(told)?;
    let job = Command::new(executable)
        .args(arguments)
        .envs(environment(scratch.directory()))
        .current_dir(scratch.directory())
        .output(Output::Pipes)
        .descriptor(their_input)
        .descriptor(their_output)
        .spawn()
        .await
        .map_err(|error| error.to_string())?;
    readers.spawn(drain(job.take_stdout(), said.clone()));
    readers.spawn(drain(job.take_stderr(), said.clone()));
    Ok(Streams {
        reader: Box::new(reader),
        writer: Box::new(writer),
        job: Some(Arc::new(job)),
        transport: JoinSet::new(),
    })
}

impl Browser {
    pub(super) fn commands(&self) -> &Commands {
        self.cdp.commands()
    }

    /// Marks it as used, until what is returned is dropped.
    pub(super) fn begin_use(&self) -> Use<'_> {
        self.uses.fetch_add(1, Ordering::Relaxed);
        Use(self)
    }

    /// How long it has not been used.
    pub(super) fn idle(&self) -> Duration {
        if self.uses.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    pub(super) fn is_allowed(&self, site: &str) -> bool {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner).contains(site)
    }

    pub(super) fn allow(&self, site: String) {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner).insert(site);
    }

    /// Takes the refusals since the last call, without that of the icon of the address that the browser signs in with.
    pub(super) fn take_refusals(&self) -> Vec<Refusal> {
        let mut refusals = self.proxy.take_refusals();
        refusals.retain(|refusal| refusal.target != format!("{REFUSED_URL}favicon.ico"));
        refusals
    }

    /// The guard that decides about addresses of tabs, where no proxy decides about their traffic.
    pub(super) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// A directory for copies of what is uploaded.
    pub(super) fn uploads(&self) -> Option<PathBuf> {
        self.owned.as_ref().map(|owned| owned.scratch.directory().join("uploads"))
    }

    async fn call(
        &self,
        method: &'static str,
        params: serde_json::Value,
    ) -> Result<serde_json::Value, CdpError> {
        self.commands().call(None, method, params, COMMAND).await
    }

    /// Prepares the browser: a context of its own for all pages, one tab, signed in to the proxy. Requests of the default context have
    /// no password for the proxy, so what the browser wants to tell its maker goes nowhere.
    async fn begin(&self) -> Result<(), CdpError> {
        self.call("Browser.getVersion", json!({})).await?;
        let is_proxied = self.guard.is_none();
        let mut params = json!({ "disposeOnDetach": true });
        if is_proxied {
            params["proxyServer"] = format!("http://{}", self.proxy.address()).into();
            params["proxyBypassList"] = "<-loopback>".into();
        }
        let context = self.call("Target.createBrowserContext", params).await?;
        let context = context["browserContextId"].as_str().unwrap_or_default().to_owned();
        // Events of pages come from here on; those of other contexts are left alone.
        let _ = self.pages.set(context.clone());
        let filter = json!([{ "type": "page", "exclude": false }, { "exclude": true }]);
        self.call(
            "Target.setAutoAttach",
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter }),
        )
        .await?;
        let downloads = self.owned.as_ref().map(|owned| owned.scratch.directory().join("downloads"));
        // A browser that is not proxied may run on another machine, where nothing is to be written.
        let behavior = if is_proxied { "allowAndName" } else { "deny" };
        self.call(
            "Browser.setDownloadBehavior",
            json!({
                "behavior": behavior, "browserContextId": context, "downloadPath": downloads, "eventsEnabled": true,
            }),
        )
        .await?;
        // A tab of its own, so that nothing of it is in the history of the one that is used. Nobody waits for its end.
        let first = self.open_blank().await?;
        if is_proxied {
            self.sign_in(&first).await?;
        }
        let page = self.open().await?;
        self.shared.lock().begin(page.number);
        first.call("Page.navigate", json!({ "url": "about:blank" })).await?;
        self.commands().post(None, "Target.closeTarget", &json!({ "targetId": first.target }));
        Ok(())
    }

    /// Opens an empty tab, and makes it the active one.
    pub(super) async fn open(&self) -> Result<Page, CdpError> {
        self.prepared(self.open_blank().await?).await
    }

    /// Gives a tab its size.
    async fn prepared(&self, page: Page) -> Result<Page, CdpError> {
        page.call("Emulation.setDeviceMetricsOverride", metrics(self.viewport)).await?;
        Ok(page)
    }

    async fn open_blank(&self) -> Result<Page, CdpError> {
        let params = json!({ "url": "about:blank", "browserContextId": self.pages.get() });
        let made = self.call("Target.createTarget", params).await?;
        let target = made["targetId"].as_str().unwrap_or_default().to_owned();
        let number = self.shared.until(COMMAND, |state| {
            let number = state.tabs.iter().find(|tab| tab.target == target)?.number;
            state.active = number;
            Some(number)
        });
        let number =
            number.await.ok_or(CdpError::TimedOut { method: "Target.createTarget", within: COMMAND })?;
        self.page(number).ok_or(CdpError::Detached)
    }

    /// A tab.
    pub(super) fn page(&self, number: u32) -> Option<Page> {
        let state = self.shared.lock();
        let tab = state.tab(number)?;
        Some(Page {
            commands: self.commands().clone(),
            shared: self.shared.clone(),
            number,
            session: tab.session.clone(),
            target: tab.target.clone(),
        })
    }

    /// Has the context know the proxy's password: the browser asks for it once, at its first request, and keeps it.
    async fn sign_in(&self, page: &Page) -> Result<(), CdpError> {
        let patterns = json!([{ "urlPattern": format!("{REFUSED_URL}*") }]);
        page.call("Fetch.enable", json!({ "handleAuthRequests": true, "patterns": patterns })).await?;
        page.call("Page.navigate", json!({ "url": REFUSED_URL })).await?;
        page.call("Fetch.disable", json!({})).await?;
        let is_known = self.proxy.take_refusals().iter().any(|refusal| refusal.target == REFUSED_URL);
        if !is_known {
            let message = "the browser did not reach the proxy that checks its traffic at 127.0.0.1 of this machine; use a browser on this machine, or let a person \
                           accept unchecked traffic with `tools.browser.debuggingWithoutProxy`"
                .to_owned();
            return Err(CdpError::Refused { method: "Fetch.continueWithAuth", message });
        }
        Ok(())
    }

    /// Ends it at once: nothing of it is kept. A browser that ran already loses the context of the pages alone.
    pub(super) async fn close(mut self) {
        if self.owned.as_ref().is_some_and(|owned| owned.job.is_none())
            && let Some(context) = self.pages.get()
        {
            let _ = self.call("Target.disposeBrowserContext", json!({ "browserContextId": context })).await;
        }
        if let Some(owned) = self.owned.take() {
            owned.end().await;
        }
    }

    /// The error of a command that found the connection closed.
    pub(super) fn gone(&self) -> ToolError {
        failure(&CdpError::Closed(self.commands().closed().unwrap_or_default()))
    }
}

impl Owned {
    async fn end(self) {
        if let Some(job) = self.job {
            job.stop(Duration::ZERO).await;
        }
        let scratch = self.scratch;
        let _ = tokio::task::spawn_blocking(move || drop(scratch)).await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let Some(owned) = self.owned.take() else { return };
        // Its files can be removed once nothing writes to them any more. Without a runtime, the next browser removes them.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(owned.end());
        }
    }
}

/// The environment of the program: no variable that names the user's own directories.
fn environment(directory: &Path) -> Vec<(&'static str, std::ffi::OsString)> {
    let mut environment = vec![
        ("HOME", directory.join("home").into_os_string()),
        ("TMPDIR", directory.join("tmp").into_os_string()),
    ];
    for name in
        ["PATH", "LANG", "LANGUAGE", "LC_ALL", "TZ", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH"]
    {
        if let Some(value) = std::env::var_os(name) {
            environment.push((name, value));
        }
    }
    environment
}

/// Fails all commands when the process has ended, however that is.
async fn watch(job: Arc<Job>, commands: Commands, shared: Shared) {
    let exit = job.exited().await;
    let how = match exit.end {
        End::Code(code) => format!("it ended with exit code {code}"),
        End::Signal { number, .. } => format!("it was ended by signal {number}"),
        _ => "it ended".to_owned(),
    };
    commands.close(&how);
    shared.wake();
}

/// Fails all commands when the connection to a browser that ran already has ended.
async fn watch_connection(mut transport: JoinSet<()>, commands: Commands, shared: Shared) {
    transport.join_next().await;
    commands.close("the connection to it ended");
    shared.wake();
}

/// The last bytes that the program said.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    fn push(&self, bytes: &[u8]) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(bytes);
        let surplus = said.len().saturating_sub(MAX_SAID_BYTES);
        said.drain(..surplus);
    }

    /// The last line that says something.
    fn end(&self) -> String {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said).into_owned();
        // Without a desktop it complains of that, which is no fault.
        let mut lines =
            text.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !line.contains("dbus"));
        lines.next().unwrap_or_default().chars().take(500).collect()
    }
}

async fn drain(stream: Option<impl AsyncRead + Unpin>, said: Said) {
    let Some(mut stream) = stream else { return };
    let mut chunk = vec![0; 4 << 10];
    while let Ok(length @ 1..) = stream.read(&mut chunk).await {
        said.push(&chunk[..length]);
    }
}

//! Ctrl-C and SIGTERM while a tool runs: the first cancels the call, the next one ends the process.

use crate::exit::{Exit, Stop};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::process;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use tokio::runtime::Builder;
use toolkit::CancellationToken;

/// Waits for signals on a separate thread, so that a tool that blocks its thread can still be interrupted.
///
/// It listens as long as this value lives.
pub(crate) struct Watch {
    state: Arc<State>,
    stop: CancellationToken,
}

struct State {
    cancel: CancellationToken,
    /// Exit code for the first signal.
    first: OnceLock<Exit>,
    call_ended: AtomicBool,
}

impl Watch {
    /// Starts listening. Once this returns, no signal is missed.
    pub(crate) fn start(cancel: CancellationToken) -> Result<Self, Stop> {
        let cannot = |error: io::Error| Stop::cannot_start(format!("signals cannot be listened to: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let mut signals = {
            let _entered = runtime.enter();
            Signals::listen().map_err(cannot)?
        };
        let state = Arc::new(State { cancel, first: OnceLock::new(), call_ended: AtomicBool::new(false) });
        let stop = CancellationToken::new();
        let watch = Self { state: Arc::clone(&state), stop: stop.clone() };
        let listen = move || runtime.block_on(listen(&mut signals, &state, &stop));
        thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(cannot)?;
        Ok(watch)
    }

    /// Records that there is no call left to cancel; returns the exit code for an earlier signal.
    pub(crate) fn call_ended(&self) -> Option<Exit> {
        self.state.call_ended.store(true, Ordering::SeqCst);
        self.state.first.get().copied()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn listen(signals: &mut Signals, state: &State, stop: &CancellationToken) {
    let mut stopped = pin!(stop.cancelled());
    loop {
        let signal = poll_fn(|task| match stopped.as_mut().poll(task) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => signals.poll(task).map(Some),
        });
        let Some(signal) = signal.await else { return };
        if state.call_ended.load(Ordering::SeqCst) || state.first.set(signal).is_err() {
            process::exit(signal.code().into());
        }
        state.cancel.cancel();
    }
}

/// Makes a write beyond the file size limit fail instead of ending the process.
///
/// Installs a handler for the signal instead of ignoring it, since child processes would inherit an ignored signal.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
    let _entered = runtime.enter();
    // The handler stays installed when the stream is dropped. Without it, the process ends like any other.
    let _ = signal(SignalKind::from_raw(libc::SIGXFSZ));
}

/// Does nothing: this system has no such signal.
#[cfg(not(unix))]
pub(crate) fn survive_file_size_limit() {}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Exit> {
        if self.interrupt.poll_recv(task).is_ready() {
            return Poll::Ready(Exit::Cancelled);
        }
        self.terminate.poll_recv(task).map(|_| Exit::Terminated)
    }
}

#[cfg(windows)]
struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(windows)]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Exit> {
        self.interrupt.poll_recv(task).map(|_| Exit::Cancelled)
    }
}

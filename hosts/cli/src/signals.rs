//! Ctrl-C, SIGTERM, SIGHUP and SIGQUIT while a tool runs: the first cancels the call, the next one ends the process.

use crate::exit::{Exit, Stop};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
        let state = Arc::new(State { cancel, first: OnceLock::new(), call_ended: AtomicBool::new(false) });
        let stop = CancellationToken::new();
        let watch = Self { state: Arc::clone(&state), stop: stop.clone() };
        spawn(stop, move |signal| {
            if state.call_ended.load(Ordering::SeqCst) || state.first.set(signal).is_err() {
                process::exit(signal.code().into());
            }
            state.cancel.cancel();
        })?;
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

#[cfg_attr(not(feature = "agent"), allow(dead_code, reason = "only conversations use it"))]
/// Signals in a conversation: each turn can be cancelled. Without a turn to cancel, the conversation ends, and on Ctrl-C or a second signal
/// the process at once.
pub(crate) struct Interrupts {
    state: Arc<Turns>,
    stop: CancellationToken,
}

#[cfg_attr(not(feature = "agent"), allow(dead_code, reason = "only conversations use it"))]
#[derive(Default)]
struct Turns {
    turn: Mutex<Option<CancellationToken>>,
    /// Exit code for a signal that ends the conversation after its turn.
    terminated: OnceLock<Exit>,
    /// Cancelled by such a signal while there is no turn.
    ended: CancellationToken,
}

#[cfg_attr(not(feature = "agent"), allow(dead_code, reason = "only conversations use it"))]
impl Interrupts {
    /// Starts listening. Once this returns, no signal is missed.
    pub(crate) fn start() -> Result<Self, Stop> {
        let state = Arc::<Turns>::default();
        let stop = CancellationToken::new();
        let interrupts = Self { state: Arc::clone(&state), stop: stop.clone() };
        spawn(stop, move |signal| {
            let turn = state.turn.lock().unwrap_or_else(PoisonError::into_inner);
            match &*turn {
                Some(turn) if !turn.is_cancelled() => {
                    if signal != Exit::Cancelled {
                        // Only the first one counts.
                        let _ = state.terminated.set(signal);
                    }
                    turn.cancel();
                }
                None if signal != Exit::Cancelled && state.terminated.set(signal).is_ok() => {
                    state.ended.cancel();
                }
                _ => process::exit(signal.code().into()),
            }
        })?;
        Ok(interrupts)
    }

    /// Sets the turn that the next signal cancels.
    pub(crate) fn set(&self, turn: Option<CancellationToken>) {
        *self.state.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
    }

    /// Waits for a signal that ends the conversation while there is no turn.
    pub(crate) async fn ended(&self) {
        self.state.ended.cancelled().await;
    }

    /// Returns the exit code for a signal that ends the conversation.
    pub(crate) fn terminated(&self) -> Option<Exit> {
        self.state.terminated.get().copied()
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Calls a function with each signal, on a thread of its own, until `stop` is cancelled.
fn spawn(stop: CancellationToken, on_signal: impl Fn(Exit) + Send + 'static) -> Result<(), Stop> {
    let cannot = |error: io::Error| Stop::cannot_start(format!("signals cannot be listened to: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::listen().map_err(cannot)?
    };
    let listen = move || runtime.block_on(listen(&mut signals, &on_signal, &stop));
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(cannot)?;
    Ok(())
}

async fn listen(signals: &mut Signals, on_signal: &impl Fn(Exit), stop: &CancellationToken) {
    let mut stopped = pin!(stop.cancelled());
    loop {
        let signal = poll_fn(|task| match stopped.as_mut().poll(task) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => signals.poll(task).map(Some),
        });
        let Some(signal) = signal.await else { return };
        on_signal(signal);
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
struct Signals(Vec<(tokio::signal::unix::Signal, Exit)>);

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut kinds = vec![
            (SignalKind::interrupt(), Exit::Cancelled),
            (SignalKind::terminate(), Exit::Terminated),
            (SignalKind::quit(), Exit::Quit),
        ];
        // `nohup` keeps the process running after its terminal is gone.
        if !is_ignored(SignalKind::hangup()) {
            kinds.push((SignalKind::hangup(), Exit::HungUp));
        }
        let listen = |(kind, exit)| signal(kind).map(|signal| (signal, exit));
        kinds.into_iter().map(listen).collect::<io::Result<_>>().map(Self)
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Exit> {
        for (signal, exit) in &mut self.0 {
            if signal.poll_recv(task).is_ready() {
                return Poll::Ready(*exit);
            }
        }
        Poll::Pending
    }
}

/// Returns true if this process was started with the signal ignored. False without the `/proc` of Linux.
#[cfg(unix)]
fn is_ignored(signal: tokio::signal::unix::SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal.as_raw_value() - 1) & 1 == 1
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

//! An editor that sends requests and reads no answers.

use crate::common::transcripts;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::task::JoinHandle;
use toolkit::CancellationToken;
use toolkit_agent::Transcripts;
use toolkit_agent::acp::{AcpHost, AcpOpening, AcpSetup, serve};

/// Number of requests whose answers are far larger together than what may wait.
const MANY: usize = 20_000;

/// A host without agents, which counts the answers to `initialize`.
struct Counting {
    transcripts: Transcripts,
    answered: Arc<AtomicUsize>,
}

impl AcpHost for Counting {
    fn open(&self, _: AcpSetup) -> AcpOpening<'_> {
        Box::pin(async { Err("there are no agents".to_owned()) })
    }

    fn transcripts(&self) -> &Transcripts {
        &self.transcripts
    }

    fn program(&self) -> (String, String) {
        self.answered.fetch_add(1, Ordering::SeqCst);
        ("x".repeat(500), "1".to_owned())
    }
}

/// The editor's side of a server: its input, its output, and the server.
struct Unread {
    answered: Arc<AtomicUsize>,
    sending: JoinHandle<DuplexStream>,
    output: DuplexStream,
    served: JoinHandle<std::io::Result<()>>,
    _directory: tempfile::TempDir,
}

impl Unread {
    /// Sends many requests, and reads nothing.
    fn new() -> Self {
        let (directory, transcripts) = transcripts();
        let answered = Arc::<AtomicUsize>::default();
        let host = Counting { transcripts, answered: Arc::clone(&answered) };
        let (mut input, reader) = tokio::io::duplex(1 << 10);
        let (writer, output) = tokio::io::duplex(1 << 10);
        let served = tokio::spawn(serve(BufReader::new(reader), writer, host, CancellationToken::new()));
        let sending = tokio::spawn(async move {
            for id in 0..MANY {
                let params = json!({"protocolVersion": 1, "clientCapabilities": {}});
                let request = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params});
                if input.write_all(format!("{request}\n").as_bytes()).await.is_err() {
                    break;
                }
            }
            input
        });
        Self { answered, sending, output, served, _directory: directory }
    }
}

#[tokio::test(start_paused = true)]
async fn no_request_is_read_while_much_is_not_read_and_each_is_answered_in_the_end() {
    let Unread { answered, sending, output, served, _directory } = Unread::new();
    // Time is paused: it passes once nothing can be done.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = answered.load(Ordering::SeqCst);
    assert!(before < 3 * MANY / 4, "{before} of {MANY} were answered, though none was read");
    let mut lines = BufReader::new(output).lines();
    for id in 0..MANY {
        let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
    }
    drop(sending.await.unwrap());
    served.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_reads_nothing_for_ten_minutes_is_left_and_one_that_reads_a_byte_is_not() {
    let Unread { mut output, served, sending, .. } = Unread::new();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(599)).await;
        assert!(!served.is_finished());
        output.read_u8().await.unwrap();
    }
    // The last chance of the writer, and the time for messages that are still to be written, are at their end, too.
    tokio::time::sleep(Duration::from_secs(640)).await;
    assert!(served.is_finished());
    let error = served.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    assert!(error.to_string().contains("read nothing for 600 s"), "{error}");
    sending.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_sends_nothing_and_for_which_little_waits_is_served_on() {
    let (_directory, transcripts) = transcripts();
    let answered = Arc::<AtomicUsize>::default();
    let host = Counting { transcripts, answered: Arc::clone(&answered) };
    let (mut input, reader) = tokio::io::duplex(1 << 10);
    let (writer, _output) = tokio::io::duplex(16);
    let served = tokio::spawn(serve(BufReader::new(reader), writer, host, CancellationToken::new()));
    let params = json!({"protocolVersion": 1, "clientCapabilities": {}});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    input.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_hours(2)).await;
    assert!(answered.load(Ordering::SeqCst) == 1 && !served.is_finished());
}

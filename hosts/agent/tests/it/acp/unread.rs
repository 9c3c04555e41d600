//! An editor that sends requests and reads no answers.

use crate::common::transcripts;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
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

#[tokio::test(start_paused = true)]
async fn no_request_is_read_while_much_is_not_read_and_each_is_answered_in_the_end() {
    let (_directory, transcripts) = transcripts();
    let answered = Arc::<AtomicUsize>::default();
    let host = Counting { transcripts, answered: Arc::clone(&answered) };
    let (mut input, reader) = tokio::io::duplex(1 << 10);
    let (writer, output) = tokio::io::duplex(1 << 10);
    let served = tokio::spawn(serve(BufReader::new(reader), writer, host, CancellationToken::new()));
    let sending = tokio::spawn(async move {
        for id in 0..MANY {
            let params = json!({"protocolVersion": 1, "clientCapabilities": {}});
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params});
            input.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        }
    });
    // Time is paused: it passes once nothing can be done.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = answered.load(Ordering::SeqCst);
    assert!(before < 3 * MANY / 4, "{before} of {MANY} were answered, though none was read");
    let mut lines = BufReader::new(output).lines();
    for id in 0..MANY {
        let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
    }
    sending.await.unwrap();
    served.await.unwrap().unwrap();
}

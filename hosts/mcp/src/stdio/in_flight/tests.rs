//! Tests of the requests in progress.

use super::super::output::MAX_UNREAD;
use super::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

type Served = InFlight<DuplexStream, DuplexStream>;

/// A client, and the transport that serves it.
struct Client {
    input: Option<DuplexStream>,
    output: BufReader<DuplexStream>,
    is_gone: Arc<AtomicBool>,
}

impl Client {
    fn new() -> (Self, Served) {
        Self::with_max(16)
    }

    /// A client that may have this number of requests in progress.
    fn with_max(max_in_flight: usize) -> (Self, Served) {
        let (input, read) = tokio::io::duplex(1 << 16);
        let (write, output) = tokio::io::duplex(1 << 16);
        let is_gone = Arc::new(AtomicBool::new(false));
        let gone = Arc::clone(&is_gone);
        let limits = Limits { max_in_flight, read_within: Duration::from_mins(10) };
        let served = InFlight::new(Lines::new(read, write), limits, move || gone.load(Ordering::SeqCst));
        (Self { input: Some(input), output: BufReader::new(output), is_gone }, served)
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    async fn message(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn request(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "x"}})
}

fn ping(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn cancel(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

fn question(id: u32) -> TxJsonRpcMessage<RoleServer> {
    serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})).unwrap()
}

async fn next_id(served: &mut Served) -> Value {
    json(served.receive().await)["id"].clone()
}

fn json(message: Option<Message>) -> Value {
    serde_json::to_value(message).unwrap()
}

async fn answer(served: &mut Served, id: u32) {
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}});
    served.send(serde_json::from_value(answer).unwrap()).await.unwrap();
}

/// Returns true if there is no message yet, and no end.
async fn waits(served: &mut Served) -> bool {
    tokio::time::timeout(Duration::from_millis(50), served.receive()).await.is_err()
}

#[tokio::test]
async fn the_end_of_input_waits_for_the_answers() {
    let (mut client, mut served) = Client::new();
    client.send(request(1)).await;
    client.send(request(2)).await;
    assert_eq!(
        [json(served.receive().await)["id"].clone(), json(served.receive().await)["id"].clone()],
        [1, 2]
    );
    client.input = None;
    assert!(waits(&mut served).await);
    answer(&mut served, 2).await;
    assert!(waits(&mut served).await);
    answer(&mut served, 1).await;
    assert!(served.receive().await.is_none());
    assert_eq!(client.message().await["id"], 2);
}

#[tokio::test]
async fn the_end_of_input_does_not_wait_for_a_client_that_is_gone_or_a_cancelled_request() {
    for is_cancelled in [true, false] {
        let (mut client, mut served) = Client::new();
        client.send(request(1)).await;
        served.receive().await;
        if is_cancelled {
            client.send(cancel(1)).await;
            served.receive().await;
        }
        client.input = None;
        assert_eq!(waits(&mut served).await, !is_cancelled);
        client.is_gone.store(true, Ordering::SeqCst);
        let end = tokio::time::timeout(Duration::from_secs(5), served.receive()).await;
        assert!(end.is_ok_and(|message| message.is_none()));
    }
}

#[tokio::test]
async fn a_question_after_the_end_of_input_gets_an_error() {
    let (mut client, mut served) = Client::new();
    client.send(request(1)).await;
    served.receive().await;
    let question = json!({"jsonrpc": "2.0", "id": 7, "method": "roots/list"});
    served.send(serde_json::from_value(question.clone()).unwrap()).await.unwrap();
    client.send(json!({"jsonrpc": "2.0", "id": 7, "result": {"roots": []}})).await;
    assert_eq!(json(served.receive().await)["id"], 7);
    client.input = None;
    assert!(waits(&mut served).await, "the question is answered");
    served.send(serde_json::from_value(question).unwrap()).await.unwrap();
    let error = json(served.receive().await);
    assert_eq!(
        (&error["id"], &error["error"]["message"]),
        (&json!(7), &json!("the client has closed its input"))
    );
    assert!(waits(&mut served).await);
}

#[tokio::test]
async fn a_request_whose_id_is_in_use_is_refused() {
    let (mut client, mut served) = Client::new();
    client.send(request(1)).await;
    assert_eq!(json(served.receive().await)["id"], 1);
    client.send(request(1)).await;
    assert!(waits(&mut served).await);
    let refused = client.message().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("the ID 1 is in progress"), "{refused}");
    answer(&mut served, 1).await;
    client.send(request(1)).await;
    assert_eq!(json(served.receive().await)["id"], 1);
}

#[tokio::test]
async fn requests_without_a_place_wait_in_order_until_one_is_answered() {
    let (mut client, mut served) = Client::with_max(2);
    for id in 1..=5 {
        client.send(request(id)).await;
    }
    assert_eq!([next_id(&mut served).await, next_id(&mut served).await], [1, 2]);
    assert!(waits(&mut served).await);
    for id in [2, 1, 3] {
        answer(&mut served, id).await;
        assert_eq!(next_id(&mut served).await, [4, 3, 5][id as usize - 1]);
    }
    // The end of the input does not drop those that wait.
    client.send(request(6)).await;
    client.input = None;
    assert!(waits(&mut served).await);
    answer(&mut served, 4).await;
    assert_eq!(next_id(&mut served).await, 6);
    for id in [5, 6] {
        answer(&mut served, id).await;
    }
    assert!(served.receive().await.is_none());
}

#[tokio::test]
async fn answers_cancellations_and_pings_pass_the_requests_that_wait() {
    let (mut client, mut served) = Client::with_max(1);
    for id in 1..=3 {
        client.send(request(id)).await;
    }
    let first = served.receive().await.unwrap();
    served.send(question(7)).await.unwrap();
    client.send(json!({"jsonrpc": "2.0", "id": 7, "result": {"roots": []}})).await;
    assert_eq!(json(served.receive().await)["result"], json!({"roots": []}));
    client.send(ping(8)).await;
    assert_eq!(json(served.receive().await)["method"], "ping");
    // One that waits is gone without a trace.
    client.send(cancel(2)).await;
    client.send(cancel(1)).await;
    assert_eq!(json(served.receive().await)["params"]["requestId"], 1);
    answer(&mut served, 8).await;
    assert!(waits(&mut served).await, "the handler of the cancelled request goes on");
    drop(first);
    assert_eq!(next_id(&mut served).await, 3);
}

/// Sends requests from 1 on, more than the queue takes, until the time at which nothing more is read. Returns the number of those that
/// were sent.
async fn crowd(client: &mut Client, served: &mut Served) -> usize {
    let mut input = client.input.take().unwrap();
    let mut sent = 0;
    let sending = async {
        for id in 1..=2 * MAX_QUEUED {
            let line = format!("{}\n", request(u32::try_from(id).unwrap()));
            input.write_all(line.as_bytes()).await.unwrap();
            sent += 1;
        }
    };
    tokio::select! {
        () = sending => {}
        _ = served.receive() => panic!("no place is free"),
        // Time is paused: it passes once nothing can be done.
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    sent
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_queue_are_refused_so_that_a_cancellation_can_make_room() {
    let (mut client, mut served) = Client::with_max(1);
    client.send(request(0)).await;
    assert_eq!(next_id(&mut served).await, 0);
    // The refusals are not read, so that reading stops.
    let sent = crowd(&mut client, &mut served).await;
    assert!((MAX_QUEUED..2 * MAX_QUEUED).contains(&sent), "{sent}");
    assert_eq!(served.queue.len(), MAX_QUEUED);
    let refused = client.message().await;
    assert_eq!(refused["id"], MAX_QUEUED + 1, "{refused}");

    let (mut client, mut served) = Client::with_max(1);
    client.send(request(0)).await;
    assert_eq!(next_id(&mut served).await, 0);
    let mut input = client.input.take().unwrap();
    tokio::spawn(async move {
        for id in 1..=MAX_QUEUED {
            let line = format!("{}\n", request(u32::try_from(id).unwrap()));
            input.write_all(line.as_bytes()).await.unwrap();
        }
        input.write_all(format!("{}\n{}\n", ping(1_000_000), cancel(0)).as_bytes()).await.unwrap();
    });
    assert_eq!(json(served.receive().await)["method"], "ping");
    assert_eq!(json(served.receive().await)["method"], "notifications/cancelled");
    // The ping has a place of its own, and the place of the request is free.
    answer(&mut served, 1_000_000).await;
    assert_eq!(next_id(&mut served).await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_id_is_in_use_until_the_handler_of_a_cancelled_request_ends() {
    let (mut client, mut served) = Client::new();
    client.send(request(1)).await;
    let handled = served.receive().await;
    client.send(cancel(1)).await;
    assert_eq!(json(served.receive().await)["method"], "notifications/cancelled");
    client.send(request(1)).await;
    assert!(waits(&mut served).await);
    assert!(client.message().await["error"]["message"].as_str().unwrap().contains("in progress"));
    drop(handled);
    client.send(request(1)).await;
    assert_eq!(next_id(&mut served).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_holds_its_place_until_its_handler_ends() {
    let (mut client, mut served) = Client::with_max(1);
    let listen = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {"notifications": {}}});
    client.send(listen(1)).await;
    let handled = served.receive().await;
    assert!(handled.is_some());
    client.send(cancel(1)).await;
    assert_eq!(json(served.receive().await)["method"], "notifications/cancelled");
    client.send(listen(2)).await;
    assert!(waits(&mut served).await);
    assert_eq!(client.message().await["id"], 2);
    drop(handled);
    client.send(listen(3)).await;
    assert_eq!(next_id(&mut served).await, 3);
}

#[tokio::test(start_paused = true)]
async fn while_calls_wait_for_the_client_requests_beyond_the_queue_are_refused() {
    let (mut client, mut served) = Client::with_max(1);
    client.send(request(0)).await;
    assert_eq!(next_id(&mut served).await, 0);
    served.send(question(7)).await.unwrap();
    assert_eq!(client.message().await["method"], "roots/list");
    // The refusals are not read either, so that reading stops nevertheless.
    let sent = crowd(&mut client, &mut served).await;
    assert!((MAX_QUEUED..2 * MAX_QUEUED).contains(&sent), "{sent}");
    let refused = client.message().await;
    assert_eq!(refused["id"], MAX_QUEUED + 1, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("too many requests wait"), "{refused}");
}

/// A message of twice the size from which on no request is begun.
fn large() -> TxJsonRpcMessage<RoleServer> {
    TxJsonRpcMessage::<RoleServer>::error(ErrorData::internal_error("x".repeat(2 * MAX_UNREAD), None), None)
}

#[tokio::test(start_paused = true)]
async fn no_request_begins_while_much_is_not_read() {
    let (mut client, mut served) = Client::new();
    let sending = tokio::spawn(served.send(large()));
    client.send(request(1)).await;
    assert!(waits(&mut served).await);
    let (sent, message) = tokio::join!(sending, client.message());
    sent.unwrap().unwrap();
    assert_eq!(message["error"]["message"].as_str().unwrap().len(), 2 * MAX_UNREAD);
    assert_eq!(next_id(&mut served).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_for_long_is_left() {
    let (mut client, mut served) = Client::new();
    let unread = served.unread();
    let sending = tokio::spawn(served.send(large()));
    // Each byte that is read counts.
    for _ in 0..3 {
        let reading = tokio::time::timeout(Duration::from_mins(9), served.receive()).await;
        assert!(reading.is_err());
        let mut some = vec![0; 1 << 17];
        tokio::io::AsyncReadExt::read_exact(client.output.get_mut(), &mut some).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert!(served.receive().await.is_none());
    assert!(unread.load(Ordering::SeqCst));
    assert!(sending.await.unwrap().is_err(), "a write that does not move is given up");
    served.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_with_little_in_progress_may_read_as_late_as_it_likes() {
    let (mut client, mut served) = Client::new();
    client.send(request(1)).await;
    assert_eq!(next_id(&mut served).await, 1);
    // More than the stream takes, and less than much.
    let data = "x".repeat(1 << 18);
    let result = json!({"content": [{"type": "text", "text": data}]});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let sending = tokio::spawn(served.send(serde_json::from_value(answer).unwrap()));
    assert!(tokio::time::timeout(Duration::from_hours(10), served.receive()).await.is_err());
    sending.abort();
}

#[tokio::test]
async fn a_client_that_closed_its_end_is_left() {
    let (mut client, mut served) = Client::new();
    client.send(request(1)).await;
    assert_eq!(next_id(&mut served).await, 1);
    drop(std::mem::replace(&mut client.output, BufReader::new(tokio::io::duplex(1).0)));
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert!(served.send(serde_json::from_value(answer).unwrap()).await.is_err());
    client.send(request(2)).await;
    assert!(served.receive().await.is_none());
    assert!(!served.unread().load(Ordering::SeqCst));
}

#[tokio::test]
async fn subscriptions_hold_no_place_and_have_their_own_limit() {
    let (mut client, mut served) = Client::with_max(2);
    let listen = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {"notifications": {}}});
    for id in 1..=2 {
        client.send(listen(id)).await;
        assert_eq!(next_id(&mut served).await, id);
    }
    client.send(listen(3)).await;
    client.send(request(4)).await;
    assert_eq!(next_id(&mut served).await, 4);
    let refused = client.message().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("has 2 subscriptions"), "{refused}");
}

#[tokio::test]
async fn requests_without_an_answer_get_an_error_at_the_end() {
    let (mut client, mut served) = Client::with_max(2);
    for id in 1..=3 {
        client.send(request(id)).await;
    }
    assert_eq!([next_id(&mut served).await, next_id(&mut served).await], [1, 2]);
    assert!(waits(&mut served).await);
    answer(&mut served, 1).await;
    served.close().await.unwrap();
    assert!(client.message().await["error"].is_null());
    let mut open = [client.message().await, client.message().await];
    open.sort_by_key(|answer| answer["id"].as_u64());
    for (answer, id) in open.iter().zip([2, 3]) {
        assert_eq!(answer["id"], id);
        assert!(answer["error"]["message"].as_str().unwrap().contains("shuts down"), "{answer}");
    }
}

//! Faults of the data directory: each is named, and nothing that was accepted is lost.

use super::*;
use std::process::Command;
use toolkit_gateway::client::{ClientError, GatewayClient};

/// The most messages that are sent to a full disk.
const MAX_SENT: usize = 200;

fn data(bench: &Bench) -> PathBuf {
    bench.directory.path().join("data")
}

/// The command of a gateway with a data directory that a line of a shell mounts.
fn mounted(bench: &Bench, mount: &str) -> Command {
    fs::create_dir_all(data(bench)).unwrap();
    let gateway = bench.any_command(&["gateway", "--address", "127.0.0.1:0"]);
    let line = format!("{mount} && exec \"$0\" \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["-rm", "/bin/sh", "-c", &line]).arg(gateway.get_program()).args(gateway.get_args());
    for (name, value) in gateway.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    bench.prepare(&mut command);
    command.env("DATA", data(bench));
    command
}

/// Starts a gateway that cannot start, and returns its exit code and what it said.
fn refused(bench: &Bench, mount: Option<&str>) -> (Option<i32>, String) {
    let started = tokio::task::block_in_place(|| match mount {
        Some(mount) => Running::of(mounted(bench, mount)),
        None => Running::with(bench, &[]),
    });
    started.err().expect("it does not start")
}

/// Lets a gateway answer one message, and stops it in order.
async fn with_a_message(bench: &Bench) {
    let gateway = started(bench);
    printed(bench, &["sessions", "send", "main", "Hello"]).await;
    printed(bench, &["gateway", "stop"]).await;
    assert_eq!(tokio::task::block_in_place(|| gateway.ended()).0, Some(0));
}

/// Starts a gateway, which has the message and answers one more.
async fn goes_on(bench: &Bench) {
    let gateway = started(bench);
    printed(bench, &["sessions", "send", "main", "And now?"]).await;
    let shown = as_json(bench, &["sessions", "show", "main"]).await;
    let texts: Vec<_> =
        shown["messages"].as_array().unwrap().iter().map(|message| &message["text"]).collect();
    assert_eq!(texts, ["Hello", "Fine.", "And now?", "Fine."]);
    drop(gateway);
}

fn fine() -> Vec<Answer> {
    (0..MAX_SENT).map(|_| text("Fine.")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_messages_and_those_that_were_accepted_are_answered() {
    let bench = Bench::new(fine()).await;
    let command = mounted(&bench, "mount -t tmpfs -o size=16m none \"$DATA\"");
    let gateway =
        tokio::task::block_in_place(|| Running::of(command)).unwrap_or_else(|said| panic!("{said:?}"));
    // The data directory as the gateway sees it.
    let root = PathBuf::from(format!("/proc/{}/root", gateway.child.id()));
    let data = root.join(data(&bench).strip_prefix("/").unwrap());
    let token = fs::read_to_string(data.join("gateway.token")).unwrap();
    let client = GatewayClient::new(gateway.address(), token.trim()).unwrap();
    let send = async |id: usize| {
        let message = json!({ "text": format!("{id}{}", " more".repeat(1_000)), "id": id.to_string() });
        client.post("/v1/sessions/main/messages", &message).await
    };
    let ended = async |message: &Value| loop {
        let path = format!("/v1/sessions/main/inbox/{}?waitSeconds=60", message["id"]);
        let outcome = client.get(&path).await.unwrap();
        if !["queued", "running", "waiting"].contains(&outcome["state"].as_str().unwrap()) {
            return outcome;
        }
    };
    assert_eq!(ended(&send(0).await.unwrap()).await["text"], "Fine.");

    let filler = data.join("filler");
    // Until not a byte is free.
    fs::write(&filler, vec![0; 32 << 20]).unwrap_err();
    let mut accepted = Vec::new();
    let refused = loop {
        let id = accepted.len() + 1;
        assert!(id < MAX_SENT, "the disk is full");
        match send(id).await {
            Ok(message) => accepted.push(message),
            Err(ClientError::Refused { status, reason }) => {
                assert!(
                    status == 507 && reason.contains("disk of the gateway is full"),
                    "{status}: {reason}"
                );
                break id;
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(client.get("/v1/sessions").await.unwrap()["sessions"].as_array().unwrap().len(), 1);

    fs::remove_file(filler).unwrap();
    let again = send(refused).await.unwrap();
    assert_eq!(again["repeated"], false, "nothing of it was stored");
    assert_eq!(ended(&again).await["state"], "answered");
    for message in &accepted {
        let outcome = ended(message).await;
        let reason = outcome["reason"].as_str().unwrap_or_default();
        assert!(outcome["state"] == "answered" || reason.contains("No space"), "{outcome}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_without_room_for_the_store_is_named() {
    let bench = Bench::new(fine()).await;
    let (code, said) = refused(&bench, Some("mount -t tmpfs -o size=64k none \"$DATA\""));
    assert!(code == Some(6) && said.contains("gateway.db: the disk is full"), "{code:?} {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_data_directory_is_named_and_nothing_is_lost() {
    let bench = Bench::new(fine()).await;
    with_a_message(&bench).await;
    let mount = "mount --bind \"$DATA\" \"$DATA\" && mount -o remount,ro,bind \"$DATA\"";
    let (code, said) = refused(&bench, Some(mount));
    assert!(code == Some(6) && said.contains("gateway.db: it cannot be written"), "{code:?} {said}");
    goes_on(&bench).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_a_newer_version_or_a_damaged_one_is_named_and_left_as_it_is() {
    let bench = Bench::new(fine()).await;
    with_a_message(&bench).await;
    let file = data(&bench).join("gateway.db");
    let sound = fs::read(&file).unwrap();
    // The number of the format is in the header.
    let mut newer = sound.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let mut damaged = sound.clone();
    damaged[4_096..].fill(0xA5);
    let mut shorter = sound.clone();
    shorter.truncate(sound.len() / 2);
    for (content, expected) in [
        (newer, "gateway.db: its format is 99, and this version knows 3"),
        (damaged, "gateway.db: it is damaged"),
        (shorter, "gateway.db: it is damaged"),
    ] {
        fs::write(&file, &content).unwrap();
        let (code, said) = refused(&bench, None);
        assert!(code == Some(6) && said.contains(expected), "{code:?} {said}");
        assert!(fs::read(&file).unwrap() == content, "{expected}: the file was changed");
    }
    fs::write(&file, &sound).unwrap();
    goes_on(&bench).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_in_the_place_of_the_data_directory_is_named() {
    let bench = Bench::new(fine()).await;
    fs::write(data(&bench), "").unwrap();
    let (code, said) = refused(&bench, None);
    assert!(code == Some(6) && said.contains("data"), "{code:?} {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_cannot_be_read_stops_the_start() {
    let bench = Bench::new(fine()).await;
    let file = bench.directory.path().join("user/toolkit.json5");
    let before = fs::read(&file).unwrap();
    for content in ["{ models: [", "{ sessions: { maxRuns: 0 } }", "{ gateway: { address: 'nowhere' } }"] {
        fs::write(&file, content).unwrap();
        let (code, said) = refused(&bench, None);
        assert!(code == Some(78) && said.contains("toolkit.json5"), "{content}: {code:?} {said}");
        assert!(!data(&bench).join("gateway.db").exists(), "{content}: nothing has begun");
    }
    fs::write(&file, before).unwrap();
    with_a_message(&bench).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_transcript_is_kept_and_its_session_goes_on() {
    let bench = Bench::new(fine()).await;
    with_a_message(&bench).await;
    let transcripts = || -> Vec<PathBuf> {
        let files = fs::read_dir(data(&bench).join("agents")).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|of| of == "jsonl")).collect()
    };
    let [transcript] = &transcripts()[..] else { panic!("one conversation") };
    let text = fs::read_to_string(transcript).unwrap();
    let damaged = text.replace("\"record\":\"end\"", "\"record\":\"e\u{0}d\"");
    assert_ne!(damaged, text);
    fs::write(transcript, format!("{damaged}{{}}\n")).unwrap();
    let kept = fs::read(transcript).unwrap();

    let gateway = started(&bench);
    assert_eq!(printed(&bench, &["sessions", "send", "main", "And now?"]).await, "Fine.\n");
    assert!(fs::read(transcript).unwrap() == kept, "the damaged one was changed");
    assert_eq!(transcripts().len(), 2);
    let shown = as_json(&bench, &["sessions", "show", "main"]).await.to_string();
    assert!(shown.contains("Hello") && shown.contains("And now?"), "{shown}");
    drop(gateway);
}

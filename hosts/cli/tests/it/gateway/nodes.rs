//! A device as a node of a gateway, both by the command.

use super::{Running, as_json, command, printed, run, started, text};
use crate::agent::{Bench, call};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

/// The address, the code and the id in the guide.
const ADDRESS_IN_GUIDE: &str = "127.0.0.1:4170";
const CODE_IN_GUIDE: &str = "K7MPX2QD";
const ID_IN_GUIDE: &str = "desk-k7mpx2";

/// A device beside a gateway, with a directory and a configuration of its own.
struct Device {
    directory: PathBuf,
    environment: Vec<(&'static str, String)>,
}

/// A device that serves; killed at the end of the test.
struct Serving {
    child: Child,
    err: BufReader<ChildStderr>,
    id: String,
}

impl Device {
    /// A device with this section `node` of its configuration, and more.
    fn new(bench: &Bench, config: &str) -> Self {
        let directory = bench.directory.path().join("device");
        fs::create_dir_all(directory.join("config")).unwrap();
        fs::write(directory.join("config/toolkit.json5"), config).unwrap();
        Self { directory, environment: Vec::new() }
    }

    fn command(&self, bench: &Bench, args: &[&str]) -> Command {
        let mut command = command(bench, args);
        command
            .env("TOOLKIT_CONFIG_DIR", self.directory.join("config"))
            .env("TOOLKIT_NODE_DIR", self.keys())
            .env_remove("DISPLAY")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env_remove("XDG_RUNTIME_DIR");
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }

    fn keys(&self) -> PathBuf {
        self.directory.join("keys")
    }

    /// Runs a command of the device. Returns its exit code, and all that it says.
    fn run(&self, bench: &Bench, args: &[&str]) -> (Option<i32>, String) {
        let output = tokio::task::block_in_place(|| self.command(bench, args).output().unwrap());
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }

    /// Asks for approval, and returns the code.
    fn pair(&self, bench: &Bench, address: &str) -> String {
        let (code, said) = self.run(bench, &["node", "pair", address, "--name", "desk"]);
        assert_eq!(code, Some(0), "{said}");
        let (_, rest) = said.split_once("toolkit gateway nodes approve ").unwrap();
        rest.lines().next().unwrap().to_owned()
    }

    /// Serves the gateway, once it is connected.
    fn serve(&self, bench: &Bench) -> Serving {
        let mut command = self.command(bench, &["node", "run"]);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        tokio::task::block_in_place(|| {
            while !said.contains("connected as ") {
                assert_ne!(err.read_line(&mut said).unwrap(), 0, "{said}");
            }
        });
        let id = said.split_once("connected as ").unwrap().1.trim().to_owned();
        Serving { child, err, id }
    }

    /// Pairs with a gateway that approves, and serves it once the gateway knows its actions.
    async fn serving(&self, bench: &Bench, gateway: &Running) -> Serving {
        let code = self.pair(bench, gateway.address());
        printed(bench, &["gateway", "nodes", "approve", &code, "--yes"]).await;
        let serving = self.serve(bench);
        known(bench, &serving.id).await;
        serving
    }
}

impl Serving {
    /// Waits for its end; returns its exit code, and what it said at the end.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        tokio::task::block_in_place(|| {
            self.err.read_to_string(&mut said).unwrap();
            (self.child.wait().unwrap().code(), said)
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the gateway knows what a node serves, and returns that.
async fn known(bench: &Bench, id: &str) -> Value {
    for _ in 0..super::MAX_LOOKS {
        let listed = as_json(bench, &["gateway", "nodes"]).await;
        let node = listed["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).cloned();
        if let Some(node) = node.filter(|node| node["actions"] != json!([])) {
            return node["actions"].clone();
        }
    }
    panic!("the gateway does not know what `{id}` serves");
}

/// A gateway whose agent calls a node as the calls say, and is told that it may.
async fn bench(calls: &[Value]) -> Bench {
    let calls = calls.iter().enumerate();
    let answers =
        calls.flat_map(|(number, arguments)| [call(&number.to_string(), "nodes", arguments), text("Done.")]);
    Bench::with(answers, "permission: { node: \"allow\" }").await
}

/// Has the agent make its next call, and returns the request with the result.
async fn called(bench: &Bench) -> Value {
    assert_eq!(printed(bench, &["sessions", "send", "main", "Go"]).await, "Done.\n");
    bench.server.requests().last().unwrap().json()
}

fn last(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let result = messages.iter().rev().find(|message| message["role"] == "tool").unwrap();
    result["content"].to_string()
}

/// The commands of the guide that are typed, as words.
fn commands_of_guide() -> Vec<Vec<String>> {
    let guide = fs::read_to_string(toolkit_tests::repository().join("docs/nodes.md")).unwrap();
    let blocks = guide.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0.to_owned());
    let lines: Vec<String> =
        blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let words =
        |line: &str| line.strip_prefix("toolkit ").unwrap().split_whitespace().map(str::to_owned).collect();
    lines.iter().map(|line| words(line)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_lead_from_pairing_to_revocation() {
    let bench = bench(&[]).await;
    let gateway = started(&bench);
    let device = Device::new(&bench, "{ node: { location: { latitude: 52.52, longitude: 13.405 } } }");
    let (mut code, mut serving, mut outputs) = (String::new(), None::<Serving>, Vec::new());
    for words in commands_of_guide() {
        let id = serving.as_ref().map_or("", |serving| &serving.id);
        let address = gateway.address().to_owned();
        let words: Vec<String> = words
            .iter()
            .map(|word| {
                word.replace(ADDRESS_IN_GUIDE, &address)
                    .replace(CODE_IN_GUIDE, &code)
                    .replace(ID_IN_GUIDE, id)
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["node", "pair", address, ..] => code = device.pair(&bench, address),
            ["node", "run"] => {
                serving = Some(device.serve(&bench));
                known(&bench, &serving.as_ref().unwrap().id).await;
            }
            ["node", ..] => {
                let (code, said) = device.run(&bench, &words);
                assert_eq!(code, Some(0), "{words:?}: {said}");
                outputs.push(said);
            }
            // A person would confirm it on a terminal.
            ["gateway", "nodes", "approve", _] => {
                outputs.push(printed(&bench, &[&words[..], &["--yes"]].concat()).await);
            }
            _ => outputs.push(printed(&bench, &words).await),
        }
    }
    let [waiting, approved, status, _revoked] = &outputs[..] else { panic!("{outputs:?}") };
    assert!(waiting.contains("waits for approval") && approved.contains("approved desk-"), "{outputs:?}");
    // The fingerprint that both sides show is one.
    let fingerprint = approved.split_whitespace().last().unwrap();
    assert!(status.contains(fingerprint) && status.contains("describe, location"), "{outputs:?}");
    let (code, said) = serving.unwrap().ended();
    assert!(code == Some(78) && said.contains("revoked"), "{code:?}: {said}");
    let (code, _) = device.run(&bench, &["node", "run"]);
    assert_eq!(code, Some(78));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_shows_the_keys_and_needs_a_person_or_yes() {
    let bench = bench(&[]).await;
    let gateway = started(&bench);
    let device = Device::new(&bench, "{}");
    let (exit, said) = device.run(&bench, &["node", "pair", gateway.address(), "--name", "desk"]);
    assert_eq!(exit, Some(0), "{said}");
    let line =
        |said: &str, begin: &str| said.lines().find(|line| line.starts_with(begin)).unwrap().to_owned();
    let keys = ["this device: ", "the gateway: "].map(|begin| line(&said, begin));
    let code = line(&said, "toolkit gateway nodes approve ").rsplit(' ').next().unwrap().to_owned();
    let refused = run(&bench, &["gateway", "nodes", "approve", &code]).await;
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && told.contains("--yes") && told.contains("`desk`"), "{told}");
    assert!(keys.iter().all(|key| told.contains(key)), "{keys:?}: {told}");
    let listed = as_json(&bench, &["gateway", "nodes"]).await;
    assert_eq!(listed["nodes"][0]["state"], "pending", "{listed}");
    let approved = printed(&bench, &["gateway", "nodes", "approve", &code, "--yes"]).await;
    assert!(approved.starts_with("approved desk-"), "{approved}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_describes_a_device_and_reads_its_place() {
    let bench = bench(&[json!({ "action": "list" }), json!({ "action": "list" })]).await;
    let gateway = started(&bench);
    let device = Device::new(
        &bench,
        "{ node: { location: { latitude: 52.5, longitude: 13.25, label: 'the desk' } } }",
    );
    let serving = device.serving(&bench, &gateway).await;
    assert!(last(&called(&bench).await).contains(&serving.id));
    drop(serving);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_device_runs_commands_only_under_its_own_rules() {
    for (config, expected) in [
        (
            "{ node: { run: true }, permission: { exec: [{ match: 'touch *', do: 'allow' }], edit: 'allow' } }",
            None,
        ),
        ("{ node: { run: true } }", Some("a rule of its configuration")),
        ("{ permission: { exec: 'allow' } }", Some("/action: expected one of")),
    ] {
        let bench = Bench::with([], "permission: { node: \"allow\" }").await;
        let gateway = started(&bench);
        let device = Device::new(&bench, config);
        let serving = device.serving(&bench, &gateway).await;
        let run = async |command: &str| {
            let arguments = json!({ "action": "run", "nodeId": serving.id, "command": command });
            bench.answer([call("1", "nodes", &arguments), text("Done.")]);
            last(&called(&bench).await)
        };
        let result = run("touch made").await;
        let made = device.keys().join("workspace/made");
        match expected {
            None => assert!(made.exists(), "{result}"),
            Some(expected) => assert!(result.contains(expected) && !made.exists(), "{result}"),
        }
        // Whatever the rules say, the key is not read.
        let result = run("cat ../node.key > copied; true").await;
        let copied = fs::read(device.keys().join("workspace/copied")).unwrap_or_default();
        assert!(copied.is_empty(), "{result}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_connects_again_and_refuses_a_gateway_with_another_key() {
    let bench = bench(&[]).await;
    let gateway = started(&bench);
    let address = gateway.address().to_owned();
    let device = Device::new(&bench, "{}");
    let mut serving = device.serving(&bench, &gateway).await;
    gateway.kill();
    let start = || Running::of(command(&bench, &["gateway", "--address", &address])).unwrap();
    let again = tokio::task::block_in_place(start);
    let mut said = String::new();
    tokio::task::block_in_place(|| {
        while !said.contains("connected as ") {
            assert_ne!(serving.err.read_line(&mut said).unwrap(), 0, "{said}");
        }
    });
    again.kill();

    // The same address, with a key that was made anew.
    fs::remove_file(bench.directory.path().join("data/gateway.key")).unwrap();
    let _other = tokio::task::block_in_place(start);
    let (code, said) = serving.ended();
    assert!(code == Some(78) && said.contains("another key"), "{code:?}: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_in_plain_text_is_of_this_machine_alone() {
    let bench = bench(&[]).await;
    let device = Device::new(&bench, "{}");
    let (code, said) = device.run(&bench, &["node", "pair", "gateway.example:4170"]);
    assert!(code == Some(2) && said.contains("plain text"), "{said}");
    let (code, said) = device.run(&bench, &["node", "run"]);
    assert!(code == Some(78) && said.contains("node pair"), "{said}");
}

/// A program that runs until the end of the test.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program that writes a word on a line once it is ready, and returns that.
fn beside(program: &Path, args: &[&str]) -> (Beside, String) {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Beside(child), line.trim().to_owned())
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Xvfb: cargo xtask test"]
async fn an_agent_sees_the_screen_of_a_device() {
    let bench = Bench::with([], "permission: { node: \"allow\" }").await;
    let gateway = started(&bench);
    // A white screen, on a display that is free.
    let screen = ["-displayfd", "1", "-wr", "-screen", "0", "320x200x24", "-nolisten", "tcp"];
    let (_screen, number) = beside(Path::new("Xvfb"), &screen);
    let mut device = Device::new(&bench, "{}");
    device.environment.push(("DISPLAY", format!(":{number}")));
    let serving = device.serving(&bench, &gateway).await;
    bench.answer([
        call("1", "nodes", &json!({ "action": "screenshot", "nodeId": serving.id })),
        text("Done."),
    ]);
    let request = called(&bench).await.to_string();
    let (_, rest) = request.split_once("data:image/png;base64,").unwrap_or_else(|| panic!("{request}"));
    let (picture, _) = rest.split_once('"').unwrap();
    let bytes = data_encoding::BASE64.decode(picture.as_bytes()).unwrap();
    let picture = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert_eq!(picture.dimensions(), (320, 200));
    // But for the pointer in the middle.
    for (x, y) in [(0, 0), (319, 0), (0, 199), (319, 199), (40, 150)] {
        assert_eq!(picture.get_pixel(x, y).0, [255, 255, 255], "{x}, {y}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs dbus and notify-send: cargo xtask test"]
async fn an_agent_shows_a_notification_on_a_device() {
    let bench = Bench::with([], "permission: { node: \"allow\" }").await;
    let gateway = started(&bench);
    let place = bench.directory.path();
    let socket = format!("unix:path={}", place.join("bus").display());
    let bus = ["--session", "--nofork", "--print-address=1", "--address", &socket];
    let (_bus, address) = beside(Path::new("dbus-daemon"), &bus);
    let python = toolkit_tests::repository().join("target/tools/python/bin/python");
    let double = toolkit_tests::repository().join("hosts/cli/tests/it/fixture/notifications.py");
    let shown = place.join("shown.json");
    let arguments = [double.to_str().unwrap(), &address, shown.to_str().unwrap()];
    let (_double, ready) = beside(&python, &arguments);
    assert_eq!(ready, "ready");

    let mut device = Device::new(&bench, "{}");
    device.environment.push(("DBUS_SESSION_BUS_ADDRESS", address));
    let serving = device.serving(&bench, &gateway).await;
    let (title, body) = ("--help; $(touch evil)", "a <b>line</b>\nand `another`");
    let arguments = json!({ "action": "notify", "nodeId": serving.id, "title": title, "text": body });
    bench.answer([call("1", "nodes", &arguments), text("Done.")]);
    let result = last(&called(&bench).await);
    assert!(result.contains("was shown"), "{result}");
    let shown: Value = serde_json::from_str(&fs::read_to_string(shown).unwrap()).unwrap();
    let escaped = body.replace('<', "&lt;").replace('>', "&gt;");
    assert_eq!(shown, json!({ "application": "toolkit", "title": title, "text": escaped }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_unit_of_a_device_is_written_and_removed() {
    let bench = bench(&[]).await;
    let mut device = Device::new(&bench, "{}");
    let home = bench.directory.path().join("config");
    device.environment.push(("XDG_CONFIG_HOME", home.display().to_string()));
    let unit = home.join("systemd/user/toolkit-node.service");
    let (code, said) = device.run(&bench, &["node", "install"]);
    assert_eq!(code, Some(0), "{said}");
    let written = fs::read_to_string(&unit).unwrap();
    assert!(written.contains(" node run\n") && written.contains("TOOLKIT_NODE_DIR="), "{written}");
    assert!(written.contains("RestartPreventExitStatus=78"), "{written}");
    let (code, _) = device.run(&bench, &["node", "uninstall"]);
    assert!(code == Some(0) && !unit.exists());
    assert!(run(&bench, &["gateway", "nodes"]).await.status.success(), "the store is enough for it");
}

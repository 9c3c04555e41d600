//! `docs/configuration.md` says what is so: each example is loaded as it stands, and each of its claims compared.

#![cfg(feature = "fs")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod document;
#[cfg(feature = "messaging")]
mod messages;
#[cfg(feature = "sessions")]
mod sessions;
mod tools;

extern crate self as examples;

// Its section of the configuration is among the examples.
use toolkit_models as _;

// Servers are among them, too; this program brings in no tools of theirs.
toolkit::config_section!(
    toolkit::config::ConfigSection::at::<BTreeMap<String, serde_json::Value>>("mcp")
        .entries(toolkit::config::ConfigEntries::new().also_under("servers").servers())
);

use document::{Call, Document, Example, Seen};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    approval::{Answer, Question, ScriptedApprover},
    config::{Configuration, LoadOptions},
    descriptor::Source,
};

/// The tools of this crate count as core tools, as those that they stand for will.
#[expect(unused_imports, reason = "that this crate is linked needs no mention")]
mod linked {
    toolkit::link!(core: builtin_tools, core: examples);
}

static TEXT: LazyLock<String> = LazyLock::new(|| {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/configuration.md")).unwrap()
});

/// A house for one claim: files that calls are about, and the example's configuration.
struct House {
    root: TempDir,
    example: Configuration,
}

impl House {
    fn new(example: &Example) -> Result<Self, String> {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for path in ["work/README.md", "work/src/main.rs", "work/src/generated/api.rs", "elsewhere.txt"] {
            write(path, "old\n");
        }
        for path in ["work/.env", "work/.git/config", "work/.git/hooks/pre-commit"] {
            write(path, "old\n");
        }
        for path in ["work/docs/index.md", "work/legal/terms.md"] {
            write(path, "old\n");
        }
        if let Some(text) = &example.user {
            write("user/toolkit.json5", text);
        }
        if let Some(text) = &example.project {
            write("work/toolkit.json5", text);
        }
        let options = LoadOptions::new()
            .user_file(root.path().join("user/toolkit.json5"))
            .workspace(root.path().join("work"))
            .data_dir(root.path().join("data"))
            .environment([("DOCS_TOKEN", "hunter2hunter2"), ("ANTHROPIC_API_KEY", "hunter2hunter2")]);
        let example = Configuration::load(options).map_err(|error| error.to_string())?;
        Ok(Self { root, example })
    }

    fn toolkit(&self, approver: Option<ScriptedApprover>) -> Toolkit {
        let builder = Toolkit::builder()
            // As the command, whose calls have read nothing before.
            .for_one_call()
            .configuration(self.example.clone())
            .data_dir(self.root.path().join("data"))
            .leave_out_incomplete();
        #[cfg(feature = "web")]
        let builder = builder.shared_service::<dyn toolkit_http::Resolver>(std::sync::Arc::new(Nowhere));
        #[cfg(feature = "sessions")]
        let builder = builder.shared_service::<dyn builtin_tools::sessions::SessionService>(
            std::sync::Arc::new(sessions::NoSessions),
        );
        #[cfg(feature = "messaging")]
        let builder = builder.shared_service::<dyn builtin_tools::messaging::MessageService>(
            std::sync::Arc::new(messages::NoMessages),
        );
        let builder = tools::others().into_iter().fold(builder, toolkit::Builder::tool);
        let builder = approver.into_iter().fold(builder, toolkit::Builder::approver);
        builder.build().unwrap()
    }

    /// The caller that a document means.
    fn caller(&self, who: &str) -> Result<Caller, String> {
        let mut caller = Caller::new().with_workspace(self.root.path().join("work"));
        for part in who.split(", ") {
            match part.split_once(' ').unwrap_or((part, "")) {
                ("anybody", "") | ("nobody", "to ask") => {}
                ("agent", name) => caller.agent = Some(name.to_owned()),
                ("channel", name) => caller.channel = Some(name.to_owned()),
                ("conversation", id) => caller.conversation_id = Some(id.to_owned()),
                ("sender", id) => caller.sender_id = Some(id.to_owned()),
                ("provider", name) => caller.provider = Some(name.to_owned()),
                ("model", name) => caller.model = Some(name.to_owned()),
                ("sandboxed", "") => caller.sandboxed = true,
                ("sub-agent", "") => caller.depth = 1,
                _ => return Err(format!("nobody is called `{who}`")),
            }
        }
        Ok(caller)
    }
}

/// Knows no name, so that nothing is fetched from the internet.
#[cfg(feature = "web")]
struct Nowhere;

#[cfg(feature = "web")]
impl toolkit_http::Resolver for Nowhere {
    fn resolve<'a>(&'a self, _: &'a str, _: u16) -> toolkit_http::Resolving<'a> {
        Box::pin(async { Err(std::io::ErrorKind::NotFound.into()) })
    }
}

/// Returns the faults of an example.
fn check(document: &Document, example: &Example) -> Vec<String> {
    let seen = example.seen.iter().filter_map(|seen| fault_of_seen(document, example, seen));
    let calls = example.calls.iter().filter_map(|call| fault_of_call(example, call));
    seen.chain(calls).map(|fault| format!("{}: {fault}", example.title)).collect()
}

/// Why it is not so that somebody sees these tools.
fn fault_of_seen(document: &Document, example: &Example, seen: &Seen) -> Option<String> {
    let mut claimed = seen.tools.clone();
    claimed.sort_unstable();
    match tools_of(document, example, &seen.who) {
        Err(problem) => Some(problem),
        Ok(there) => {
            (claimed != there).then(|| format!("{} has the tools {there:?}, not {claimed:?}", seen.who))
        }
    }
}

/// Why it is not so that a call comes to this.
fn fault_of_call(example: &Example, call: &Call) -> Option<String> {
    let Call { who, tool, argument, outcome: claimed, .. } = call;
    match outcome_of(example, call) {
        Err(problem) => Some(problem),
        Ok(outcome) => {
            (outcome != *claimed).then(|| format!("`{tool} {argument}` by {who}: {outcome}, not {claimed}"))
        }
    }
}

/// Which of the document's tools a caller's model is shown, by name.
fn tools_of(document: &Document, example: &Example, who: &str) -> Result<Vec<String>, String> {
    let house = House::new(example)?;
    let caller = house.caller(who)?;
    let toolbox = runtime().block_on(house.toolkit(None).toolbox(&caller));
    let names = toolbox.shown().into_iter().map(|tool| tool.name().to_owned());
    Ok(names.filter(|name| document.tools.iter().any(|(other, _)| other == name)).collect())
}

/// Returns the outcome of the last repetition of a call, where everything that is asked is allowed.
fn outcome_of(example: &Example, call: &Call) -> Result<String, String> {
    let house = House::new(example)?;
    let caller = house.caller(&call.who)?.with_session("one");
    let approver = ScriptedApprover::always(Answer::allow());
    let is_somebody_there = !call.who.contains("nobody to ask");
    let toolkit = house.toolkit(is_somebody_there.then(|| approver.clone()));
    runtime().block_on(async {
        let toolbox = toolkit.toolbox(&caller).await;
        let (mut outcome, mut said) = (String::new(), 0);
        for time in 0..call.times {
            let arguments = tools::arguments(&call.tool, &call.argument).to_string();
            let result = toolbox.call(ToolCall::new(time.to_string(), &call.tool, arguments)).await;
            let asked = approver.asked();
            let kinds: Vec<String> = asked[said..]
                .iter()
                .map(|ask| match ask.question() {
                    Question::Approve(ask) => format!("`{}`", ask.kind),
                    other => format!("{other:?}"),
                })
                .collect();
            said = asked.len();
            outcome = match result.error().map(toolkit::ToolError::kind) {
                Some(ToolErrorKind::Denied) if toolbox.tool(&call.tool).is_none() => "not there".to_owned(),
                Some(ToolErrorKind::Denied) => "denied".to_owned(),
                Some(ToolErrorKind::InvalidArguments | ToolErrorKind::UnknownTool) => {
                    return Err(format!("no such call: {}", result.text()));
                }
                _ if !kinds.is_empty() => format!("asks ({})", kinds.join(", ")),
                _ if result.text().contains("returned the same result") => {
                    "runs, and the model is told".to_owned()
                }
                _ => "runs".to_owned(),
            };
        }
        Ok(outcome)
    })
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

#[test]
fn every_claim_is_so() {
    let document = Document::parse(&TEXT).unwrap();
    assert!(document.examples.len() >= 12, "{}", document.examples.len());
    let faults: Vec<String> =
        document.examples.iter().flat_map(|example| check(&document, example)).collect();
    assert!(faults.is_empty(), "docs/configuration.md says what is not so:\n{}", faults.join("\n"));
}

#[test]
fn the_tools_are_whose_the_document_says() {
    let document = Document::parse(&TEXT).unwrap();
    let house = House::new(&document.examples[0]).unwrap();
    let toolkit = house.toolkit(None);
    for (name, owner) in &document.tools {
        let tool = toolkit.tool(name).unwrap_or_else(|| panic!("{name} is not there"));
        let is_so = match tool.source() {
            Source::Core => tool.groups().any(|group| *owner == format!("group:{group}")),
            other => *owner == other.to_string().replace('`', ""),
        };
        assert!(is_so, "{name} is of {}, not of {owner}", tool.source());
    }
}

/// The examples name nothing that a toolkit with all of these tools does not know, and ignore nothing unsaid.
#[test]
fn what_is_noticed_is_what_the_text_tells_of() {
    let document = Document::parse(&TEXT).unwrap();
    for example in &document.examples {
        let house = House::new(example).unwrap();
        let noticed = house.toolkit(None).diagnostics().iter().map(ToString::to_string).collect::<Vec<_>>();
        let of_files: Vec<&String> = noticed.iter().filter(|text| text.contains("toolkit.json5")).collect();
        let wants_more = example.project.as_ref().is_some_and(|text| text.contains("alsoAllow"));
        let expected = if wants_more { 4 } else { 0 };
        assert_eq!(of_files.len(), expected, "{}: {of_files:#?}", example.title);
        if let Some(last) = of_files.last() {
            assert!(last.contains("does not enable the optional tool `forecast_radar`"), "{last}");
            assert!(last.contains("`tools.alsoAllow` of a file that is trusted can"), "{last}");
        }
    }
}

#[test]
fn no_claim_can_be_altered_unnoticed() {
    const OUTCOMES: [&str; 4] = ["runs", "denied", "not there", "asks (`edit`)"];
    let document = Document::parse(&TEXT).unwrap();
    let mut altered = 0;
    for example in &document.examples {
        for (place, seen) in example.seen.iter().enumerate() {
            let mut wrong = seen.clone();
            match place % 2 {
                0 => drop(wrong.tools.pop()),
                _ => wrong.tools.push("write_more".to_owned()),
            }
            altered += 1;
            assert!(fault_of_seen(&document, example, &wrong).is_some(), "{}: {wrong:?}", example.title);
        }
        for (place, call) in example.calls.iter().enumerate() {
            let mut others = OUTCOMES.into_iter().filter(|other| *other != call.outcome);
            let outcome = others.nth(place % 3).unwrap().to_owned();
            let wrong = Call { outcome, ..call.clone() };
            altered += 1;
            assert!(fault_of_call(example, &wrong).is_some(), "{}: {wrong:?}", example.title);
        }
    }
    assert!(altered > 80, "{altered}");

    // And so is a text that was altered, whatever was.
    for (from, to) in [
        ("| anybody | `read .env` | denied |", "| anybody | `read .env` | runs |"),
        ("| agent status | `message` |", "| agent status | `message`, `exec` |"),
        ("| anybody | all but `forecast_radar` |", "| anybody | all |"),
        ("tools: { allow: [\"read\", \"glob\", \"grep\"] }", "tools: { allow: [\"read\", \"glob\"] }"),
        ("{ match: \"git push*\", do: \"deny\" }", "{ match: \"git pull*\", do: \"deny\" }"),
        ("agents: { kid: ", "agents: { child: "),
        ("loopGuard: { tell: 2,", "loopGuard: { tell: 3,"),
        ("tools: { profile: \"messaging\" }", "tools: { profil: \"messaging\" }"),
        ("| sub-agent | `write notes.txt`", "| somebody else | `write notes.txt`"),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, *TEXT, "{from} is not in the document");
        let altered = Document::parse(&text).unwrap();
        let is_other = |example: &&Example| !document.examples.contains(example);
        let mut faults =
            altered.examples.iter().filter(is_other).flat_map(|example| check(&altered, example));
        assert!(faults.next().is_some(), "{from} -> {to} is not noticed");
    }
    for (from, to) in [
        ("| who | tools |", "| whom | tools |"),
        ("// toolkit.json5 of the project", "// somewhere"),
        ("| anybody | `forecast` | runs |", "| anybody | forecast | runs |"),
        ("| agent web | `web_search` |", "| agent web | everything |"),
        ("all but `exec`, `process`", "all but `exek`, `process`"),
        ("```json5\n// ~/.config/toolkit/toolkit.json5\n{}\n```", "nothing"),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, *TEXT, "{from} is not in the document");
        assert!(Document::parse(&text).is_err(), "{from} -> {to} is not noticed");
    }
}

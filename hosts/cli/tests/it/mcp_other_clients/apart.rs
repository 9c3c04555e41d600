//! The things of one client that another can see, answer, cancel and end, by their tokens and the version of the protocol.

use super::driven::{
    Driven,
    Era::{self, Legacy, Modern},
    Language::{self, Python, TypeScript},
};
use super::person::{Person, is_running, until};
use Thing::{Allowance, Call, Job, Output, Question, Session, Stream};
use serde_json::{Value, json};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Something that a client has.
#[derive(Debug, Clone, Copy)]
enum Thing {
    /// A command in the background.
    Job,
    /// An answer that counts until the end of the session.
    Allowance,
    /// A question that waits for an answer.
    Question,
    /// A call that runs.
    Call,
    /// The stream of a call.
    Stream,
    /// A session of the protocol.
    Session,
    /// An output that was too long for an answer.
    Output,
}

/// The way of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The session or the connection of the client that attempts it.
    Own,
    /// The session id of the other client.
    Id,
    /// A name that cannot be guessed: the state of a call that waits, or the address of an output.
    Name,
}

const BOTH: &[Era] = &[Legacy, Modern];
const WITH_SESSIONS: &[Era] = &[Legacy];
const WITHOUT: &[Era] = &[Modern];

/// The versions, the thing, the action, its way, and whether it may be done with the tokens of each kind.
type Row = (&'static [Era], Thing, &'static str, By, [bool; 3]);

/// The actions that a client may do with things of another one, in this order: with a token of another principal, with another token of the
/// same principal, with the same shared token; as `docs/mcp.md` has it.
const TABLE: &[Row] = &[
    (BOTH, Job, "list", By::Own, [false, true, false]),
    (BOTH, Job, "poll", By::Own, [false, true, false]),
    (BOTH, Job, "stop", By::Own, [false, true, false]),
    (WITH_SESSIONS, Job, "list", By::Id, [false, true, true]),
    (WITH_SESSIONS, Job, "stop", By::Id, [false, true, true]),
    (BOTH, Allowance, "use", By::Own, [false, true, false]),
    (WITH_SESSIONS, Question, "answer", By::Own, [false, false, false]),
    (WITH_SESSIONS, Question, "answer", By::Id, [false, true, true]),
    (WITHOUT, Question, "answer", By::Name, [false, true, true]),
    (BOTH, Call, "cancel", By::Own, [false, false, false]),
    (WITH_SESSIONS, Call, "cancel", By::Id, [false, true, true]),
    (BOTH, Stream, "resume", By::Own, [false, false, false]),
    (WITH_SESSIONS, Stream, "resume", By::Id, [false, true, true]),
    (BOTH, Output, "list", By::Own, [false, true, false]),
    (BOTH, Output, "read", By::Name, [false, true, true]),
    // The last one: nothing of the session is left if it may be ended.
    (WITH_SESSIONS, Session, "end", By::Id, [false, true, true]),
];

/// The tokens of two clients: of the one that has something, and of the other; and the place in a row of the table.
const TOKENS: &[([&str; 2], usize)] = &[
    (["ada", "eve"], 0),
    (["ada", "shared"], 0),
    (["shared", "ada"], 0),
    (["ada", "ada's phone"], 1),
    (["shared", "shared"], 2),
];

/// The version, the languages of the owner and of the other, their tokens, and the place in a row of the table.
type Case = (Era, [Language; 2], [&'static str; 2], usize);

const CLIENTS: &[(Era, [Language; 2])] = &[
    (Legacy, [Python, TypeScript]),
    (Legacy, [TypeScript, Python]),
    (Modern, [Python, TypeScript]),
    (Modern, [TypeScript, Python]),
];

/// Returns the cases: those with the shared token and an own one with the owner in Python only.
fn cases() -> impl Iterator<Item = Case> {
    CLIENTS.iter().flat_map(|&(era, languages)| {
        let is_mixed = |names: [&str; 2]| (names[0] == "shared") != (names[1] == "shared");
        let tokens = TOKENS.iter().filter(move |&&(names, _)| languages[0] == Python || !is_mixed(names));
        tokens.map(move |&(names, place)| (era, languages, names, place))
    })
}

#[test]
#[ignore = "needs the Python and TypeScript clients of MCP: cargo xtask test"]
fn two_clients_can_do_with_each_others_things_what_their_tokens_allow() {
    let person = Person::new();
    fs::write(person.path("user/toolkit.json5"), "{ permission: { exec: 'allow' } }").unwrap();
    let (_served, address) = person.serve();
    let cases = Mutex::new(cases().enumerate());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = cases.lock().unwrap().next();
                    let Some((number, case)) = next else { return };
                    let of_case = wrong_rows(&person, &address, number, case);
                    wrong.lock().unwrap().extend(of_case);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Attempts the rows of a case, and returns those with another outcome than in the table.
fn wrong_rows(person: &Person, address: &[String], number: usize, case: Case) -> Vec<String> {
    let (era, languages, names, place) = case;
    let [owner, other] = tokens(person, names, number, &address[1]);
    let start = |language, token: &str| Driven::start(person, language, era, &address[0], token);
    // Both start at once, which takes most of the time.
    let (mut owner, mut other) = (start(languages[0], &owner), start(languages[1], &other));
    owner.connected(era);
    other.connected(era);
    // With the shared token, a connection ends what it has, and a library may close it after each answer.
    let lasts = era == Legacy || names[0] != "shared";
    let mut pair = Pair { person, owner, other, lasts, number, attempts: 0 };
    let mut wrong = Vec::new();
    for &(_, thing, action, by, allowed) in TABLE.iter().filter(|row| row.0.contains(&era)) {
        let row = format!("{era:?} {languages:?} {names:?}: {thing:?} {action} {by:?}");
        match catch_unwind(AssertUnwindSafe(|| pair.attempt(era, thing, action, by))) {
            Ok(is_done) if is_done == allowed[place] => {}
            Ok(is_done) => wrong.push(format!("{row} is {is_done}")),
            // The clients may be anywhere in it.
            Err(_) => {
                wrong.push(format!("{row} cannot be attempted"));
                break;
            }
        }
    }
    wrong
}

/// Makes the tokens of two clients. Each case has principals of its own.
fn tokens(person: &Person, names: [&str; 2], number: usize, shared: &str) -> [String; 2] {
    names.map(|name| {
        let (own, principal) = (format!("{}{number}", name.replace("'s ", "-")), format!("ada{number}"));
        match name {
            "shared" => shared.to_owned(),
            "ada's phone" => person.add_token(&[&own, "--principal", &principal]),
            _ => person.add_token(&[&own]),
        }
    })
}

/// Two clients, of which the other attempts something with what the owner has.
struct Pair<'a> {
    person: &'a Person,
    owner: Driven,
    other: Driven,
    /// True if the owner's jobs and allowances are there after a request.
    lasts: bool,
    number: usize,
    attempts: usize,
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"do": "call", "name": tool, "arguments": arguments})
}

fn text(outcome: &Value) -> &str {
    outcome["text"].as_str().unwrap_or_default()
}

impl Pair<'_> {
    /// Lets the owner have something, and returns true if the other can do the action with it.
    fn attempt(&mut self, era: Era, thing: Thing, action: &str, by: By) -> bool {
        self.attempts += 1;
        let mark = format!("9{}{:02}{:02}", std::process::id(), self.number, self.attempts);
        let session = match by {
            By::Id => self.owner.session.clone(),
            _ => self.other.session.clone(),
        };
        match thing {
            Job => self.job(&mark, action, session.filter(|_| by == By::Id)),
            Allowance => self.allowance(era, &mark),
            Question if era == Modern => self.suspended_question(&mark),
            Question => self.question(&mark, session.as_deref()),
            Call => self.call(&mark, session.as_deref()),
            Stream => self.stream(&mark, session.as_deref()),
            Output => self.output(&mark, action),
            Session => {
                self.other.done(&json!({"do": "delete", "session": session}));
                self.owner.tried(&json!({"do": "ping"})).is_err()
            }
        }
    }

    /// Sends a request of the other client, by a session that it names, and waits until it was handled.
    fn send(&mut self, session: Option<&str>, message: &Value) {
        self.other.done(&json!({"do": "send", "session": session, "message": message}));
        self.settle();
    }

    /// Waits until what the other client sent before was handled.
    fn settle(&mut self) {
        self.other.done(&json!({"do": "resources"}));
    }

    fn job(&mut self, mark: &str, action: &str, session: Option<String>) -> bool {
        let background = json!({"command": format!("sleep {mark}"), "run_in_background": true});
        let started = self.owner.done(&call("exec", &background));
        if self.lasts {
            until("the job's start", || is_running(mark));
        }
        let id = text(&started).split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let id = id
            .into_iter()
            .find(|word| word.starts_with("job_"))
            .unwrap_or_else(|| panic!("{started}"))
            .to_owned();
        let arguments = match action {
            "list" => json!({"action": "list"}),
            "poll" => json!({"action": "poll", "task_id": id, "wait_ms": 10}),
            _ => json!({"action": "stop", "task_id": id}),
        };
        let is_done = match session {
            None => {
                let said = self.other.done(&call("process", &arguments));
                if action == "list" { text(&said).contains(mark) } else { said["is_error"] == false }
            }
            Some(session) => {
                let params = json!({"name": "process", "arguments": arguments});
                let id = format!("request {}", self.attempts);
                let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
                let sent = self.other.done(&json!({"do": "send", "session": session, "message": message}));
                let is_received = sent["status"] == 200;
                if is_received {
                    assert_eq!(self.other.done(&json!({"do": "receives", "text": id})), true, "{sent}");
                }
                let shows = self.other.done(&json!({"do": "has_received", "text": mark})) == true;
                if action == "list" { shows } else { !is_running(mark) }
            }
        };
        self.owner.done(&call("process", &json!({"action": "stop", "task_id": id})));
        until("the job's end", || !is_running(mark));
        is_done
    }

    fn write(mark: &str) -> Value {
        json!({"file_path": format!("{mark}.txt"), "content": "written\n"})
    }

    fn is_written(&self, mark: &str) -> bool {
        self.person.path("work").join(format!("{mark}.txt")).exists()
    }

    /// The owner is asked for permission to write a file.
    fn asked(&mut self, mark: &str) -> Value {
        self.owner.done(&json!({"do": "begin", "name": "write", "arguments": Self::write(mark)}));
        self.owner.done(&json!({"do": "question"}))
    }

    /// The action by which a client of the protocol without sessions answers.
    fn coming_back(mark: &str, question: &Value, content: &Value) -> Value {
        json!({
            "do": "come_back", "name": "write", "arguments": Self::write(mark),
            "state": question["state"], "names": question["names"], "content": content,
        })
    }

    fn allowance(&mut self, era: Era, mark: &str) -> bool {
        let question = self.asked(mark);
        let content = json!({"allow": "session"});
        let written = if era == Modern {
            self.owner.done(&Self::coming_back(mark, &question, &content))
        } else {
            self.owner.done(&json!({"do": "answer", "content": content}));
            self.owner.done(&json!({"do": "end"}))
        };
        assert_eq!(written["is_error"], false, "{written}");
        let again = self.owner.done(&call("write", &Self::write(mark)));
        assert!(!self.lasts || again["was_asked"] == false && again["is_error"] == false, "{again}");
        // A file that the other has not read, it would not be allowed to change.
        fs::remove_file(self.person.path("work").join(format!("{mark}.txt"))).unwrap();
        let of_other = self.other.done(&call("write", &Self::write(mark)));
        let is_done = self.is_written(mark);
        assert_eq!(of_other["was_asked"] == false, is_done, "{of_other}");
        is_done
    }

    fn question(&mut self, mark: &str, session: Option<&str>) -> bool {
        let question = self.asked(mark);
        let result = json!({"action": "accept", "content": {"allow": "once"}});
        self.send(session, &json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
        self.owner.done(&json!({"do": "answer", "content": null}));
        let ended = self.owner.done(&json!({"do": "end"}));
        assert_eq!(ended["is_error"] == false, self.is_written(mark), "{ended}");
        self.is_written(mark)
    }

    fn suspended_question(&mut self, mark: &str) -> bool {
        let question = self.asked(mark);
        let answered = self.other.tried(&Self::coming_back(mark, &question, &json!({"allow": "once"})));
        let is_done = self.is_written(mark);
        assert_eq!(answered.is_ok(), is_done, "{answered:?}");
        // The answer of the owner counts if no other one did.
        let own = self.owner.tried(&Self::coming_back(mark, &question, &json!({"allow": "once"})));
        assert_eq!(own.is_ok(), !is_done, "{own:?}");
        is_done
    }

    fn call(&mut self, mark: &str, session: Option<&str>) -> bool {
        let arguments = json!({"command": format!("sleep {mark}")});
        let begun = self.owner.done(&json!({"do": "begin", "name": "exec", "arguments": arguments}));
        until("the call's start", || is_running(mark));
        let params = json!({"requestId": begun["id"]});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        let sent = self.other.done(&json!({"do": "send", "session": session, "message": message}));
        self.settle();
        let is_own = session == self.other.session.as_deref();
        if !is_own && sent["status"] == 202 {
            until("the call's end", || !is_running(mark));
        }
        let is_done = !is_running(mark);
        self.owner.done(&json!({"do": "abort"}));
        until("the call's end", || !is_running(mark));
        is_done
    }

    fn stream(&mut self, mark: &str, session: Option<&str>) -> bool {
        let gate = format!("{mark}.gate");
        let command = format!("until test -e {gate}; do sleep 0.1; done; echo said $((1{mark} - 1))");
        let said = format!("said 1{}", mark.parse::<u64>().unwrap() - 1);
        let arguments = json!({"command": command});
        let call = json!({"do": "begin", "name": "exec", "arguments": arguments, "resumable": true});
        let begun = self.owner.done(&call);
        // In the protocol without sessions, events have no ids: this is one of a session.
        let event = begun["event"].as_str().unwrap_or("0/1");
        let resumed = self.other.done(&json!({"do": "resume", "session": session, "event": event}));
        fs::write(self.person.path("work").join(gate), "").unwrap();
        let is_own = session == self.other.session.as_deref();
        if !is_own && resumed["status"] == 200 {
            let is_done = self.other.done(&json!({"do": "receives", "text": said})) == true;
            let _ = self.owner.tried(&json!({"do": "abort"}));
            return is_done;
        }
        let ended = self.owner.done(&json!({"do": "end"}));
        assert!(text(&ended).contains(&said), "{ended}");
        self.settle();
        self.other.done(&json!({"do": "has_received", "text": said})) == true
    }

    fn output(&mut self, mark: &str, action: &str) -> bool {
        let long =
            self.owner.done(&call("exec", &json!({"command": format!("seq -f 'line {mark} %.0f' 1 20000")})));
        let uri = long["links"][0].as_str().unwrap_or_else(|| panic!("{long}")).to_owned();
        if action == "list" {
            return self.other.done(&json!({"do": "resources"})).to_string().contains(&uri);
        }
        let read = |client: &mut Driven| {
            let read = client.tried(&json!({"do": "read", "uri": uri}));
            read.is_ok_and(|read| text(&read).contains(&format!("line {mark} 1\n")))
        };
        assert!(read(&mut self.owner), "{uri}");
        read(&mut self.other)
    }
}

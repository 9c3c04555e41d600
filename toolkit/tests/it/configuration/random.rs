//! Configurations at random, from their texts to what tools do: what only takes away never gives.
//!
//! `TOOLKIT_CONFIG_CASES=100000 cargo nextest run --release -p agent-toolkit nothing_that_takes_away` for many cases.

use super::Place;
use serde_json::{Map, Value, json};
use std::env;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit::prelude::*;
use toolkit::{
    Approver,
    approval::{Answer, Answering, PendingAsk},
    config::{Configuration, LoadOptions},
    tool_ref,
};

/// Changes something.
#[tool(group = "mine", permission = "change", alias = "alter")]
async fn change() {}

/// Changes something else, and its author lets it run unasked.
#[tool(group = ["mine", "other"], permission = "mend", auto_execute)]
async fn mend() {}

/// Only looks.
#[tool(group = "other", read_only)]
async fn look() {}

const TOOLS: [&str; 3] = ["change", "mend", "look"];

/// Tells whether it was asked, and says no.
#[derive(Debug, Default)]
struct Asked(AtomicBool);

impl Approver for Asked {
    fn ask<'a>(&'a self, _: &'a PendingAsk) -> Answering<'a> {
        self.0.store(true, Ordering::Relaxed);
        Box::pin(async { Some(Answer::deny().into()) })
    }
}

/// A member of an object, and what makes it.
type Member<'a> = (&'a str, &'a mut dyn FnMut(&mut Numbers) -> Value);

/// Numbers that look random, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn entries(&mut self) -> Value {
        const ENTRIES: [&str; 14] = [
            "change",
            "Alter",
            "mend",
            "look",
            "ch*",
            "*",
            "*o*",
            "group:mine",
            "group:other",
            "group:*",
            "group:plugins",
            "toolkit-configuration-test",
            "toolkit-*",
            "unknown",
        ];
        (0..=self.below(3)).map(|_| self.one(&ENTRIES)).collect()
    }

    /// Some of these members.
    fn some(&mut self, members: &mut [Member<'_>], one_in: usize) -> Value {
        let mut made = Map::new();
        for (name, make) in members {
            if self.once_in(one_in) {
                made.insert((*name).to_owned(), make(self));
            }
        }
        made.into()
    }

    fn rules(&mut self) -> Value {
        self.some(
            &mut [
                ("profile", &mut |numbers| numbers.one(&["team", "Team ", "full", "nobody"]).into()),
                ("allow", &mut Self::entries),
                ("alsoAllow", &mut Self::entries),
                ("deny", &mut Self::entries),
            ],
            5,
        )
    }

    fn of_names(&mut self, names: &[&str], mut make: impl FnMut(&mut Self) -> Value) -> Value {
        let names: Vec<&str> = (0..self.below(3)).map(|_| self.one(names)).collect();
        names.into_iter().map(|name| (name.to_owned(), make(self))).collect::<Map<_, _>>().into()
    }

    fn by_provider(&mut self) -> Value {
        self.of_names(&["acme", "large", "acme/large", "*", "other/*"], Self::rules)
    }

    fn permission(&mut self) -> Value {
        self.of_names(&["change", "mend", "read", "m*", "*"], |numbers| match numbers.below(4) {
            0 => {
                let entry = |numbers: &mut Self| {
                    json!({"match": numbers.one(&["*", "change", "m*", "x"]), "do": numbers.one(&["allow", "ask", "deny"])})
                };
                (0..numbers.below(3)).map(|_| entry(numbers)).collect()
            }
            _ => numbers.one(&["allow", "allow", "ask", "deny"]).into(),
        })
    }

    fn document(&mut self) -> Value {
        let mut tools = self.rules();
        let more = self.some(
            &mut [
                ("profiles", &mut |numbers| {
                    numbers.of_names(&["team", "TEAM"], |numbers| {
                        numbers.some(&mut [("allow", &mut Self::entries), ("deny", &mut Self::entries)], 2)
                    })
                }),
                ("byProvider", &mut Self::by_provider),
                ("sandbox", &mut Self::rules),
                ("subagents", &mut Self::rules),
                ("settings", &mut |numbers| {
                    numbers.of_names(&TOOLS, |numbers| {
                        let mut switch = |numbers: &mut Self| numbers.once_in(2).into();
                        let mut other = |numbers: &mut Self| numbers.once_in(2).into();
                        numbers.some(&mut [("enabled", &mut switch), ("autoExecute", &mut other)], 2)
                    })
                }),
            ],
            3,
        );
        tools.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut agent = |numbers: &mut Self| {
            numbers.of_names(&["kid", "Kid", "k*", "*", "other"], |numbers| {
                let mut tools = numbers.rules();
                if numbers.once_in(3) {
                    tools["byProvider"] = numbers.by_provider();
                }
                numbers
                    .some(&mut [("tools", &mut |_| tools.clone()), ("permission", &mut Self::permission)], 2)
            })
        };
        let mut channel = |numbers: &mut Self| {
            numbers.of_names(&["web", "w*", "mail"], |numbers| {
                numbers.some(&mut [("tools", &mut Self::rules), ("permission", &mut Self::permission)], 2)
            })
        };
        let mut plugins = |numbers: &mut Self| json!({"toolkit-configuration-test": {"enabled": !numbers.once_in(8)}, "prefer": ["unknown"]});
        let mut document = self.some(
            &mut [
                ("agents", &mut agent),
                ("channels", &mut channel),
                ("permission", &mut Self::permission),
                ("plugins", &mut plugins),
            ],
            2,
        );
        document["tools"] = tools;
        if self.once_in(20) {
            document["enableToolCalls"] = self.once_in(2).into();
        }
        document
    }

    fn environment(&mut self) -> Vec<(&'static str, &'static str)> {
        let all = [
            ("TOOLKIT_TOOLS__DENY", "['look']"),
            ("TOOLKIT_TOOLS__ALLOW", "['*']"),
            ("TOOLKIT_TOOLS__PROFILE", "team"),
            ("TOOLKIT_PERMISSION__CHANGE", "allow"),
            ("TOOLKIT_PERMISSION__MEND", "ask"),
            ("TOOLKIT_TOOLS__SETTINGS__CHANGE__AUTO_EXECUTE", "true"),
            ("TOOLKIT_AGENTS__KID__TOOLS__ALLOW", "['change', 'look']"),
            ("TOOLKIT_AGENTS__KID__PERMISSION", "{ change: 'ask' }"),
            ("TOOLKIT_ENABLE_TOOL_CALLS", "true"),
        ];
        all.into_iter().filter(|_| self.once_in(6)).collect()
    }

    fn caller(&mut self) -> Caller {
        let mut caller = Caller::new();
        caller.agent = (!self.once_in(3)).then(|| self.one(&["kid", "KID ", "other", "nobody"]).to_owned());
        caller.channel = self.once_in(2).then(|| self.one(&["web", "mail"]).to_owned());
        caller.provider = self.once_in(2).then(|| self.one(&["acme", "Other"]).to_owned());
        caller.model = self.once_in(2).then(|| self.one(&["large", "acme/large", "small"]).to_owned());
        (caller.sandboxed, caller.depth) = (self.once_in(3), u32::from(self.once_in(3)));
        caller
    }

    /// A deny more, in what the user says: in one of the lists, or of one kind of permission.
    fn deny(&mut self, document: &mut Value) {
        let pointer = self.one(&[
            "tools",
            "tools/sandbox",
            "tools/subagents",
            "tools/byProvider/acme",
            "agents/kid/tools",
            "agents/k*/tools",
            "agents/kid/tools/byProvider/large",
            "channels/web/tools",
            "permission",
            "agents/kid/permission",
            "channels/web/permission",
        ]);
        let mut here = document;
        for step in pointer.split('/') {
            here = here.as_object_mut().unwrap().entry(step).or_insert_with(|| json!({}));
        }
        if pointer.ends_with("permission") {
            here[self.one(&["change", "mend"])] = "deny".into();
        } else {
            let more = self.entries();
            let list = here.as_object_mut().unwrap().entry("deny").or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().extend(more.as_array().unwrap().iter().cloned());
        }
    }
}

/// The decision on a call; a later variant is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Runs,
    IsAsked,
    IsDenied,
    IsAbsent,
}

/// The decision on a call of each tool.
async fn fates(configuration: Configuration, caller: &Caller) -> [Fate; 3] {
    let asked = Arc::new(Asked::default());
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(change))
        .tool(tool_ref!(mend))
        .tool(tool_ref!(look))
        .approver(Arc::clone(&asked))
        // The lists name what a program may have, and this one has only a part of it.
        .permission_keys(["*", "group:*"])
        .configuration(configuration)
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(caller).await;
    let mut fates = [Fate::IsAbsent; 3];
    for (name, fate) in TOOLS.into_iter().zip(&mut fates) {
        if toolbox.tool(name).is_none() {
            continue;
        }
        asked.0.store(false, Ordering::Relaxed);
        let outcome = toolbox.call(ToolCall::new("1", name, "{}")).await.outcome;
        *fate = match outcome {
            Ok(_) => Fate::Runs,
            Err(_) if asked.0.load(Ordering::Relaxed) => Fate::IsAsked,
            Err(_) => Fate::IsDenied,
        };
    }
    fates
}

#[test]
fn nothing_that_takes_away_makes_a_tool_appear_or_a_question_vanish() {
    let cases = env::var("TOOLKIT_CONFIG_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200_u64);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let place = Place::new();
    let (mut seen, mut stricter) = ([0_u64; 4], 0_u64);
    for seed in 1..=cases {
        let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for file in ["work/toolkit.json5", "work/inner/toolkit.json5"] {
            let _ = fs::remove_file(place.path(file));
        }
        let mut user = numbers.document();
        let (environment, caller) = (numbers.environment(), numbers.caller());
        let load = || {
            let options: LoadOptions =
                place.options().workspace(place.path("work/inner")).environment(environment.clone());
            Configuration::load(options).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
        };
        place.write("user/toolkit.json5", &user.to_string());
        if numbers.once_in(3) {
            place.write("work/toolkit.json5", &numbers.document().to_string());
        }
        let before = runtime.block_on(fates(load(), &caller));
        let change = if numbers.once_in(2) {
            numbers.deny(&mut user);
            place.write("user/toolkit.json5", &user.to_string());
            format!("{user}")
        } else {
            let more = numbers.document();
            place.write("work/inner/toolkit.json5", &more.to_string());
            format!("{user} and then {more}")
        };
        let after = runtime.block_on(fates(load(), &caller));
        for ((tool, before), after) in TOOLS.into_iter().zip(before).zip(after) {
            seen[before as usize] += 1;
            stricter += u64::from(after > before);
            assert!(
                after >= before,
                "seed {seed}: `{tool}` was {before:?} and is {after:?} for {caller:?} with {environment:?} and {change}"
            );
        }
    }
    // Otherwise nothing was tried.
    assert!(seen.iter().all(|count| *count > cases / 20) && stricter > cases / 10, "{seen:?} {stricter}");
}

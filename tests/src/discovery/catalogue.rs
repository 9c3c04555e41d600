//! Tools as servers of well-known services might bring them: 40 services, 5 kinds of things each, 5 verbs for each of them.

use serde_json::{Map, Value, json};
use toolkit::{
    Tool,
    descriptor::{InvalidTool, Source},
};

/// How often the services may be taken before their tools are numbered anew.
const SERVICES: usize = 40;

/// A tool of the catalogue, before it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueTool {
    /// `service__verb_thing` or `service__thing_verb`.
    pub name: String,
    /// The service.
    pub service: String,
    /// The tool's description.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
}

impl CatalogueTool {
    /// As a tool of a server, which does nothing.
    ///
    /// # Errors
    ///
    /// When its schema is not valid.
    pub fn tool(&self) -> Result<Tool, InvalidTool> {
        Tool::builder(&self.name)
            .description(&self.description)
            .input_schema(self.schema.clone())
            .source(Source::mcp(&*self.service))
            .build(|_, _| async { "done" })
    }
}

/// So many tools, always the same. Beyond a thousand the same services come again as those of further accounts.
///
/// # Panics
///
/// Where `services.txt` is not as it says.
pub fn catalogue(count: usize) -> Vec<CatalogueTool> {
    let services: Vec<Service> = include_str!("services.txt").split("\n\n").map(Service::parse).collect();
    assert_eq!(services.len(), SERVICES);
    let mut tools = Vec::with_capacity(count);
    for round in 0.. {
        for service in &services {
            for thing in &service.things {
                for verb in thing.verbs {
                    if tools.len() == count {
                        return tools;
                    }
                    tools.push(tool(service, thing, verb, round));
                }
            }
        }
    }
    tools
}

struct Service {
    id: &'static str,
    title: String,
    verb_first: bool,
    things: Vec<Thing>,
}

struct Thing {
    name: &'static str,
    phrase: &'static str,
    verbs: [&'static str; 5],
}

impl Service {
    fn parse(paragraph: &'static str) -> Self {
        let mut lines = paragraph.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let head: Vec<&str> = lines.next().expect("a service has a head").split(' ').collect();
        let [id, title @ .., order] = &head[..] else { panic!("no head of a service: {head:?}") };
        let things = lines
            .map(|line| {
                let parts: Vec<&str> = line.split(": ").collect();
                let [name, phrase, verbs] = parts[..] else { panic!("no thing: {line}") };
                let verbs: Vec<&str> = verbs.split(' ').collect();
                Thing { name, phrase, verbs: verbs.try_into().expect("five verbs") }
            })
            .collect();
        Self { id, title: title.join(" "), verb_first: *order == "verb", things }
    }
}

fn tool(service: &Service, thing: &Thing, verb: &str, round: usize) -> CatalogueTool {
    let server = if round == 0 { service.id.to_owned() } else { format!("{}{}", service.id, round + 1) };
    let (first, second) = if service.verb_first { (verb, thing.name) } else { (thing.name, verb) };
    let name = format!("{server}__{first}_{second}");
    // Which way of saying it is always the same for a tool.
    let style = name.bytes().fold(7_usize, |sum, byte| (sum * 31 + usize::from(byte)) % 1_000_003);
    let (title, phrase) = (&service.title, thing.phrase);
    let account = if round == 0 { String::new() } else { format!(" This is account {}.", round + 1) };
    let words = verb.replace('_', " ");
    let does = third_person(&words);
    let what = match (verb, style % 3) {
        ("list", 0) => format!("Lists what there is of this in {title}, page by page: each is {phrase}."),
        ("list", 1) => format!(
            "Returns all entries of one kind from {title}. An entry is {phrase}; the newest come first."
        ),
        ("get" | "describe", 0) => {
            format!("Returns one by its id, with all details: {phrase}, from {title}.")
        }
        (_, 0) => format!("{does} {phrase} in {title}."),
        (_, 1) => format!("{does} {phrase}. Works on {title} with the account that is connected."),
        _ => format!("Use this to {words} {phrase} on {title}."),
    };
    let more = [
        " Returns its id and state.",
        " Needs the right to write in the workspace that it belongs to.",
        " The answer is JSON.",
        "",
        " Fails where it is not there or was changed meanwhile; read it again then.",
    ][style / 3 % 5];
    let description = format!("{what}{more}{account}");
    CatalogueTool { name, service: server, description, schema: schema(thing.name, verb) }
}

/// `creates`, `replies`, `tears down`.
fn third_person(words: &str) -> String {
    let (verb, rest) =
        words.split_once(' ').map_or((words, String::new()), |(verb, rest)| (verb, format!(" {rest}")));
    let is_vowel = |sign: Option<char>| sign.is_some_and(|sign| "aeiou".contains(sign));
    let verb = match verb.strip_suffix('y') {
        Some(stem) if !is_vowel(stem.chars().last()) => format!("{stem}ies"),
        _ if verb.ends_with(['s', 'x', 'o']) || verb.ends_with("sh") || verb.ends_with("ch") => {
            format!("{verb}es")
        }
        _ => format!("{verb}s"),
    };
    let mut signs = verb.chars();
    let first = signs.next().map(|sign| sign.to_ascii_uppercase());
    first.into_iter().chain(signs).collect::<String>() + &rest
}

fn schema(thing: &str, verb: &str) -> Value {
    let words = thing.replace('_', " ");
    let id = format!("{thing}_id");
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut add = |name: &str, schema: Value, is_required: bool| {
        properties.insert(name.to_owned(), schema);
        if is_required {
            required.push(name.to_owned());
        }
    };
    match verb {
        "list" | "search" | "find" => {
            add(
                "filter",
                json!({"type": "string", "description": "Only those that fit this expression."}),
                false,
            );
            add(
                "limit",
                json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "How many at most."}),
                false,
            );
            add("cursor", json!({"type": "string", "description": "Where the page before ended."}), false);
        }
        "create" | "add" | "post" | "send" | "upload" | "schedule" | "submit" | "register" | "open"
        | "start" => {
            add(
                "name",
                json!({"type": "string", "description": format!("What the {words} is called.")}),
                true,
            );
            add("content", json!({"type": "string", "description": "Its text, in Markdown."}), false);
            add(
                "tags",
                json!({"type": "array", "items": {"type": "string"}, "description": "Words to find it by."}),
                false,
            );
        }
        "update" | "edit" | "change" | "rename" | "configure" => {
            add(&id, json!({"type": "string", "description": format!("The id of the {words}.")}), true);
            add(
                "changes",
                json!({"type": "object", "description": "The fields to change, with their new values."}),
                true,
            );
        }
        _ => {
            add(&id, json!({"type": "string", "description": format!("The id of the {words}.")}), true);
            add("reason", json!({"type": "string", "description": "Why, for the log."}), false);
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

//! A server's tools as tools here.

use super::call;
use super::deferred::DEFERRED;
use super::execution::{self, Definition};
use super::known::{Change, Said};
use super::names;
use super::offered::Offered;
use super::server::{LeftOut, Server};
use super::visible;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use toolkit::{Tool, text::escape_hidden};

/// Returns the usable tools of those that a server lists, and the problems of the others.
pub(super) fn tools(
    server: &Arc<Server>,
    listed: &[Value],
    left_out: &mut LeftOut,
) -> (Vec<Tool>, Vec<String>) {
    let mut problems = Vec::new();
    let mut definitions: Vec<(&str, &Definition)> = Vec::new();
    for (number, value) in listed.iter().enumerate() {
        let definition = value.as_object();
        match definition.and_then(|definition| Some((definition.get("name")?.as_str()?, definition))) {
            Some((name, _)) if definitions.iter().any(|(other, _)| *other == name) => {
                problems.push(format!("its tool {name:?} is left out: it lists another of this name"));
            }
            Some(named) => definitions.push(named),
            None => problems.push(format!("entry {number} of its tools is left out: it has no name")),
        }
    }
    let all: Vec<&str> = definitions.iter().map(|(name, _)| *name).collect();
    let names = names::names(&server.prefix, &all);
    let said = definitions.iter().zip(&names).map(|((_, definition), here)| (&**here, Said::of(definition)));
    let (mut changes, problem) = server.known.note(&said.collect::<Vec<_>>());
    problems.extend(problem);
    let mut tools = Vec::new();
    for ((name, definition), here) in definitions.into_iter().zip(names) {
        let change = changes.remove(&here);
        if change.is_some() {
            problems
                .push(format!("its tool {name:?} has changed its definition; its next call needs approval"));
        }
        match tool(server, name, definition, &here, change) {
            Ok((tool, problem)) => {
                problems.extend(
                    problem.map(|why| format!("the `outputSchema` of its tool {name:?} is not used: {why}")),
                );
                tools.push(tool);
            }
            Err(why) => {
                problems.push(format!("its tool {name:?} is left out: {why}"));
                left_out.add(here, why);
            }
        }
    }
    (tools, problems)
}

/// Returns a tool, with the reason for which its output schema is not used, if it is not.
///
/// # Errors
///
/// The reason for which the tool cannot be used.
fn tool(
    server: &Arc<Server>,
    name: &str,
    definition: &Definition,
    here: &str,
    change: Option<Change>,
) -> Result<(Tool, Option<String>), String> {
    let task_support = execution::of(definition).and_then(|execution| execution.get("taskSupport"));
    if task_support.and_then(Value::as_str) == Some("required") {
        return Err("it runs only as a task, which this client does not support".to_owned());
    }
    let text = |key: &str| definition.get(key).and_then(Value::as_str);
    let hints = definition.get("annotations");
    let hint = |key: &str| hints.and_then(|hints| hints.get(key)).and_then(Value::as_bool);
    let schema = definition.get("inputSchema").filter(|schema| schema.is_object());
    let mut schema = schema.cloned().ok_or("its `inputSchema` is not an object schema")?;
    visible::schema(&mut schema)?;
    let mut tool = Tool::builder(here)
        .source(server.source.clone())
        .condition(&*server.launch)
        .description(escape_hidden(text("description").unwrap_or_default()))
        .input_schema(schema);
    let title = text("title").or_else(|| hints.and_then(|hints| hints.get("title")).and_then(Value::as_str));
    if let Some(title) = title {
        tool = tool.title(escape_hidden(title));
    }
    // They are shown, and loosen nothing: the tool's code is not here.
    if hint("readOnlyHint") == Some(true) {
        tool = tool.read_only();
    }
    if hint("idempotentHint") == Some(true) {
        tool = tool.idempotent();
    }
    if let Some(destructive) = hint("destructiveHint") {
        tool = tool.destructive(destructive);
    }
    if let Some(open_world) = hint("openWorldHint") {
        tool = tool.open_world(open_world);
    }
    let is_deferred = server.deferred.is_some()
        && definition.get("_meta").and_then(|meta| meta.get(DEFERRED)) == Some(&Value::Bool(true));
    // A deferred call keeps to its limit itself, and forgets its note before its error is told.
    tool = tool.timeout(if is_deferred { Duration::MAX } else { server.timeout });
    let offered = Arc::new(Offered::new(name, here, change).deferred(is_deferred));
    let server = Arc::clone(server);
    let run = move |context, args| {
        let (server, offered) = (Arc::clone(&server), Arc::clone(&offered));
        async move { call::call(&server, &offered, &context, args).await }
    };
    // The answer to a deferred call is not its result.
    let output = definition.get("outputSchema").filter(|schema| schema.is_object() && !is_deferred);
    let Some(mut output) = output.cloned() else {
        return Ok((tool.build(run).map_err(|error| error.problem)?, None));
    };
    let with_output = visible::schema(&mut output)
        .and_then(|()| tool.clone().output_schema(output).build(run.clone()).map_err(|error| error.problem));
    match with_output {
        Ok(tool) => Ok((tool, None)),
        // A tool without an output schema is of use too.
        Err(why) => Ok((tool.build(run).map_err(|error| error.problem)?, Some(why))),
    }
}

/// Returns the length of a value as JSON, without writing it.
pub(super) fn bytes(said: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, said) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

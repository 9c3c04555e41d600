//! The tools that a node serves. Only those that can work are there.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::BuildError;
use toolkit::{
    Caller, Content, Tool, ToolCall, ToolContext, ToolError, ToolErrorKind, ToolOutput, Toolkit,
    descriptor::DynamicArgs,
};

use crate::notify::{Notification, Notifier};
use crate::screenshot::{Screen, ScreenshotError};
use crate::session::platform;
use crate::settings::{NodeLocation, NodeSettings};

/// Time limit of a command, and of the others.
const RUN_WITHIN: Duration = Duration::from_secs(110);
const CALL_WITHIN: Duration = Duration::from_secs(30);
/// The most bytes of the text of a command's output.
const MAX_OUTPUT_BYTES: usize = 100_000;
/// The builtin tool that runs commands.
const EXEC: &str = "exec";

/// The toolkit of this machine by which commands are run, under its configuration, policy and sandbox.
#[derive(Debug, Clone)]
pub struct Commands {
    /// The toolkit, whose approver denies everything: a command that asks is run only if a rule allows it.
    pub toolkit: Toolkit,
    /// The caller.
    pub caller: Caller,
}

/// The abilities of this device.
#[derive(Debug, Clone, Default)]
pub struct Device {
    name: String,
    settings: NodeSettings,
    commands: Option<Commands>,
    screen: Screen,
}

impl Device {
    /// A device with these settings. Commands are run only if the settings say so and there is a toolkit for them.
    pub fn new(name: impl Into<String>, settings: NodeSettings, commands: Option<Commands>) -> Self {
        let commands = commands.filter(|_| settings.run);
        Self { name: name.into(), settings, commands, screen: Screen::default() }
    }

    /// Returns the toolkit with what can work now. Blocks.
    ///
    /// # Errors
    ///
    /// The toolkit cannot be built.
    pub fn toolkit(&self) -> Result<Toolkit, BuildError> {
        let mut tools = vec![location(self.settings.location.clone())];
        if self.settings.screenshot && self.screen.is_possible() {
            tools.push(picture(self.screen.clone()));
        }
        if let Some(notifier) = Notifier::find().filter(|_| self.settings.notify) {
            tools.push(notification(notifier));
        }
        if let Some(commands) = &self.commands {
            tools.push(command(commands.clone()));
        }
        let mut actions: Vec<String> = tools
            .iter()
            .flatten()
            .map(|tool| tool.name().to_owned())
            .chain(["describe".to_owned()])
            .collect();
        actions.sort();
        tools.push(described(&self.name, &actions));
        let mut builder = Toolkit::empty();
        for tool in tools {
            match tool {
                Ok(tool) => builder = builder.tool(tool),
                // A schema of this module is wrong.
                Err(error) => tracing::error!(%error, "a tool of the node is left out"),
            }
        }
        builder.build()
    }
}

type Made = Result<Tool, toolkit::descriptor::InvalidTool>;

fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

fn described(name: &str, actions: &[String]) -> Made {
    let facts = json!({
        "name": name,
        "platform": platform(),
        "version": env!("CARGO_PKG_VERSION"),
        "actions": actions,
    });
    Tool::builder("describe")
        .description("Describes this device: its name, platform, version and actions.")
        .input_schema(nothing())
        .read_only()
        .auto_execute()
        .timeout(CALL_WITHIN)
        .build(move |_: ToolContext, _: DynamicArgs| {
            let facts = facts.clone();
            async move { ToolOutput::json(facts) }
        })
}

fn location(place: Option<NodeLocation>) -> Made {
    Tool::builder("location")
        .description("Returns the place of this device.")
        .input_schema(nothing())
        .read_only()
        .auto_execute()
        .timeout(CALL_WITHIN)
        .build(move |_: ToolContext, _: DynamicArgs| {
            let place = place.clone();
            async move {
                match place {
                    Some(place) => ToolOutput::json(place),
                    None => Err(ToolError::unavailable(
                        "this device does not know its place: set `node.location` with `latitude` and `longitude` in its configuration",
                    )),
                }
            }
        })
}

fn picture(screen: Screen) -> Made {
    Tool::builder("screenshot")
        .description("Takes a picture of the screen of this device.")
        .input_schema(nothing())
        .read_only()
        .auto_execute()
        .timeout(CALL_WITHIN)
        .build(move |_: ToolContext, _: DynamicArgs| {
            let screen = screen.clone();
            async move {
                let picture = screen.picture().await.map_err(|error| {
                    let kind = match error {
                        ScreenshotError::Late(_) | ScreenshotError::LateBefore(_) => ToolErrorKind::TimedOut,
                        ScreenshotError::Busy => ToolErrorKind::Unavailable,
                        _ => ToolErrorKind::Failed,
                    };
                    ToolError::new(kind, error.to_string())
                })?;
                Ok::<_, ToolError>(ToolOutput::default().with_content(Content::image(picture, "image/png")))
            }
        })
}

fn notification(notifier: Notifier) -> Made {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 1, "maxLength": 200 },
            "text": { "type": "string", "maxLength": 4000 },
        },
        "required": ["title"],
        "additionalProperties": false,
    });
    let notifier = Arc::new(notifier);
    Tool::builder("notify")
        .description("Shows a notification on this device.")
        .input_schema(schema)
        .auto_execute()
        .timeout(CALL_WITHIN)
        .build(move |_: ToolContext, args: DynamicArgs| {
            let notifier = Arc::clone(&notifier);
            async move {
                let title: String = args.required("title")?;
                let text: Option<String> = args.optional("text")?;
                notifier.show(&Notification { title: &title, text: text.as_deref() }).await?;
                Ok::<_, ToolError>(ToolOutput::text("The notification was shown."))
            }
        })
}

fn command(commands: Commands) -> Made {
    let schema = json!({
        "type": "object",
        "properties": { "command": { "type": "string", "minLength": 1, "maxLength": 32768 } },
        "required": ["command"],
        "additionalProperties": false,
    });
    Tool::builder("run")
        .description("Runs a command in the shell of this device, under its rules.")
        .input_schema(schema)
        .auto_execute()
        .timeout(RUN_WITHIN)
        .build(move |ctx: ToolContext, args: DynamicArgs| {
            let commands = commands.clone();
            async move {
                let command: String = args.required("command")?;
                run(&commands, &ctx, &command).await
            }
        })
}

/// Runs a command by `exec` of this machine's toolkit.
async fn run(commands: &Commands, ctx: &ToolContext, command: &str) -> Result<ToolOutput, ToolError> {
    let toolbox = commands.toolkit.toolbox(&commands.caller).await;
    let within = u64::try_from(RUN_WITHIN.as_millis()).unwrap_or(u64::MAX);
    let arguments = json!({ "command": command, "timeout": within });
    let calling = toolbox.call(ToolCall::new(ctx.call_id(), EXEC, arguments));
    let result = tokio::select! {
        result = calling => result,
        () = ctx.cancelled() => return Err(ToolError::aborted("the command was cancelled; it may have done a part")),
    };
    match result.error() {
        Some(error) => Err(ToolError::new(error.kind(), error.message())),
        None => Ok(ToolOutput::text(cut(result.text().clone()))),
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_OUTPUT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_OUTPUT_BYTES));
        text.push_str("\n[cut here: the output is longer]");
    }
    text
}

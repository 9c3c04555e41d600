//! Tools with every kind of argument and every kind of result.

use serde_json::{Value, json};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::tool_ref;

/// Time between two events of a call that goes on.
const BETWEEN: Duration = Duration::from_millis(30);
/// Tools that only make the list long.
const MORE: usize = 300;
/// A chessboard of 96 by 48 pixels.
const PICTURE: &[u8] = b"iVBORw0KGgoAAAANSUhEUgAAAGAAAAAwCAMAAADZyI/9AAAACVBMVEUAAAAvXYrpxGqTPHIlAAAAPElEQVR42u3WIQ4AMAgDQLb/P5oEVYnY3FVWcK6hbuREXvUFAAAAC+DH0ewBAABgA5hrAADgLwIAAIBJA6iLGwF5Q9WDAAAAAElFTkSuQmCC";
const DIFF: &str = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2 <b>\n three\n";
/// Markup, marks that turn the direction of text, and sequences of a terminal.
const HOSTILE: &str = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script> \u{202e}txet\u{2066} \u{1b}]0;broken\u{7}\u{1b}[2J\u{1b}]8;;http://other.example/\u{1b}\\link\u{1b}]8;;\u{1b}\\ [x](javascript:alert(1)) ![p](http://other.example/p.png)";

/// Counts until it is done, or until it is cancelled if that is 0.
#[tool(group = "slow", read_only)]
async fn count(
    ctx: &ToolContext,
    /** The last number. */
    #[arg(default = 0)]
    to: u32,
    /** A word that is repeated. */
    word: Option<String>,
) -> Result<String, ToolError> {
    let mut done = 0;
    while to == 0 || done < to {
        done += 1;
        let total = if to == 0 { 1_000_000 } else { to };
        ctx.progress(Progress::new(done).with_total(total).with_message("counting"));
        if done < 200 {
            ctx.partial(Content::text(format!("{done}\n")));
        }
        ctx.check_cancelled()?;
        tokio::time::sleep(BETWEEN).await;
    }
    Ok(format!("counted {}", word.unwrap_or_default()))
}

/// Puts the site online.
#[tool(asks, group = "slow")]
async fn deploy(ctx: &ToolContext) -> Result<String, ToolError> {
    let ask = Ask::new("deploy", "Put the site online").with_pattern("site").with_diff("notes.txt", DIFF);
    ctx.ask(ask.with_command("make deploy SITE=example", "/srv/site").with_hint("It takes a minute."))
        .await?;
    Ok("deployed".to_owned())
}

/// Shows a picture, a sound, a difference, a table and colours.
#[tool(group = "shows", read_only)]
async fn shows() -> ToolOutput {
    let rows = json!([{ "name": "<i>one</i>", "count": 1 }, { "name": "two", "count": 9_007_199_254_740_993_u64, "note": null }]);
    ToolOutput::text("\u{1b}[1;32mgreen\u{1b}[0m plain \u{1b}[31mred\u{1b}[0m")
        .with_content(Content::text(DIFF))
        .with_content(Content::image(picture(), "image/png"))
        .with_content(Content::audio(sound(), "audio/wav"))
        .with_details(rows)
}

/// Fails.
#[tool(group = "shows", read_only)]
async fn fails() -> Result<String, ToolError> {
    Err(ToolError::unavailable("the printer <b>burns</b>"))
}

/// Returns a line of a megabyte.
#[tool(group = "hostile", read_only, truncate = "off")]
async fn line() -> String {
    "x<b>".repeat(262_144)
}

fn picture() -> Vec<u8> {
    data_encoding::BASE64.decode(PICTURE).unwrap()
}

/// A tone of a tenth of a second.
fn sound() -> Vec<u8> {
    let samples: Vec<u8> = (0..800_u16).map(|at| if at % 20 < 10 { 96 } else { 160 }).collect();
    let length = u32::try_from(samples.len()).unwrap();
    let mut file = b"RIFF".to_vec();
    file.extend((36 + length).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend([8_000_u32.to_le_bytes(), 8_000_u32.to_le_bytes()].concat());
    file.extend(b"\x01\0\x08\0data");
    file.extend(length.to_le_bytes());
    file.extend(samples);
    file
}

/// The schema of arguments of every kind.
fn kinds() -> Value {
    let tag = |name: &str| json!({ "type": "string", "const": name });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "count", "flag", "colour"],
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 20, "description": "A short text." },
            "text": { "type": "string", "description": "A long text." },
            "count": { "type": "integer", "minimum": 1, "maximum": 9, "description": "A small number." },
            "large": { "type": "integer", "minimum": 0, "maximum": u64::MAX, "description": "A large number." },
            "ratio": { "type": "number", "description": "A fraction." },
            "flag": { "type": "boolean", "description": "Yes or no." },
            "perhaps": { "type": "boolean", "description": "Yes, no or nothing." },
            "colour": { "enum": ["red", "green", "blue"], "description": "A colour." },
            "shape": {
                "description": "A shape.",
                "oneOf": [
                    {
                        "type": "object", "description": "A circle.", "required": ["kind", "radius"], "additionalProperties": false,
                        "properties": { "kind": tag("circle"), "radius": { "type": "number" } },
                    },
                    {
                        "type": "object", "description": "A square.", "required": ["kind", "side"], "additionalProperties": false,
                        "properties": { "kind": tag("square"), "side": { "type": "integer" } },
                    },
                ],
            },
            "points": {
                "type": "array", "description": "Points.",
                "items": {
                    "type": "object", "required": ["x"], "additionalProperties": false,
                    "properties": { "x": { "type": "integer", "description": "From the left." }, "y": { "type": "integer" } },
                },
            },
            "named": { "type": "object", "description": "Numbers by name.", "additionalProperties": { "type": "integer" } },
            "limit": { "type": "integer", "default": 10, "description": "A number with a default." },
            "nothing": { "type": ["string", "null"], "description": "A text, or null." },
            "secret": { "type": "string", "format": "password", "description": "A secret." },
            "file": { "type": "string", "contentEncoding": "base64", "description": "A file." },
            "pair": {
                "type": "array", "description": "A text and a number.", "items": false, "minItems": 2, "maxItems": 2,
                "prefixItems": [{ "type": "string" }, { "type": "integer" }],
            },
            "free": { "description": "Any JSON." },
        },
    })
}

/// Tools that are made of schemas.
fn made() -> Vec<Tool> {
    let every = Tool::builder("kinds")
        .description("Takes **every** kind of argument, and returns all.\n\n- one\n- two with `code`");
    let every = every.group("kinds").read_only().input_schema(kinds());
    let hostile = Tool::builder("hostile")
        .title("<b>Hostile</b> \u{202e}eltit")
        .description(HOSTILE)
        .group("hostile")
        .read_only();
    let schema = json!({
        "type": "object",
        "properties": { "<b>name</b>\u{202e}": { "type": "string", "description": HOSTILE, "enum": ["<i>", "\u{202e}b"] } },
    });
    let mut tools = vec![
        every.build(|_, arguments| async move { ToolOutput::json(arguments.value()) }).unwrap(),
        hostile
            .input_schema(schema)
            .build(|_, _| async { ToolOutput::text(HOSTILE).with_details(json!([{ HOSTILE: HOSTILE }])) })
            .unwrap(),
    ];
    tools.extend((0..MORE).map(|number| {
        let more = Tool::builder(format!("more_{number:03}"))
            .description(format!("Makes the list longer, as number {number}."));
        more.group("more").read_only().build(|_, _| async { "more" }).unwrap()
    }));
    tools
}

/// Returns a toolkit with all of them.
pub(super) fn toolkit() -> Toolkit {
    let builder = Toolkit::empty();
    let builder = builder.tools([
        tool_ref!(count),
        tool_ref!(deploy),
        tool_ref!(shows),
        tool_ref!(fails),
        tool_ref!(line),
    ]);
    made().into_iter().fold(builder, toolkit::Builder::tool).build().unwrap()
}

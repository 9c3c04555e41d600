use toolkit::prelude::*;

/// How fast.
#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema, Clone, Default)]
#[schemars(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
enum Speed { /// Slow.
 #[default] Slow, /// Fast.
 Fast }

const MAX: u32 = 10;

/// Reads a file.
#[tool(name = "probe", group = ["fs", "x"], read_only, alias = "cat", timeout = "30s", truncate(max_lines = 5, keep = "tail"))]
async fn probe(
    ctx: &ToolContext,
    /// The path.
    #[arg(alias = "path")] file_path: &Path,
    /// First line.
    #[arg(default = 1, range(1..))] offset: usize,
    #[arg(range(1..=MAX))] limit: Option<u32>,
    #[arg(default = "fast")] speed: Speed,
    #[arg(default = Speed::Fast)] speed2: Speed,
    #[arg(default)] flags: Vec<String>,
    words: Option<&[String]>,
    #[arg(length(1..5), pattern = "^[a-z]+$", default = "abc")] name: &str,
    maybe: Option<&str>,
) -> Result<String, std::io::Error> {
    let _ = (limit, speed, speed2, flags, words, name, maybe);
    Ok(format!("{} {} {offset}", ctx.call_id(), file_path.display()))
}

/// Blocks.
#[tool]
fn blocking(n: u8) -> Json<u8> { Json(n) }

#[tokio::test]
async fn works() {
    let toolkit = Toolkit::builder().build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    println!("{}", serde_json::to_string_pretty(&toolbox.definitions()).unwrap());
    let r = toolbox.call(ToolCall::new("1", "cat", r#"{"path":"x","offset":2.0,"limit":null}"#)).await;
    println!("{r:?}");
    let r = toolbox.call(ToolCall::new("1", "cat", r#"{"pth":"x","offset":0,"limit":11, "speed":"fsat","name":"ABCDEF"}"#)).await;
    println!("{}", r.text());
    let r = toolbox.call(ToolCall::new("1", "blocking", r#"{"n":300}"#)).await;
    println!("{}", r.text());
    let r = toolbox.call(ToolCall::new("1", "blocking", r#"{"n":30}"#)).await;
    println!("{}", r.text());
    println!("{:?}", toolkit::tool_ref!(probe).location());
}

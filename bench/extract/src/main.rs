//! Writes what `web_fetch` returns for pages in files: `extract PAGES TEXTS`. A server on loopback serves each `NAME.html` of
//! the first directory; the content of the results becomes `NAME.txt` in the second.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::json;
use tokio::runtime;
use toolkit::config::{Configuration, LoadOptions};
use toolkit::prelude::*;
use toolkit::{Toolbox, Toolkit, tool_ref};
use toolkit_loopback::{Answer, Loopback};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Maximum number of characters of a call.
const MAX_CHARS: usize = 40_000;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(pages), Some(texts)) = (arguments.next(), arguments.next()) else {
        return Err("usage: extract PAGES TEXTS".into());
    };
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(extract(pages, Path::new(&texts)))
}

async fn extract(pages: String, texts: &Path) -> Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(&pages)? {
        let name =
            entry?.file_name().into_string().map_err(|name| format!("{}: not UTF-8", name.display()))?;
        names.extend(name.strip_suffix(".html").map(str::to_owned));
    }
    names.sort();
    fs::create_dir_all(texts)?;
    let server = Loopback::start(move |request| match fs::read(format!("{pages}{}.html", request.path)) {
        Ok(html) => Answer::bytes(200, html).with_header("content-type", "text/html"),
        Err(_) => Answer::bytes(404, ""),
    })
    .await;
    let options = LoadOptions::new().set("tools.web.network.allowedRanges=['127.0.0.0/8']");
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(builtin_tools::web::web_fetch))
        .configuration(Configuration::load(options)?)
        .build()?;
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    for name in names {
        let text = content(&toolbox, &format!("{}/{name}", server.url())).await?;
        fs::write(texts.join(format!("{name}.txt")), text)?;
    }
    Ok(())
}

/// The content of a page, of as many calls as it needs.
async fn content(toolbox: &Toolbox, url: &str) -> Result<String> {
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let arguments = json!({ "url": url, "max_chars": MAX_CHARS, "offset": offset });
        let result = toolbox.call(ToolCall::new("1", "web_fetch", arguments)).await;
        let text = result.text();
        if result.outcome.is_err() {
            return Err(format!("{url}: {text}").into());
        }
        let (head, rest) = text.split_once("<untrusted-content-").ok_or("no content")?;
        let (_, rest) = rest.split_once("\n\n").ok_or("no explanation of the content")?;
        let (part, _) = rest.rsplit_once("\n</untrusted-content-").ok_or("no end of the content")?;
        whole.push_str(part);
        match head
            .rsplit_once("go on with `offset` ")
            .and_then(|(_, next)| next.split(')').next()?.parse().ok())
        {
            Some(next) => offset = next,
            None => return Ok(whole),
        }
    }
}

//! Bodies of tools that look like mistakes and are none.

use std::sync::Mutex;
use toolkit::prelude::*;

struct Db {
    count: Mutex<u32>,
}

/// Asks in all ways.
#[tool(asks)]
async fn ask_in_all_ways(ctx: &ToolContext, db: State<Db>) -> Result<String, ToolError> {
    match ctx.ask(Ask::new("a", "b")).await {
        Ok(()) => {}
        Err(error) => return Err(error),
    }
    if ctx.ask(Ask::new("a", "b")).await.is_err() {
        return Ok("no".into());
    }
    let allowed = ctx.ask(Ask::new("a", "b")).await.is_ok();
    if !allowed {
        return Ok("no".into());
    }
    if let Err(error) = ctx.ask(Ask::new("a", "b")).await {
        return Err(error);
    }
    let _ = ctx.ask(Ask::new("a", "b")).await;
    ctx.ask(Ask::new("a", "b")).await.ok();
    let answer = ctx.ask(Ask::new("a", "b")).await;
    if answer.is_err() {
        return Ok("no".into());
    }
    *db.count.lock().unwrap() += 1;
    ctx.progress(3);
    ctx.progress(f64::from(1) / f64::from(2));
    ctx.log("text");
    ctx.log(format!("{}", 1));
    ctx.ask(Ask::new("a", "b")).await.map_err(|error| error.with_message("no"))?;
    Ok("yes".into())
}

/// Returns the answer.
#[tool(asks)]
async fn return_the_answer(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask(Ask::new("a", "b")).await
}

/// Has errors of other types within.
#[tool(read_only)]
async fn has_other_errors() -> Result<u8, ToolError> {
    fn parsed(text: &str) -> Result<u8, String> {
        if text.is_empty() {
            return Err("empty".into());
        }
        Err("not a number".to_owned())
    }
    let parse = |text: &str| -> Result<u8, String> {
        if text.is_empty() {
            return Err("empty".into());
        }
        Ok(1)
    };
    let checked: Result<u8, &str> = if parse("a").is_ok() { Err("bad") } else { Ok(1) };
    let within = async {
        if checked.is_ok() {
            return Err::<(), String>("bad".to_owned());
        }
        Ok(())
    };
    within.await.map_err(ToolError::wrap)?;
    parsed("1").map_err(ToolError::wrap)
}

struct Other {
    count: u32,
}

impl Other {
    fn ask(&self, _: &str, _: u8) -> bool {
        self.count > 1
    }

    fn progress(&self, _: u8, _: u8) {}
}

/// Gives the names of its parameters to other values.
#[tool(read_only)]
async fn give_names_again(ctx: &ToolContext, db: State<Db>) -> String {
    let name = ctx.tool_name().to_owned();
    let ctx = Other { count: 1 };
    if ctx.ask("x", 1) {
        return name;
    }
    ctx.progress(1, 2);
    if let Some(mut db) = Some(Other { count: 1 }) {
        db.count += 1;
        drop(db);
    }
    drop(db);
    [Other { count: 1 }].iter().for_each(|ctx| {
        ctx.ask("a", 1);
    });
    name
}

trait Confirms {
    fn confirm(&self, _: &str, _: u8) -> bool {
        true
    }

    fn info(&self, _: &str) {}
}

impl Confirms for ToolContext {}

/// Has methods of a trait of its own on the context.
#[tool(read_only)]
async fn extend_the_context(ctx: &ToolContext) -> bool {
    ctx.info("x");
    ctx.confirm("a", 1)
}

/// Ends its locks in time.
#[tool(read_only)]
async fn end_locks_in_time(db: State<Db>) -> u32 {
    let before = {
        let count = db.count.lock().unwrap();
        *count
    };
    tokio::task::yield_now().await;
    let count = db.count.lock().unwrap();
    *count + before
}

/// Writes to its output without an import.
#[tool(read_only)]
async fn write_without_an_import(ctx: &ToolContext) -> Result<(), ToolError> {
    let mut output = ctx.output();
    output.write_all(b"line 2\n").await?;
    Ok(())
}

fn main() {}

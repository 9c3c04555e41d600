// errors: 2
use toolkit::prelude::*;

/// Counts.
#[tool(read_only)]
async fn count(ctx: &ToolContext, end: u32) -> u32 {
    let task = tokio::spawn(async move {
        ctx.progress(Progress::new(end));
        end
    });
    task.await.unwrap_or_default()
}

/// Counts in a thread.
#[tool(read_only)]
fn count_in_a_thread(ctx: &ToolContext, end: u32) -> u32 {
    let thread = std::thread::spawn(move || {
        ctx.progress(Progress::new(end));
        end
    });
    thread.join().unwrap_or_default()
}

fn main() {}

//! Tools of a crate that knows `toolkit` by another name only.

use renamed_toolkit::prelude::*;

/// The tools of this crate.
pub const NAMES: [&str; 4] = ["renamed_counted", "renamed_found", "renamed_read", "renamed_taken"];

/// A mode.
#[derive(Debug)]
#[renamed_toolkit::args(crate = ::renamed_toolkit)]
enum Mode {
    Fast,
    Slow,
}

/// Some arguments.
#[renamed_toolkit::args(crate = ::renamed_toolkit)]
struct Arguments {
    /// A number.
    #[arg(default = 3, range(1..=9))]
    number: u8,
    /// A word.
    #[arg(length(1..), pattern = "^a+$", alias = "w", secret, example = "a")]
    word: Option<String>,
}

/// Reads.
#[tool(name = "renamed_read", crate = ::renamed_toolkit, timeout = "30s", truncate(keep = "tail"))]
async fn read(
    ctx: &ToolContext,
    path: &Path,
    #[arg(default = 5, range(1..))] number: u8,
    #[arg(default = vec![1])] numbers: Vec<u8>,
    mode: Mode,
) -> Result<String, std::io::Error> {
    let _ = (ctx, numbers);
    Ok(format!("{}{number}{mode:?}", path.display()))
}

/// Takes a struct.
#[tool(name = "renamed_taken", crate = ::renamed_toolkit)]
fn taken(#[args] arguments: Arguments) -> Json<u8> {
    drop((arguments.word, Mode::Slow));
    Json(arguments.number)
}

/// Finds the crate by the manifest.
#[tool(name = "renamed_found")]
fn found(text: &str) -> String {
    text.to_owned()
}

struct Words(char);

#[renamed_toolkit::service]
fn words() -> Words {
    Words(' ')
}

#[renamed_toolkit::tools]
impl Words {
    /// Counts words.
    #[tool(name = "renamed_counted", read_only)]
    fn count(&self, text: &str) -> usize {
        text.split(self.0).count()
    }
}

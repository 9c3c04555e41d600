//! Has a tool that takes a service, and no place to provide one.

use toolkit::prelude::*;

struct Database;

/// Counts rows.
#[tool(read_only)]
async fn count(database: State<Database>) -> usize {
    let _ = database;
    0
}

fn main() -> std::process::ExitCode {
    if std::env::args().any(|argument| argument == "--provided") {
        let arguments = std::env::args_os().filter(|argument| argument != "--provided");
        return toolkit_cli::run(Toolkit::builder().service(Database), arguments);
    }
    toolkit_cli::main()
}

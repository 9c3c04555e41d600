//! The `toolkit` command.

fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

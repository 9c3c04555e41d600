//! Depends on a plugin that no code mentions.

fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

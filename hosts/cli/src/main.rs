//! The `toolkit` command.

fn main() -> std::process::ExitCode {
    // Where this process was started to look after commands, it does that and nothing else.
    #[cfg(feature = "runtime")]
    toolkit_sandbox::init();
    toolkit_cli::main()
}

//! Links a plugin.

toolkit::link!(second);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

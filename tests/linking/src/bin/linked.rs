//! Links plugins.

toolkit::link!(second, lean, fetching);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

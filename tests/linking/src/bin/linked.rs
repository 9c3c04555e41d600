//! Links plugins.

toolkit::link!(second, lean);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

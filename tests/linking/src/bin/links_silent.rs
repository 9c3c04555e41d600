//! Links a crate without tools.

toolkit::link!(second, silent);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

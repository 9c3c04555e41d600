//! Links a plugin under a name that its manifest does not have.

toolkit::link!(renamed);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

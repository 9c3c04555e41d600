//! Links a crate that links another.

toolkit::link!(umbrella);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

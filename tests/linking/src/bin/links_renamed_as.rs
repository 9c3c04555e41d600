//! Links a plugin under the name that its manifest has.

toolkit::link!(renamed as original);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

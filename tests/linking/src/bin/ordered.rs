//! Links plugins with tools of one name.

toolkit::link!(second, claims, third,);
fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}

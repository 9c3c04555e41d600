//! A supervisor for hosts that don't call [`toolkit_sandbox::init`] themselves: they hand its path to
//! [`toolkit_sandbox::supervise_with`].

use std::process::ExitCode;

fn main() -> ExitCode {
    toolkit_sandbox::init();
    let _ = std::io::Write::write_all(
        &mut std::io::stderr(),
        b"toolkit-supervisor is started by a program that runs commands, not manually\n",
    );
    ExitCode::FAILURE
}

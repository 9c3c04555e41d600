//! Standard input and output, reserved for the protocol.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::take;

/// Standard input and output, which tools must not write to here.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
pub(super) fn take() -> std::io::Result<(tokio::io::Stdin, tokio::io::Stdout)> {
    Ok((tokio::io::stdin(), tokio::io::stdout()))
}

//! Standard input and output, reserved for the protocol.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::take;

/// Standard input and output, which tools must not write to here.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
pub(super) fn take() -> std::io::Result<(tokio::io::Stdin, tokio::io::Stdout, Reader)> {
    Ok((tokio::io::stdin(), tokio::io::stdout(), Reader))
}

/// The reader of standard output, of which nothing is known here.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Reader;

#[cfg(not(unix))]
impl Reader {
    /// Returns true if standard output is read no more.
    pub(super) fn is_gone(&self) -> bool {
        false
    }
}

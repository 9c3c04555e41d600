//! An ordinary client, for plugins that communicate with a platform at an address that the user configured.

mod exchange;

pub use exchange::{Platform, PlatformAnswer, PlatformFailure};

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use std::time::Duration;

/// The longest time to make a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// Returns a client whose requests, from the connection to the last byte of the answer, take at most `timeout`. It follows no
/// redirect, which would forward the secrets to another host.
pub fn client(timeout: Duration) -> ClientBuilder {
    install_provider();
    Client::builder().connect_timeout(CONNECT_WITHIN.min(timeout)).timeout(timeout).redirect(Policy::none())
}

/// A client whose answers may go on for any time, for whoever limits the time between two pieces. A connection is made within
/// `connect` at most, and it follows no redirect.
pub fn streaming_client(connect: Duration) -> ClientBuilder {
    install_provider();
    Client::builder().connect_timeout(connect).redirect(Policy::none())
}

/// Installs the provider of cryptography, unless the program has chosen one.
///
/// `reqwest` is built without a provider here. Features of cargo apply to all crates of a program, so a client of another crate has none either,
/// and panics when it is made. Each crate that needs this feature therefore calls this function at the start of its programs.
pub fn install_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// Reads the whole answer; `None` if it has more than `most` bytes.
///
/// # Errors
///
/// When the connection ends before the answer does, or the time is over.
pub async fn read(mut response: Response, most: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut whole = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if whole.len() + chunk.len() > most {
            return Ok(None);
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(Some(whole))
}

/// Returns the reason for which a request failed: the message of its innermost error, without the URL, which may contain a
/// secret.
pub fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

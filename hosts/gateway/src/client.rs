//! A client of a gateway: for the command line and for programs on the same machine.

mod events;

pub use events::{EventStream, ServerEvent};
pub use toolkit_serve::axum::http::Method;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use toolkit_serve::axum::http::header;

use crate::address_file::AddressFile;
use crate::people::OWNER_TOKEN_FILE;
use crate::store::Store;

/// The longest time of a request that is answered at once.
const WITHIN: Duration = Duration::from_secs(90);
/// The longest time to make a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The longest answer, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Why a gateway gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No gateway has the data directory.
    #[error("no gateway runs with the data directory {}; start one with `toolkit gateway`", data_dir.display())]
    NotRunning {
        /// The data directory.
        data_dir: PathBuf,
    },
    /// A file of the gateway cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// It was not reached, or the connection ended.
    #[error("the gateway at {address} did not answer: {reason}")]
    Unreachable {
        /// Its address.
        address: String,
        /// Why.
        reason: String,
    },
    /// It refused the request.
    #[error("{reason}")]
    Refused {
        /// The status.
        status: u16,
        /// The words of the gateway.
        reason: String,
    },
    /// Its answer is none of a gateway.
    #[error("the answer of {address} is none of a gateway: {reason}")]
    Answer {
        /// Its address.
        address: String,
        /// Why.
        reason: String,
    },
}

/// A client of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct GatewayClient {
    address: String,
    token: String,
    http: reqwest::Client,
}

impl GatewayClient {
    /// A client of the gateway at an address such as `127.0.0.1:4170`, with a token.
    ///
    /// # Errors
    ///
    /// The client cannot be made.
    pub fn new(address: impl fmt::Display, token: impl Into<String>) -> Result<Self, ClientError> {
        let address = address.to_string();
        // A proxy of the environment is not for this machine. Each request has a connection of its own: the gateway ends those of a token that is
        // revoked, and of itself when it stops, and a request on one that just ended would fail without an answer, perhaps after it was done.
        let made =
            toolkit_http::streaming_client(CONNECT_WITHIN).no_proxy().pool_max_idle_per_host(0).build();
        let http = made.map_err(|error| ClientError::Unreachable {
            address: address.clone(),
            reason: toolkit_http::reason(error),
        })?;
        Ok(Self { address, token: token.into(), http })
    }

    /// A client of the gateway that runs with a data directory, as its owner. Blocks briefly.
    ///
    /// # Errors
    ///
    /// None runs, or its files cannot be read.
    pub fn of_data_dir(data_dir: &Path) -> Result<Self, ClientError> {
        let not_running = || ClientError::NotRunning { data_dir: data_dir.to_owned() };
        // A file with an address may be left of one that was killed, and another program may listen there by now: it must not get the token.
        if !Store::is_in_use(data_dir) {
            return Err(not_running());
        }
        let address = match AddressFile::read(data_dir) {
            Ok(address) => address,
            // It is about to start, or to end.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(not_running()),
            Err(reason) => {
                return Err(ClientError::File { path: data_dir.join(AddressFile::NAME), reason });
            }
        };
        let path = data_dir.join(OWNER_TOKEN_FILE);
        let token = fs::read_to_string(&path).map_err(|reason| ClientError::File { path, reason })?;
        Self::new(address, token.trim())
    }

    /// The address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Asks for what is at a path.
    ///
    /// # Errors
    ///
    /// The gateway is not reached, or refuses.
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::GET, path, None).await
    }

    /// Sends a value to a path.
    ///
    /// # Errors
    ///
    /// The gateway is not reached, or refuses.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Sends a request; the answer is `null` if it has no body.
    ///
    /// # Errors
    ///
    /// The gateway is not reached, or refuses.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        let mut request = self.request(method, path).timeout(WITHIN);
        if let Some(body) = body {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let response = request.send().await.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        let read = toolkit_http::read(response, MAX_BYTES).await.map_err(|error| self.unreachable(error))?;
        let Some(bytes) = read else {
            return Err(self.no_answer(format!("it has more than {MAX_BYTES} bytes")));
        };
        if !status.is_success() {
            return Err(refused(status.as_u16(), &bytes));
        }
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&bytes).map_err(|error| self.no_answer(error.to_string()))
    }

    /// Opens the stream of events, after the one with a number if one is given.
    ///
    /// # Errors
    ///
    /// The gateway is not reached, or refuses.
    pub async fn events(&self, path: &str, after: Option<i64>) -> Result<EventStream, ClientError> {
        let mut request = self.request(Method::GET, path).header(header::ACCEPT, "text/event-stream");
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let response = request.send().await.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        if !status.is_success() {
            let read =
                toolkit_http::read(response, MAX_BYTES).await.map_err(|error| self.unreachable(error))?;
            return Err(refused(status.as_u16(), &read.unwrap_or_default()));
        }
        Ok(EventStream::new(response, self.address.clone()))
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.address)).bearer_auth(&self.token)
    }

    fn unreachable(&self, error: reqwest::Error) -> ClientError {
        ClientError::Unreachable { address: self.address.clone(), reason: toolkit_http::reason(error) }
    }

    fn no_answer(&self, reason: String) -> ClientError {
        ClientError::Answer { address: self.address.clone(), reason }
    }
}

impl fmt::Debug for GatewayClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayClient").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The error of an answer with problem details.
fn refused(status: u16, body: &[u8]) -> ClientError {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    let said = ["detail", "title"].into_iter().find_map(|key| problem.get(key)?.as_str());
    let reason = said.map_or_else(|| format!("the gateway answered with status {status}"), str::to_owned);
    ClientError::Refused { status, reason }
}

/// Returns a part of a path, percent-encoded.
pub fn path_part(text: &str) -> String {
    let mut part = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            part.push(char::from(byte));
        } else {
            part.push('%');
            part.push(char::from(b"0123456789ABCDEF"[usize::from(byte >> 4)]));
            part.push(char::from(b"0123456789ABCDEF"[usize::from(byte & 15)]));
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_path_is_one_part() {
        assert_eq!(path_part("agent:main:local:a/b %é"), "agent%3Amain%3Alocal%3Aa%2Fb%20%25%C3%A9");
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_gateway() {
        let text = |body: &str| refused(404, body.as_bytes()).to_string();
        assert_eq!(text(r#"{"title":"Not Found","detail":"there is no session"}"#), "there is no session");
        assert_eq!(text(r#"{"title":"Not Found"}"#), "Not Found");
        assert_eq!(text("<html>"), "the gateway answered with status 404");
    }
}

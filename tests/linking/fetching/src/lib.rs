//! A plugin with an HTTP client of its own, without TLS. Another crate of its host switches TLS on, since features of cargo apply to all
//! crates of a program, and its client needs a provider of cryptography then.

use toolkit::prelude::*;

struct Fetcher(reqwest::Client);

#[toolkit::service]
fn fetcher() -> Fetcher {
    Fetcher(reqwest::Client::new())
}

/// Makes a request, and does not send it.
#[tool(read_only)]
fn prepare_request(fetcher: &State<Fetcher>) -> Result<String, ToolError> {
    let request =
        fetcher.0.0.get("http://localhost/").build().map_err(|error| ToolError::failed(error.to_string()))?;
    Ok(request.url().to_string())
}

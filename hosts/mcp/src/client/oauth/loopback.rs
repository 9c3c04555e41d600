//! Sign-in of a user on this machine: the browser is redirected to a local port.

use crate::client::sign_in::{SignIn, SigningIn};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use reqwest::Url;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Gets the name of a server and the address to open.
type Show = dyn Fn(&str, &str) + Send + Sync;

/// Path of the redirect URL.
const PATH: &str = "/callback";
/// Time limit for a connection to send its request.
const WORD: Duration = Duration::from_secs(5);
/// Maximum number of bytes of that request.
const MAX_BYTES: usize = 16 << 10;
/// Maximum number of connections at once.
const MAX_AT_ONCE: usize = 32;

/// Lets a person at this machine sign in: shows them the address, and waits at a port of 127.0.0.1 for their browser.
///
/// ```no_run
/// use std::sync::Arc;
/// use toolkit_mcp::{ClientOptions, Loopback};
///
/// # async fn options() -> std::io::Result<ClientOptions> {
/// let sign_in = Loopback::bind(None, |server, url| println!("To sign in to {server}, open {url}")).await?;
/// Ok(ClientOptions::new().sign_in(Arc::new(sign_in)))
/// # }
/// ```
pub struct Loopback {
    listener: Mutex<TcpListener>,
    port: u16,
    show: Box<Show>,
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loopback").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Loopback {
    /// Waits at this port, or any that is free. `show` gets the server's name and the address to open.
    ///
    /// # Errors
    ///
    /// If the port is unavailable.
    pub async fn bind(
        port: Option<u16>,
        show: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener: Mutex::new(listener), port, show: Box::new(show) })
    }
}

impl SignIn for Loopback {
    fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    fn sign_in<'a>(&'a self, server: &'a str, url: &'a str) -> SigningIn<'a> {
        Box::pin(async move {
            let listener = self.listener.lock().await;
            let expected = state(url);
            (self.show)(server, url);
            let mut visits = FuturesUnordered::new();
            loop {
                // Browsers open connections that they may never use, so connections are handled concurrently.
                tokio::select! {
                    accepted = listener.accept(), if visits.len() < MAX_AT_ONCE => match accepted {
                        Ok((stream, _)) => visits.push(visit(stream, self.port, expected.as_deref())),
                        Err(error) => return Err(format!("the browser cannot be waited for: {error}")),
                    },
                    Some(returned) = visits.next(), if !visits.is_empty() => {
                        if let Some(returned) = returned {
                            return Ok(returned);
                        }
                    }
                }
            }
        })
    }
}

/// Reads and answers a connection. Returns the URL if it is the expected redirect.
async fn visit(mut stream: TcpStream, port: u16, expected: Option<&str>) -> Option<String> {
    let target = timeout(WORD, target(&mut stream)).await.ok()??;
    let returned = format!("http://127.0.0.1:{port}{target}");
    // Any page can send a browser here; who signs in knows the state.
    let is_it = target.split('?').next() == Some(PATH)
        && expected.is_some()
        && state(&returned).as_deref() == expected;
    let (status, text) = if is_it {
        ("200 OK", "You can close this page: the program that started the sign-in shows its result.")
    } else {
        ("404 Not Found", "No sign-in waits for this page.")
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}\n",
        text.len() + 1
    );
    let _ = timeout(WORD, async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    is_it.then_some(returned)
}

/// Returns the `state` parameter of a URL, which identifies one attempt to sign in.
fn state(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned())
}

/// The path and query of a request, without its headers.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    let mut buffer = [0; 2048];
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&buffer[..count]);
        if read.len() > MAX_BYTES {
            return None;
        }
    }
    let line = read.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let is_get = words.next() == Some("GET");
    words.next().filter(|target| is_get && target.starts_with('/')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    async fn visit(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    #[tokio::test]
    async fn only_whoever_knows_the_state_ends_the_wait() {
        let shown = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sign_in = {
            let shown = Arc::clone(&shown);
            let show = move |server: &str, url: &str| shown.lock().unwrap().push(format!("{server} {url}"));
            Arc::new(Loopback::bind(None, show).await.unwrap())
        };
        let port = sign_in.port;
        assert_eq!(sign_in.redirect_uri(), format!("http://127.0.0.1:{port}/callback"));
        let waiting = {
            let sign_in = Arc::clone(&sign_in);
            tokio::spawn(async move { sign_in.sign_in("docs", "https://login.example/?state=right").await })
        };
        for wrong in [
            "GET /favicon.ico HTTP/1.1\r\n\r\n",
            "GET /callback?code=c&state=wrong HTTP/1.1\r\n\r\n",
            "GET /callback?code=c HTTP/1.1\r\n\r\n",
            "GET /other?code=c&state=right HTTP/1.1\r\n\r\n",
        ] {
            assert!(visit(port, wrong).await.starts_with("HTTP/1.1 404"), "{wrong}");
        }
        assert_eq!(visit(port, "POST /callback?code=c&state=right HTTP/1.1\r\n\r\n").await, "");
        assert_eq!(visit(port, &"x".repeat(40_000)).await, "");
        assert!(!waiting.is_finished());
        let answer = visit(port, "GET /callback?code=c&state=right HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let returned = waiting.await.unwrap().unwrap();
        assert_eq!(returned, format!("http://127.0.0.1:{port}/callback?code=c&state=right"));
        assert_eq!(*shown.lock().unwrap(), ["docs https://login.example/?state=right"]);
    }
}

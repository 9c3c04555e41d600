//! HTTP over one connection that is kept.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::Result;

/// A connection that is kept.
#[derive(Debug)]
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Opens one to an address, `host:port`.
    pub async fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self::of(stream))
    }

    /// Takes a stream that is open.
    pub fn of(stream: TcpStream) -> Self {
        Self(BufReader::new(stream))
    }

    /// Sends a request, and returns the status and the body of the answer.
    pub async fn request(
        &mut self,
        method: &str,
        path: &str,
        token: &str,
        body: &str,
    ) -> Result<(u16, Vec<u8>)> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.get_mut().write_all(request.as_bytes()).await?;
        let (first, body) = self.read().await?.ok_or("the connection was closed")?;
        let status = first.split(' ').nth(1).ok_or("no status")?.parse()?;
        Ok((status, body))
    }

    /// Reads a message: its first line and its body; `None` if the connection was closed.
    pub async fn read(&mut self) -> Result<Option<(String, Vec<u8>)>> {
        let mut first = String::new();
        if self.0.read_line(&mut first).await? == 0 {
            return Ok(None);
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        Ok(Some((first, body)))
    }

    /// Answers a request.
    pub async fn answer(&mut self, kind: &str, body: &str) -> Result<()> {
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Ok(self.0.get_mut().write_all(answer.as_bytes()).await?)
    }
}

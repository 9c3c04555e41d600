//! A client of `WebSocket` (RFC 6455) that carries messages of text, each ended by a zero byte on this side of it.

use data_encoding::BASE64;
use std::io;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader, DuplexStream, duplex, split,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Maximum number of bytes of the answer to the handshake.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// The bytes that wait on their way to the reader of messages, and from the writer of them.
const BUFFER: usize = 256 << 10;
/// The most bytes that are copied at once.
const CHUNK: usize = 64 << 10;
/// Maximum number of bytes of a control frame.
const MAX_CONTROL_BYTES: u64 = 125;
/// The answers to pings that wait to be written.
const MAX_PONGS: usize = 8;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// An open connection. Dropping the tasks ends it.
pub(in crate::browser) struct Socket {
    /// The messages of the server.
    pub(in crate::browser) reader: DuplexStream,
    /// The messages to the server.
    pub(in crate::browser) writer: DuplexStream,
    pub(in crate::browser) tasks: JoinSet<()>,
}

/// Opens a connection over a stream. `path` begins with `/`.
///
/// # Errors
///
/// The reason why the server does not take the connection.
pub(super) async fn open<S>(mut stream: S, host: &str, path: &str) -> Result<Socket, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    shake_hands(&mut stream, host, path).await?;
    let (from_server, to_server) = split(stream);
    let (reader, incoming) = duplex(BUFFER);
    let (writer, outgoing) = duplex(BUFFER);
    let (pong, pongs) = mpsc::channel(MAX_PONGS);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        // The end of this task ends the messages, whatever the reason.
        let _ = receive(BufReader::new(from_server), incoming, pong).await;
    });
    tasks.spawn(async move {
        let _ = send(to_server, BufReader::new(outgoing), pongs).await;
    });
    Ok(Socket { reader, writer, tasks })
}

/// Asks the server to change over to `WebSocket`. No `Origin` is sent, so a browser does not take it for a page.
async fn shake_hands(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    host: &str,
    path: &str,
) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    let key = BASE64.encode(&random::<16>().map_err(told)?);
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n\
         Sec-WebSocket-Version: 13\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.map_err(told)?;
    // Byte by byte: the bytes after the answer are messages.
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= MAX_HEAD_BYTES {
            return Err("its answer is too long".to_owned());
        }
        answer.push(stream.read_u8().await.map_err(|_| "it closed the connection".to_owned())?);
    }
    match answer.split(|byte| *byte == b' ').nth(1).unwrap_or_default() {
        // The hash of the key is not compared: it tells a server from a cache, and there is none on the way to a debugging port.
        b"101" => Ok(()),
        status @ [_, _, _] if status.iter().all(u8::is_ascii_digit) => {
            Err(format!("it refused the connection with status {}", String::from_utf8_lossy(status)))
        }
        _ => Err("it does not speak HTTP".to_owned()),
    }
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(format!("no random number: {error}")))?;
    Ok(bytes)
}

/// Copies messages of the server, and passes its pings on to be answered.
async fn receive(
    mut server: impl AsyncRead + Unpin,
    mut messages: DuplexStream,
    pong: mpsc::Sender<Vec<u8>>,
) -> io::Result<()> {
    loop {
        let [first, second] = [server.read_u8().await?, server.read_u8().await?];
        let (is_last, code, is_masked) = (first & 0x80 != 0, first & 0x0f, second & 0x80 != 0);
        let length = match second & 0x7f {
            126 => u64::from(server.read_u16().await?),
            127 => server.read_u64().await?,
            short => u64::from(short),
        };
        let is_control = code >= CLOSE;
        // Bits of extensions, and masks, which only a client uses, are errors.
        if first & 0x70 != 0 || is_masked || is_control && (length > MAX_CONTROL_BYTES || !is_last) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match code {
            CONTINUATION | TEXT | BINARY => {
                copy(&mut server, &mut messages, length).await?;
                if is_last {
                    messages.write_all(&[0]).await?;
                }
            }
            CLOSE => return Ok(()),
            PING | PONG => {
                let mut content = vec![0; usize::try_from(length).unwrap_or_default()];
                server.read_exact(&mut content).await?;
                if code == PING {
                    // A server that sends more than are answered gets fewer answers.
                    let _ = pong.try_send(content);
                }
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

async fn copy(
    server: &mut (impl AsyncRead + Unpin),
    messages: &mut DuplexStream,
    length: u64,
) -> io::Result<()> {
    let mut left = length;
    let mut chunk = vec![0; CHUNK.min(usize::try_from(length).unwrap_or(CHUNK))];
    while left > 0 {
        let most = chunk.len().min(usize::try_from(left).unwrap_or(CHUNK));
        server.read_exact(&mut chunk[..most]).await?;
        messages.write_all(&chunk[..most]).await?;
        left -= most as u64;
    }
    Ok(())
}

/// Sends messages and answers to pings, until there are no more messages.
async fn send(
    mut server: impl AsyncWrite + Unpin,
    mut messages: impl AsyncBufRead + Unpin,
    mut pongs: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    let mut message = Vec::new();
    loop {
        tokio::select! {
            // A part of a message that was read stays in the buffer.
            read = messages.read_until(0, &mut message) => {
                read?;
                if message.pop() != Some(0) {
                    return write_frame(&mut server, CLOSE, &mut []).await;
                }
                write_frame(&mut server, TEXT, &mut message).await?;
                message.clear();
            }
            Some(mut content) = pongs.recv() => write_frame(&mut server, PONG, &mut content).await?,
        }
    }
}

/// Writes a frame. The content is masked in place.
async fn write_frame(server: &mut (impl AsyncWrite + Unpin), code: u8, content: &mut [u8]) -> io::Result<()> {
    let mask: [u8; 4] = random()?;
    let mut head = vec![0x80 | code];
    match (u8::try_from(content.len()), u16::try_from(content.len())) {
        (Ok(length @ ..=125), _) => head.push(0x80 | length),
        (_, Ok(length)) => {
            head.push(0x80 | 0x7e);
            head.extend(length.to_be_bytes());
        }
        _ => {
            head.push(0x80 | 127);
            head.extend((content.len() as u64).to_be_bytes());
        }
    }
    head.extend(mask);
    for (byte, mask) in content.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    server.write_all(&head).await?;
    server.write_all(content).await?;
    server.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a socket to a server that a test plays.
    async fn opened() -> (Socket, DuplexStream) {
        let (client, mut server) = duplex(1 << 20);
        let opening = tokio::spawn(open(client, "127.0.0.1:9222", "/devtools/browser/1"));
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(server.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        assert!(
            head.starts_with("GET /devtools/browser/1 HTTP/1.1\r\nHost: 127.0.0.1:9222\r\n")
                && !head.contains("Origin"),
            "{head}"
        );
        server
            .write_all(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x02{}")
            .await
            .unwrap();
        (opening.await.unwrap().unwrap(), server)
    }

    async fn message(reader: &mut DuplexStream) -> Vec<u8> {
        let mut message = Vec::new();
        loop {
            match reader.read_u8().await.unwrap() {
                0 => return message,
                byte => message.push(byte),
            }
        }
    }

    /// Reads a frame of the client: its code and what it says.
    async fn frame(server: &mut DuplexStream) -> (u8, Vec<u8>) {
        let code = server.read_u8().await.unwrap() & 0x0f;
        let length = match server.read_u8().await.unwrap() {
            254 => u64::from(server.read_u16().await.unwrap()),
            255 => server.read_u64().await.unwrap(),
            short => {
                assert!(short & 0x80 != 0, "a client masks");
                u64::from(short & 0x7f)
            }
        };
        let mut mask = [0; 4];
        server.read_exact(&mut mask).await.unwrap();
        let mut content = vec![0; usize::try_from(length).unwrap()];
        server.read_exact(&mut content).await.unwrap();
        content.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        (code, content)
    }

    #[tokio::test]
    async fn messages_of_all_lengths_go_both_ways() {
        let (mut socket, mut server) = opened().await;
        assert_eq!(message(&mut socket.reader).await, b"{}", "the bytes after the head are a message");
        for length in [0, 1, 125, 126, 65_535, 65_536, 200_000] {
            let content = vec![b'x'; length];
            socket.writer.write_all(&content).await.unwrap();
            socket.writer.write_all(&[0]).await.unwrap();
            assert_eq!(frame(&mut server).await, (TEXT, content.clone()), "{length}");
            let mut head = vec![0x81];
            match length {
                ..=125 => head.push(u8::try_from(length).unwrap()),
                126..=65_535 => {
                    head.push(126);
                    head.extend(u16::try_from(length).unwrap().to_be_bytes());
                }
                _ => {
                    head.push(127);
                    head.extend((length as u64).to_be_bytes());
                }
            }
            server.write_all(&head).await.unwrap();
            server.write_all(&content).await.unwrap();
            assert_eq!(message(&mut socket.reader).await, content, "{length}");
        }
    }

    #[tokio::test]
    async fn parts_are_joined_and_pings_are_answered() {
        let (mut socket, mut server) = opened().await;
        message(&mut socket.reader).await;
        server.write_all(b"\x01\x02ab\x89\x03abc\x00\x01c\x80\x01d").await.unwrap();
        assert_eq!(message(&mut socket.reader).await, b"abcd");
        assert_eq!(frame(&mut server).await, (PONG, b"abc".to_vec()));
    }

    #[tokio::test]
    async fn what_is_wrong_ends_the_messages() {
        for wrong in [
            &b"\x88\x00"[..],    // the server closes
            b"\x81\x81aaaab",    // a mask
            b"\xc1\x00",         // an extension
            b"\x83\x00",         // an unknown kind
            b"\x89\x7e\x00\x7e", // a ping that is too long
            b"\x09\x00",         // a ping in parts
            b"\x81\x7f\xff\xff", // the end
        ] {
            let (mut socket, mut server) = opened().await;
            message(&mut socket.reader).await;
            server.write_all(wrong).await.unwrap();
            drop(server);
            assert!(socket.reader.read_u8().await.is_err(), "{wrong:x?}");
        }
    }

    #[tokio::test]
    async fn a_server_that_refuses_is_told() {
        for (answer, expected) in [
            ("HTTP/1.1 403 Forbidden\r\n\r\n", "status 403"),
            ("SSH-2.0-x\r\n\r\n", "does not speak HTTP"),
            ("", "closed the connection"),
        ] {
            let (client, mut server) = duplex(1 << 10);
            let opening = tokio::spawn(open(client, "a", "/"));
            server.write_all(answer.as_bytes()).await.unwrap();
            // The client's request is read, so that the client does not block.
            let mut head = vec![0; 64];
            let _ = server.read(&mut head).await;
            drop(server);
            let error = opening.await.unwrap().err().unwrap();
            assert!(error.contains(expected), "{answer}: {error}");
        }
    }
}

//! A DNS server on loopback whose answers change from one look-up to the next.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// Type numbers of records.
const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
/// The class of the Internet.
const INTERNET: u16 = 1;
/// The most names that lead to one another in an answer.
const MAX_CHAIN: usize = 10;

/// A record of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Record {
    Address(IpAddr),
    /// Another name, whose records follow in the same answer.
    Alias(String),
    /// The server does not answer.
    Silence,
}

/// The names that a server knows. Each has one list of records after the other, the last one for ever: a name that rebinds.
#[derive(Debug, Clone, Default)]
pub struct Zone(HashMap<String, Vec<Vec<Record>>>);

impl Zone {
    /// An empty zone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name. A record is an address, `=NAME` for an alias, or `silence`.
    ///
    /// # Panics
    ///
    /// There is no list.
    #[must_use]
    pub fn with(mut self, name: &str, lists: &[&[&str]]) -> Self {
        assert!(!lists.is_empty(), "{name} has a list");
        let record = |text: &&str| match (text.strip_prefix('='), text.parse()) {
            (Some(name), _) => Record::Alias(name.to_owned()),
            (None, Ok(address)) => Record::Address(address),
            (None, Err(_)) => Record::Silence,
        };
        let lists = lists.iter().map(|list| list.iter().map(record).collect()).collect();
        self.0.insert(name.to_owned(), lists);
        self
    }
}

/// A DNS server. It ends when it is dropped. The life of its records is 0 seconds.
#[derive(Debug)]
pub struct Dns {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

impl Dns {
    /// Starts a server at an address, in the current runtime.
    ///
    /// # Errors
    ///
    /// The address is in use, or not this machine's.
    pub async fn start(address: SocketAddr, zone: Zone) -> io::Result<Self> {
        let socket = UdpSocket::bind(address).await?;
        let address = socket.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut counts = HashMap::new();
            let mut buffer = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let Some(question) = Question::read(&buffer[..length]) else { continue };
                let kind = if question.kind == AAAA { "AAAA" } else { "A" };
                noted
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(format!("{} {kind}", question.name));
                if let Some(answer) = answer(&question, &zone, &mut counts) {
                    let _ = socket.send_to(&answer, from).await;
                }
            }
        });
        Ok(Self { address, asked, _serving: serving })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the questions since the last call, as `name A` or `name AAAA`.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A question of a client.
struct Question<'a> {
    id: [u8; 2],
    name: String,
    kind: u16,
    /// The bytes of the question, for the answer.
    bytes: &'a [u8],
}

impl<'a> Question<'a> {
    /// Reads a question; `None` for anything else.
    fn read(message: &'a [u8]) -> Option<Self> {
        let id = [*message.first()?, *message.get(1)?];
        let body = message.get(12..)?;
        let (mut labels, mut at) = (Vec::new(), 0);
        loop {
            let length = usize::from(*body.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            labels.push(String::from_utf8_lossy(body.get(at..at + length)?).to_lowercase());
            at += length;
        }
        let kind = u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?]);
        Some(Self { id, name: labels.join("."), kind, bytes: body.get(..at + 4)? })
    }
}

/// Returns the answer to a question, and counts it; `None` if the server is silent.
fn answer(
    question: &Question<'_>,
    zone: &Zone,
    counts: &mut HashMap<(String, u16), usize>,
) -> Option<Vec<u8>> {
    let (mut records, mut count, mut name) = (Vec::new(), 0_u16, question.name.clone());
    let is_known = zone.0.contains_key(&name);
    for _ in 0..MAX_CHAIN {
        let Some(lists) = zone.0.get(&name) else { break };
        let time = counts.entry((name.clone(), question.kind)).or_default();
        let list = &lists[(*time).min(lists.len() - 1)];
        *time += 1;
        let mut next = None;
        for record in list {
            let (kind, data) = match record {
                Record::Silence => return None,
                Record::Alias(to) => {
                    next = Some(to.clone());
                    (CNAME, encoded(to))
                }
                Record::Address(IpAddr::V4(address)) => (A, address.octets().to_vec()),
                Record::Address(IpAddr::V6(address)) => (AAAA, address.octets().to_vec()),
            };
            if kind != CNAME && kind != question.kind {
                continue;
            }
            records.extend(encoded(&name));
            records.extend(kind.to_be_bytes());
            records.extend(INTERNET.to_be_bytes());
            records.extend(0_u32.to_be_bytes());
            records.extend(u16::try_from(data.len()).ok()?.to_be_bytes());
            records.extend(data);
            count += 1;
        }
        match next {
            Some(next) => name = next,
            None => break,
        }
    }
    // An answer, of a server that looks further by itself; 3: there is no such name.
    let flags: u16 = 0x8180 | if is_known { 0 } else { 3 };
    let mut message = question.id.to_vec();
    message.extend(flags.to_be_bytes());
    for number in [1, count, 0, 0] {
        message.extend(number.to_be_bytes());
    }
    message.extend(question.bytes);
    message.extend(records);
    Some(message)
}

/// A name as DNS writes it.
fn encoded(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()) {
        bytes.push(u8::try_from(label.len()).unwrap_or(63));
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(zone: &Zone, counts: &mut HashMap<(String, u16), usize>, name: &str, kind: u16) -> Vec<u8> {
        let mut message = vec![7, 8, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        message.extend(encoded(name));
        message.extend(kind.to_be_bytes());
        message.extend([0, 1]);
        let question = Question::read(&message).expect("a question");
        assert_eq!(question.name, name);
        answer(&question, zone, counts).expect("an answer")
    }

    #[test]
    fn answers_change_and_the_last_one_stays() {
        let zone = Zone::new()
            .with("a.test", &[&["192.0.2.1", "2001:db8::1"], &["=b.test"]])
            .with("b.test", &[&["127.0.0.1"]]);
        let mut counts = HashMap::new();
        let first = asked(&zone, &mut counts, "a.test", A);
        assert_eq!((&first[..4], first[7]), (&[7, 8, 0x81, 0x80][..], 1));
        assert!(first.ends_with(&[0, 4, 192, 0, 2, 1]), "{first:?}");
        assert!(
            asked(&zone, &mut counts, "a.test", AAAA).ends_with(&[0, 1]),
            "of the other kind it is the first as well"
        );
        for _ in 0..2 {
            let later = asked(&zone, &mut counts, "a.test", A);
            assert!(later[7] == 2 && later.ends_with(&[0, 4, 127, 0, 0, 1]), "{later:?}");
        }
        assert_eq!(asked(&zone, &mut counts, "unknown.test", A)[3] & 15, 3);
    }
}

//! Outputs that were too long for an answer, as resources: `toolkit://output/…`.

use super::Shared;
use data_encoding::BASE64;
use rmcp::model::{
    ErrorData, ListResourcesResult, MetaObject, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents,
};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::SeekFrom;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use toolkit::Caller;
use toolkit_serve::Principal;

const PREFIX: &str = "toolkit://output/";
/// Maximum number of outputs that are remembered of one session; the oldest go first. Their files stay.
const MAX_PER_SESSION: usize = 1_000;
/// Maximum number of outputs of all sessions.
const MAX_OUTPUTS: usize = 10_000;
/// Maximum number of bytes of text, or of Base64, per read. The answer names the offset of the remaining bytes. Some clients read no message
/// of more than 1 MiB over HTTP.
const CHUNK: u64 = 256 << 10;
/// Maximum number of bytes of such a text as JSON, in which a control character takes six.
const MAX_ESCAPED: usize = 768 << 10;
/// The media type of outputs that are text.
pub(super) const TEXT: &str = "text/plain";

/// The outputs whose addresses the clients of a service received. Each is listed only in its session. It can also be read from another
/// session of the same principal, because a client of the protocol without sessions may return by another connection: an address
/// cannot be guessed, so whoever knows it has received it. An output is neither listed nor read for another agent or sender, not even for one
/// of the same session that knows its address.
#[derive(Debug, Default)]
pub(super) struct Outputs(Mutex<VecDeque<Output>>);

#[derive(Debug, Clone)]
struct Output {
    session: String,
    principal: Option<Principal>,
    asker: Asker,
    uri: String,
    name: String,
    path: PathBuf,
    bytes: u64,
    /// The media type.
    kind: String,
}

/// The agent and the sender that an output belongs to, beside its session and its principal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asker {
    agent: Option<String>,
    /// Channel, account and sender.
    sender: [Option<String>; 3],
}

impl Asker {
    fn of(caller: &Caller) -> Self {
        let agent = caller.agent.as_deref().map(|agent| agent.trim().to_lowercase());
        let sender = [&caller.channel, &caller.account_id, &caller.sender_id].map(Clone::clone);
        Self { agent, sender }
    }
}

impl Output {
    /// Returns true if a server that acts for `asker` and `principal` may read the output.
    fn is_of(&self, asker: &Asker, principal: Option<&Principal>) -> bool {
        self.asker == *asker && self.principal.as_ref() == principal
    }

    fn resource(&self) -> Resource {
        Resource::new(&self.uri, &self.name)
            .with_description(if self.kind == TEXT {
                "The whole output of a call"
            } else {
                "A part of the output of a call; large ones are read in pieces"
            })
            .with_mime_type(&self.kind)
            .with_size(self.bytes)
    }
}

impl Outputs {
    /// Stores an output under an address that cannot be guessed.
    pub(super) fn add(&self, server: &Shared, path: PathBuf, bytes: u64, kind: &str) -> Resource {
        let session = server.session();
        let name =
            path.file_name().map_or_else(|| "output".to_owned(), |name| name.to_string_lossy().into_owned());
        let uri = format!("{PREFIX}{}", super::random::<20>());
        let principal = server.principal().cloned();
        let asker = Asker::of(&server.caller);
        let (session_id, kind) = (session.to_owned(), kind.to_owned());
        let output = Output { session: session_id, principal, asker, uri, name, path, bytes, kind };
        let resource = output.resource();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = all.iter().enumerate().filter(|(_, other)| other.session == session);
        let oldest = own.next().map(|(place, _)| place);
        if own.count() + 1 >= MAX_PER_SESSION {
            oldest.and_then(|place| all.remove(place));
        } else if all.len() >= MAX_OUTPUTS {
            all.pop_front();
        }
        all.push_back(output);
        resource
    }

    pub(super) fn list(&self, server: &Shared) -> ListResourcesResult {
        let (session, asker) = (server.session(), Asker::of(&server.caller));
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter().filter(|output| output.session == session && output.asker == asker);
        ListResourcesResult::with_all_items(own.map(Output::resource).collect())
    }

    /// Forgets the outputs of a principal. Their files stay.
    pub(super) fn end(&self, principal: &Principal) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|output| output.principal.as_ref() != Some(principal));
    }

    /// A part of an output: from its beginning, or from the byte that `?offset=` names. Of text at most 256 KiB, and of other data the bytes
    /// whose Base64 has at most 256 KiB.
    pub(super) async fn read(&self, server: &Shared, uri: &str) -> Result<ReadResourceResponse, ErrorData> {
        let (own, offset) = match uri.split_once("?offset=") {
            Some((own, offset)) => (own, offset.parse().ok()),
            None => (uri, Some(0)),
        };
        let not_here = || {
            ErrorData::resource_not_found(
                "there is no such resource here; `resources/list` lists those of this session",
                Some(json!({ "uri": uri })),
            )
        };
        let offset: u64 = offset.ok_or_else(not_here)?;
        let asker = Asker::of(&server.caller);
        let found = {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_own = |output: &&Output| output.uri == own && output.is_of(&asker, server.principal());
            all.iter().find(is_own).cloned()
        };
        let output = found.ok_or_else(not_here)?;
        let gone = |error: std::io::Error| {
            ErrorData::resource_not_found(
                format!("the output is no longer kept: {error}"),
                Some(json!({ "uri": uri })),
            )
        };
        let (contents, next) = if output.kind == TEXT {
            let (text, next) = text_chunk(&output.path, offset).await.map_err(gone)?;
            (ResourceContents::text(text, uri), next)
        } else {
            let (data, size) = chunk(&output.path, offset, CHUNK / 4 * 3).await.map_err(gone)?;
            let next = offset + data.len() as u64;
            (ResourceContents::blob(BASE64.encode(&data), uri), (next < size).then_some(next))
        };
        let mut contents = contents.with_mime_type(&output.kind);
        if let Some(next) = next {
            let more: Map<String, Value> = [
                ("next".to_owned(), json!(format!("{own}?offset={next}"))),
                ("size".to_owned(), json!(output.bytes)),
            ]
            .into_iter()
            .collect();
            contents = contents.with_meta(MetaObject(more));
        }
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

/// Reads up to `most` bytes from an offset, and returns the size of the file.
async fn chunk(path: &Path, offset: u64, most: u64) -> std::io::Result<(Vec<u8>, u64)> {
    let mut file = File::open(path).await?;
    let size = file.metadata().await?.len();
    file.seek(SeekFrom::Start(offset)).await?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).await?;
    Ok((bytes, size))
}

/// Reads text from an offset, and returns the next offset. The text ends at a character boundary.
async fn text_chunk(path: &Path, offset: u64) -> std::io::Result<(String, Option<u64>)> {
    let (mut bytes, size) = chunk(path, offset, CHUNK).await?;
    loop {
        let mut next = offset + bytes.len() as u64;
        if next < size {
            let whole = bytes.len() - bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
            // The rest of invalid UTF-8 is not waited for.
            if whole > 0 && bytes.len() - whole < 4 {
                bytes.truncate(whole);
                next = offset + whole as u64;
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_short = text.len() as u64 <= CHUNK
            && serde_json::to_string(&text).is_ok_and(|escaped| escaped.len() <= MAX_ESCAPED);
        // Of a few bytes, the text is short in any case.
        if is_short || bytes.len() < 1_024 {
            return Ok((text, (next < size).then_some(next)));
        }
        bytes.truncate(bytes.len() / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::sessions::Sessions;
    use crate::server::suspended::Suspended;
    use crate::server::{ServerOptions, ToolServer};
    use std::sync::Arc;
    use std::time::Duration;
    use toolkit::Toolkit;

    #[tokio::test]
    async fn an_output_is_for_its_agent_and_sender_alone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("1.txt");
        std::fs::write(&file, "whole").unwrap();
        let toolkit = Toolkit::empty().data_dir(directory.path()).build().unwrap();
        let outputs = Arc::new(Outputs::default());
        let server = |caller: Caller| {
            let suspended = Arc::new(Suspended::new(Duration::from_secs(1), 1));
            let (options, outputs) = (ServerOptions::default(), Arc::clone(&outputs));
            let sessions = Sessions::default();
            ToolServer::of_parts(toolkit.clone(), caller, options, sessions, suspended, outputs, None)
        };
        let caller = || Caller::new().with_session("s");
        let mail = |sender: &str| caller().with_channel("mail").with_sender(sender);
        let servers: Vec<ToolServer> = [
            caller(),
            caller().with_agent("ada"),
            caller().with_agent("bob"),
            mail("eve"),
            mail("mallory"),
            mail("eve").with_agent("ada"),
        ]
        .into_iter()
        .map(server)
        .collect();
        for (owner, own) in servers.iter().enumerate() {
            let uri = outputs.add(&own.0, file.clone(), 5, TEXT).uri;
            for (reader, server) in servers.iter().enumerate() {
                let is_listed = outputs.list(&server.0).resources.iter().any(|other| other.uri == uri);
                let is_read = outputs.read(&server.0, &uri).await.is_ok();
                assert_eq!((is_listed, is_read), (owner == reader, owner == reader), "{reader} of {owner}");
            }
        }
    }
}

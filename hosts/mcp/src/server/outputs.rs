//! Outputs that were too long for an answer, as resources: `toolkit://output/…`.

use super::{Principal, Shared};
use rmcp::model::{
    ErrorData, ListResourcesResult, MetaObject, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents,
};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::SeekFrom;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

const PREFIX: &str = "toolkit://output/";
/// Maximum number of outputs that are remembered of one session; the oldest go first. Their files stay.
const MAX_PER_SESSION: usize = 1_000;
/// Maximum number of outputs of all sessions.
const MAX_OUTPUTS: usize = 10_000;
/// Maximum number of bytes per read. The answer names the offset of the remaining bytes.
const CHUNK: u64 = 1 << 20;

/// The outputs whose addresses the clients of a service received. Each is listed only in its session. It can also be read from another
/// session of the same principal, because a client of the protocol without sessions may return by another connection: an address
/// cannot be guessed, so whoever knows it has received it.
#[derive(Debug, Default)]
pub(super) struct Outputs(Mutex<VecDeque<Output>>);

#[derive(Debug, Clone)]
struct Output {
    session: String,
    principal: Option<Principal>,
    uri: String,
    name: String,
    path: PathBuf,
    bytes: u64,
}

impl Output {
    fn resource(&self) -> Resource {
        Resource::new(&self.uri, &self.name)
            .with_description("The whole output of a call")
            .with_mime_type("text/plain")
            .with_size(self.bytes)
    }
}

impl Outputs {
    /// Stores an output under an address that cannot be guessed.
    pub(super) fn add(&self, server: &Shared, path: PathBuf, bytes: u64) -> Resource {
        let session = server.session();
        let name =
            path.file_name().map_or_else(|| "output".to_owned(), |name| name.to_string_lossy().into_owned());
        let uri = format!("{PREFIX}{}", super::random::<20>());
        let principal = server.principal().cloned();
        let output = Output { session: session.to_owned(), principal, uri, name, path, bytes };
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

    pub(super) fn list(&self, session: &str) -> ListResourcesResult {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter().filter(|output| output.session == session);
        ListResourcesResult::with_all_items(own.map(Output::resource).collect())
    }

    /// Forgets the outputs of a principal. Their files stay.
    pub(super) fn end(&self, principal: &Principal) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|output| output.principal.as_ref() != Some(principal));
    }

    /// A part of an output: from its beginning, or from the byte that `?offset=` names.
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
        let found = {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_own =
                |output: &&Output| output.uri == own && output.principal.as_ref() == server.principal();
            all.iter().find(is_own).cloned()
        };
        let output = found.ok_or_else(not_here)?;
        let (text, next) = chunk(&output.path, offset).await.map_err(|error| {
            ErrorData::resource_not_found(
                format!("the output is no longer kept: {error}"),
                Some(json!({ "uri": uri })),
            )
        })?;
        let mut contents = ResourceContents::text(text, uri).with_mime_type("text/plain");
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

/// Reads text from an offset, and returns the next offset. The text ends at a character boundary.
async fn chunk(path: &std::path::Path, offset: u64) -> std::io::Result<(String, Option<u64>)> {
    let mut file = File::open(path).await?;
    let size = file.metadata().await?.len();
    file.seek(SeekFrom::Start(offset)).await?;
    let mut bytes = Vec::new();
    file.take(CHUNK).read_to_end(&mut bytes).await?;
    let mut next = offset + bytes.len() as u64;
    if next < size {
        let whole = bytes.len() - bytes.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        // The rest of invalid UTF-8 is not waited for.
        if whole > 0 && bytes.len() - whole < 4 {
            bytes.truncate(whole);
            next = offset + whole as u64;
        }
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), (next < size).then_some(next)))
}

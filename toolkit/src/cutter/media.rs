//! Limits of the pictures, sounds and binary documents of an output. Those beyond the limits are saved to files, and a note names the files.

use super::Cutter;
use crate::cut::{LeftOutMedia, OutputLocation, shutting_down};
use crate::off_runtime::off_runtime;
use crate::output_store::{OutputStore, owner_name};
use std::fmt::Write as _;
use std::mem;
use toolkit_core::content::{Bytes, Content, Resource, ResourceBody};
use toolkit_core::output::ToolOutput;

/// Maximum number of pictures, sounds and binary documents of an output.
pub(super) const MAX_PARTS: usize = 20;
/// Maximum number of their bytes together.
pub(super) const MAX_BYTES: usize = 8 << 20;
/// Maximum number of bytes of one picture, about the limit of some providers; the builtin tool `read` returns none that is larger.
pub(super) const MAX_PICTURE_BYTES: usize = 5_000_000;
/// Maximum number of them that are saved when they are left out.
pub(super) const MAX_SAVED: usize = 50;
/// The key of [`LeftOutMedia`] in the metadata of a result.
const KEY: &str = "leftOut";

/// Counts what an output shows.
#[derive(Debug, Default)]
struct Budget {
    parts: usize,
    bytes: usize,
}

impl Budget {
    /// Returns true if a block is within the limits, and then counts it.
    fn takes(&mut self, block: &Content) -> bool {
        let Some(data) = block.as_bytes() else { return true };
        let is_picture = match block {
            Content::Image { .. } => true,
            Content::Resource { resource } => {
                resource.mime_type.as_deref().is_some_and(|kind| kind.starts_with("image/"))
            }
            _ => false,
        };
        let is_too_large = is_picture && data.len() > MAX_PICTURE_BYTES;
        if is_too_large || self.parts >= MAX_PARTS || data.len() > MAX_BYTES - self.bytes {
            return false;
        }
        self.parts += 1;
        self.bytes += data.len();
        true
    }
}

/// Returns true if all pictures, sounds and binary documents of an output are within the limits.
pub(super) fn fit(output: &ToolOutput) -> bool {
    let mut budget = Budget::default();
    output.content.iter().all(|block| budget.takes(block))
}

impl Cutter<'_> {
    /// Takes the data beyond the limits out of an output and saves it. Returns the note about it.
    pub(super) async fn leave_out_beyond(self, output: &mut ToolOutput) -> Option<String> {
        let mut budget = Budget::default();
        let why = format!(
            "a result may have {MAX_PARTS} pictures, sounds and files, {} MiB together, and a picture {MAX_PICTURE_BYTES} bytes",
            MAX_BYTES >> 20
        );
        self.leave_out(output, &why, &mut |block| budget.takes(block)).await
    }

    /// Takes the data for which `keeps` returns false out of an output and saves it. A first text says `why` and names the files: it stays if
    /// the text is truncated.
    pub(crate) async fn leave_out_media(
        self,
        output: &mut ToolOutput,
        why: &str,
        mut keeps: impl FnMut(&Content) -> bool + Send,
    ) {
        let note = self.leave_out(output, why, &mut keeps).await;
        output.content.splice(0..0, note.map(Content::from));
    }

    /// Takes the data for which `keeps` returns false out of an output and saves it. Returns the note about it.
    async fn leave_out(
        self,
        output: &mut ToolOutput,
        why: &str,
        keeps: &mut (dyn FnMut(&Content) -> bool + Send),
    ) -> Option<String> {
        let (content, beyond): (Vec<_>, Vec<_>) = mem::take(&mut output.content)
            .into_iter()
            .partition(|block| block.as_bytes().is_none() || keeps(block));
        output.content = content;
        let beyond: Vec<(String, Vec<u8>)> = beyond.into_iter().filter_map(data).collect();
        if beyond.is_empty() {
            return None;
        }
        let sizes: Vec<(String, u64)> =
            beyond.iter().map(|(kind, data)| (kind.clone(), data.len() as u64)).collect();
        let (store, owner) = (self.store.clone(), owner_name(self.session, self.caller));
        let saving = off_runtime(move || {
            beyond.iter().take(MAX_SAVED).map(|(_, data)| save(&store, &owner, data)).collect()
        });
        let places: Vec<OutputLocation> = saving.await.unwrap_or_default();
        let rest = sizes.get(MAX_SAVED..).unwrap_or_default();
        let (count, bytes) = (rest.len(), rest.iter().map(|(_, bytes)| bytes).sum::<u64>());
        let mut places = places.into_iter();
        let left_out: Vec<LeftOutMedia> = sizes
            .into_iter()
            .take(MAX_SAVED)
            .map(|(mime_type, bytes)| {
                let kept = places.next().unwrap_or_else(shutting_down);
                LeftOutMedia { mime_type, bytes, kept }
            })
            .collect();
        let mut note = note(why, &left_out);
        if count > 0 {
            let _ = write!(note, "\n{count} more, {bytes} bytes together, were not saved.");
        }
        note.push(']');
        let all = [LeftOutMedia::of(output), left_out].concat();
        let value = serde_json::to_value(all).expect("paths are written as text");
        output.metadata.insert(KEY.to_owned(), value);
        Some(note)
    }
}

impl LeftOutMedia {
    /// Returns the pictures, sounds and binary documents that were left out of an output.
    pub fn of(output: &ToolOutput) -> Vec<Self> {
        let listed = output.metadata.get(KEY).cloned();
        listed.and_then(|listed| serde_json::from_value(listed).ok()).unwrap_or_default()
    }
}

fn data(block: Content) -> Option<(String, Vec<u8>)> {
    match block {
        Content::Image { data: Bytes(data), mime_type } | Content::Audio { data: Bytes(data), mime_type } => {
            Some((mime_type, data))
        }
        Content::Resource { resource: Resource { mime_type, body: ResourceBody::Blob(Bytes(data)), .. } } => {
            Some((mime_type.unwrap_or_else(|| "application/octet-stream".to_owned()), data))
        }
        _ => None,
    }
}

fn save(store: &OutputStore, owner: &str, data: &[u8]) -> OutputLocation {
    match store.create(Some(owner)) {
        Ok(mut file) => {
            file.write(data);
            file.keep()
        }
        Err(error) => OutputLocation::Not { error },
    }
}

fn note(why: &str, left_out: &[LeftOutMedia]) -> String {
    let mut note = format!("[Left out, since {why}:");
    for LeftOutMedia { mime_type, bytes, kept } in left_out {
        let _ = write!(note, "\n{mime_type}, {bytes} bytes: ");
        let _ = match kept {
            OutputLocation::Whole { path } => write!(note, "{}", path.display()),
            OutputLocation::Partly { path, bytes, error } => {
                write!(note, "only the first {bytes} bytes are in {}: {error}", path.display())
            }
            OutputLocation::Not { error } => write!(note, "not saved: {error}"),
        };
    }
    note
}

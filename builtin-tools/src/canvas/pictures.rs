//! Pictures of the workspace within a drawing.

use super::commands::{Command, Picture};
use super::render::Files;
use crate::picture;
use std::io::{self, Read as _};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{CancellationToken, files::OpenedPath};

/// Maximum number of pictures of one drawing.
pub(super) const MAX_PICTURES: usize = 50;
/// Maximum number of pixels per side that are kept of a picture.
const MAX_SIDE: u32 = 4_096;
/// Maximum number of bytes of all pictures, as they are kept.
const MAX_ALL_BYTES: usize = 128 << 20;

/// A picture that was read, by its command.
pub(super) struct Loaded {
    /// The place of its command.
    pub(super) at: usize,
    /// The name of its file for the renderer.
    pub(super) key: String,
    /// Its width and height.
    pub(super) size: (u32, u32),
}

/// Reads the pictures of all commands, in order.
pub(super) async fn load(ctx: &ToolContext, commands: &[Command]) -> Result<(Vec<Loaded>, Files), ToolError> {
    let (mut loaded, mut files, mut bytes) = (Vec::new(), Files::new(), 0);
    for (at, command) in commands.iter().enumerate() {
        let Command::Image(picture) = command else { continue };
        let (data, size) = read(ctx, at, picture).await?;
        bytes += data.len();
        if bytes > MAX_ALL_BYTES {
            return Err(ToolError::failed(format!(
                "commands[{at}].path: the pictures have more than 128 MiB together; make them smaller first"
            )));
        }
        let key = format!("picture-{at}");
        files.insert(key.clone(), Arc::new(data));
        loaded.push(Loaded { at, key, size });
    }
    Ok((loaded, files))
}

async fn read(ctx: &ToolContext, at: usize, picture: &Picture) -> Result<(Vec<u8>, (u32, u32)), ToolError> {
    let work = |opened: OpenedPath, token: &CancellationToken| {
        let OpenedPath::File(file) = opened else { return Err(ToolError::failed("this is not a file")) };
        let check = || if token.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) };
        let shown = file.shown().to_owned();
        let mut data = Vec::new();
        file.into_file().take(picture::MAX_FILE_BYTES + 1).read_to_end(&mut data)?;
        let decoded = picture::decoded(&shown, &data, MAX_SIDE, &check)?;
        let size = (decoded.width(), decoded.height());
        Ok((picture::png(&decoded)?, size))
    };
    let read = ctx.workspace().open_with(&picture.path, work).await;
    read.map_err(|error| {
        let message = format!("commands[{at}].path: {error}");
        error.with_message(message)
    })
}

//! Pictures that are sent to an endpoint: decoded within limits, made smaller, and written anew, so that nothing of the file but its
//! pixels is sent.

use super::super::endpoint::Endpoint;
use crate::clients;
use crate::picture;
use image::DynamicImage;
use std::io::{self, Read as _};
use toolkit::prelude::*;
use toolkit::{Ask, CancellationToken, files::OpenedPath};
use toolkit_http::http::header::{AUTHORIZATION, LOCATION};
use toolkit_http::{Client, FetchError, Request, Response};

/// Maximum number of pixels per side.
const MAX_SIDE: u32 = 2_048;
/// Maximum number of requests to an endpoint's own origin for a picture that it made.
const MAX_OWN_REDIRECTS: usize = 3;

/// A picture, ready to be sent.
pub(super) struct Input {
    /// Its path or address, for texts.
    pub(super) shown: String,
    pub(super) png: Vec<u8>,
    pub(super) size: (u32, u32),
    /// True if the picture has an alpha channel.
    pub(super) has_alpha: bool,
}

impl Input {
    fn new(shown: String, picture: &DynamicImage) -> Result<Self, ToolError> {
        let size = (picture.width(), picture.height());
        let has_alpha = picture.color().has_alpha();
        Ok(Self { png: picture::png(picture)?, shown, size, has_alpha })
    }
}

/// Reads a file of the workspace.
pub(super) async fn file(ctx: &ToolContext, path: &str) -> Result<Input, ToolError> {
    let work = |opened: OpenedPath, token: &CancellationToken| {
        let OpenedPath::File(file) = opened else {
            return Err(ToolError::failed("this is not a file; name a picture"));
        };
        let shown = file.shown().to_owned();
        let mut data = Vec::new();
        file.into_file().take(picture::MAX_FILE_BYTES + 1).read_to_end(&mut data)?;
        let picture = picture::decoded(&shown, &data, MAX_SIDE, &check(token))?;
        Input::new(shown, &picture)
    };
    ctx.workspace().open_with(path, work).await
}

/// Reads a file of the workspace, or fetches an address of the web.
pub(super) async fn file_or_address(ctx: &ToolContext, place: &str) -> Result<Input, ToolError> {
    if !is_address(place) {
        return file(ctx, place).await;
    }
    let most = usize::try_from(picture::MAX_FILE_BYTES).unwrap_or(usize::MAX);
    let client = clients::picture_client(ctx, most)?;
    let target = client.guard().check_url(place).map_err(|refused| clients::tool_error(&refused.into()))?;
    if !client.guard().is_named(&target) {
        let ask = Ask::new("web_fetch", format!("Fetch {} from {}", target.url(), target.host()));
        ctx.ask(ask.with_pattern(target.url().as_str())).await?;
    }
    fetched(ctx, &client, target.url().as_str()).await
}

/// Fetches a picture that an endpoint made and names by its address. On the endpoint's own origin, which the user configured and which may
/// be on a private network, it is fetched with the endpoint's key; all other addresses are those that the guard allows.
pub(super) async fn made(
    ctx: &ToolContext,
    endpoint: &Endpoint,
    address: &str,
) -> Result<Vec<u8>, ToolError> {
    let most = usize::try_from(picture::MAX_FILE_BYTES).unwrap_or(usize::MAX);
    let mut address = address.to_owned();
    for _ in 0..MAX_OWN_REDIRECTS {
        let Some(own) = endpoint.own_address(&address) else { break };
        let client = clients::own_client(ctx, endpoint.timeout(), most)?;
        let request = Request::get(own.as_str());
        let request = match endpoint.credential() {
            Some(key) => request.with_credential(AUTHORIZATION, key),
            None => request,
        };
        let response = client.send(request).await;
        // The next address may be another one.
        match response.as_ref().ok().and_then(redirect) {
            Some(next) => address = next,
            None => return body(own.as_str(), response),
        }
    }
    let client = clients::picture_client(ctx, most)?;
    data(&client, &address).await
}

/// Returns the address that a response redirects to.
fn redirect(response: &Response) -> Option<String> {
    let location = response.headers.get(LOCATION).filter(|_| response.status.is_redirection())?;
    Some(response.url.join(location.to_str().ok()?).ok()?.into())
}

async fn fetched(ctx: &ToolContext, client: &Client, address: &str) -> Result<Input, ToolError> {
    let data = data(client, address).await?;
    let shown = toolkit::text::escape_line(address).into_owned();
    ctx.blocking(move |token| {
        let picture = picture::decoded(&shown, &data, MAX_SIDE, &check(token))?;
        Input::new(shown, &picture)
    })
    .await
}

async fn data(client: &Client, address: &str) -> Result<Vec<u8>, ToolError> {
    body(address, client.send(Request::get(address)).await)
}

fn body(address: &str, response: Result<Response, FetchError>) -> Result<Vec<u8>, ToolError> {
    let response = response.map_err(|error| clients::tool_error(&error))?;
    if !response.status.is_success() {
        let status = response.status.as_u16();
        let shown = toolkit::text::escape_line(address);
        return Err(ToolError::failed(format!(
            "{shown} answered with HTTP status {status}; check the address"
        )));
    }
    Ok(response.body)
}

/// Returns true for an HTTP address.
fn is_address(place: &str) -> bool {
    let scheme = place.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// Fails once nobody waits any more.
pub(super) fn check(token: &CancellationToken) -> impl Fn() -> io::Result<()> + use<'_> {
    || if token.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

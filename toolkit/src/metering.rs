//! Usage of requests that an endpoint may charge for, and the meter of the host that counts it.
//!
//! A tool that asks an endpoint of its own, such as a model, has its requests counted, and refused when a budget is used up:
//!
//! ```
//! use toolkit::metering::{EndpointMeter, EndpointUsage};
//! use toolkit::prelude::*;
//!
//! /// Translates a text.
//! #[tool(read_only, open_world)]
//! async fn translate(ctx: &ToolContext, /** The text. */ text: &str) -> Result<String, ToolError> {
//!     let mut expected = EndpointUsage::new("translate", "translator");
//!     expected.characters = text.chars().count() as u64;
//!     let open = match ctx.service::<dyn EndpointMeter>() {
//!         Some(meter) => Some(meter.begin(ctx.caller(), &expected).await?),
//!         None => None,
//!     };
//!     // If the call ends here, with an error or cancelled, the request counts as expected: it may have been charged.
//!     let translated = ask(text).await?;
//!     if let Some(open) = open {
//!         open.end(Some(expected));
//!     }
//!     Ok(translated)
//! }
//! # async fn ask(text: &str) -> Result<String, ToolError> { Ok(text.to_owned()) }
//! # fn main() {}
//! ```

use std::pin::Pin;
use toolkit_core::caller::Caller;
use toolkit_core::error::ToolError;

/// Future returned by [`EndpointMeter::begin`].
pub type Beginning<'a> =
    Pin<Box<dyn Future<Output = Result<Box<dyn OpenEndpointRequest>, ToolError>> + Send + 'a>>;

/// Counts the requests of tools to endpoints of their own. A host provides one as the service `dyn EndpointMeter`; without it nothing is
/// counted.
pub trait EndpointMeter: Send + Sync {
    /// Reserves what a request may use. The request is sent once the future is ready, and is not sent if it fails.
    fn begin<'a>(&'a self, caller: &'a Caller, request: &'a EndpointUsage) -> Beginning<'a>;
}

/// A request that is open. If it is dropped, the request may have been charged, and its usage is unknown.
pub trait OpenEndpointRequest: Send + Sync {
    /// Ends it with what it used; with nothing if the endpoint refused it or was not reached.
    fn end(self: Box<Self>, used: Option<EndpointUsage>);
}

/// The usage of one request to an endpoint.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EndpointUsage {
    /// The tool.
    pub tool: &'static str,
    /// The name of the endpoint or of its model, without secrets.
    pub endpoint: String,
    /// The tokens of the request.
    pub input_tokens: u64,
    /// The tokens of the answer.
    pub output_tokens: u64,
    /// Pictures that are made.
    pub images: u64,
    /// Characters that are spoken or translated.
    pub characters: u64,
    /// Seconds of speech that are transcribed.
    pub audio_seconds: f64,
    /// The cost, by the configured price.
    pub cost: Option<f64>,
    /// True if the endpoint did not report it, and it is not known otherwise.
    pub is_estimated: bool,
}

impl EndpointUsage {
    /// Returns the usage of a request that uses nothing.
    pub fn new(tool: &'static str, endpoint: impl Into<String>) -> Self {
        Self { tool, endpoint: endpoint.into(), ..Self::default() }
    }
}

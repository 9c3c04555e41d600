//! The meter of the host, for requests to the endpoint.

use crate::settings::TaskPrice;
use toolkit::metering::{EndpointMeter, EndpointUsage, OpenEndpointRequest};
use toolkit::prelude::*;

/// The usage that a request is charged with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Charge {
    /// It was not accepted, or the endpoint was not reached.
    Nothing,
    /// The endpoint reported the tokens of the request and of the answer.
    Tokens(u64, u64),
    /// Perhaps it was answered, and the usage is unknown.
    Unknown,
}

/// A request, counted if the host has a meter.
pub(crate) struct MeteredRequest {
    open: Option<Box<dyn OpenEndpointRequest>>,
    expected: EndpointUsage,
    price: Option<TaskPrice>,
}

/// Reserves what a request may use: a token for each byte of its body, and the longest answer.
///
/// # Errors
///
/// A budget does not allow it.
pub(crate) async fn begin(
    ctx: &ToolContext,
    model: &str,
    bytes: usize,
    max_tokens: u32,
    price: Option<TaskPrice>,
) -> Result<MeteredRequest, ToolError> {
    let mut expected = EndpointUsage::new("llm_task", model);
    (expected.input_tokens, expected.output_tokens) = (bytes as u64, u64::from(max_tokens));
    (expected.cost, expected.is_estimated) = (cost(&expected, price), true);
    let open = match ctx.service::<dyn EndpointMeter>() {
        Some(meter) => Some(meter.begin(ctx.caller(), &expected).await?),
        None => None,
    };
    Ok(MeteredRequest { open, expected, price })
}

impl MeteredRequest {
    /// Ends it. A request of which the usage is unknown counts as reserved.
    pub(crate) fn end(self, charge: Charge) {
        let Some(open) = self.open else { return };
        match charge {
            Charge::Nothing => open.end(None),
            Charge::Tokens(input, output) => {
                let mut used = self.expected;
                (used.input_tokens, used.output_tokens) = (input, output);
                (used.cost, used.is_estimated) = (cost(&used, self.price), false);
                open.end(Some(used));
            }
            Charge::Unknown => drop(open),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no request has 2^52 tokens")]
fn cost(used: &EndpointUsage, price: Option<TaskPrice>) -> Option<f64> {
    let price = price?;
    Some((used.input_tokens as f64 * price.input + used.output_tokens as f64 * price.output) / 1_000_000.0)
}

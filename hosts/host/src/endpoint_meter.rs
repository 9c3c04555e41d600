//! The meter for requests of tools to endpoints of their own.

use std::sync::Arc;
use toolkit::metering::{Beginning, EndpointMeter, EndpointUsage, OpenEndpointRequest};
use toolkit::{Builder, Caller, ToolError, ToolErrorKind};
use toolkit_models::{Account, Meter, MeterError, Reservation, Scope, TotalUsage, Usage};

/// Adds the meter.
pub(crate) fn with(toolkit: Builder, meter: &Meter) -> Builder {
    toolkit.default_service::<dyn EndpointMeter>(Arc::new(HostMeter(meter.clone())))
}

struct HostMeter(Meter);

impl EndpointMeter for HostMeter {
    fn begin<'a>(&'a self, caller: &'a Caller, request: &'a EndpointUsage) -> Beginning<'a> {
        Box::pin(async move {
            let scope = Scope::of(caller).with(Account::part(request.tool));
            // As long as the request is open, it is not known what it uses.
            let mut expected = request.clone();
            expected.is_estimated = true;
            let reserved = self.0.reserve(&scope, total(&expected)).await;
            let reservation = reserved.map_err(|error| {
                let message = format!("request to {} was not sent: {error}", request.endpoint);
                match error {
                    MeterError::Exceeded(_) => ToolError::new(ToolErrorKind::Denied, message),
                    _ => ToolError::unavailable(message),
                }
            })?;
            Ok(Box::new(OpenRequest(reservation)) as Box<dyn OpenEndpointRequest>)
        })
    }
}

struct OpenRequest(Reservation);

impl OpenEndpointRequest for OpenRequest {
    fn end(self: Box<Self>, used: Option<EndpointUsage>) {
        match used {
            Some(used) => self.0.settle(total(&used)),
            None => self.0.release(),
        }
    }
}

fn total(used: &EndpointUsage) -> TotalUsage {
    let tokens = Usage::new(used.input_tokens, used.output_tokens);
    let (known, silent) = if used.is_estimated { (None, &tokens) } else { (Some(&tokens), &tokens) };
    let mut total = TotalUsage::of_request(known, silent, None);
    *(if used.is_estimated { &mut total.estimated_cost } else { &mut total.cost }) = used.cost;
    (total.images, total.characters) = (used.images, used.characters);
    total.audio_seconds = used.audio_seconds;
    total
}

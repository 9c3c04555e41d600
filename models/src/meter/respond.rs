//! Requests to a model that go through a meter.

use super::usage::TotalUsage;
use super::{Meter, MeterError, Reservation};
use crate::account::Scope;
use crate::answer::{Answer, Usage};
use crate::error::ModelError;
use crate::message::AssistantMessage;
use crate::model::{Model, ModelEvent, Price, Responding};
use crate::request::Request;
use toolkit::text::estimated_tokens;

impl Meter {
    /// Sends a request to a model, as [`Model::respond`], and counts it against the accounts of a scope.
    ///
    /// Before it is sent, it reserves the tokens of the request, as estimated here or by the caller as `input_tokens`, and
    /// [those of the answer](Model::most_answer_tokens). One whose answer has no limit is admitted to an account with a limit of tokens or
    /// cost only while no other request of the account is open, since it may use all that is left. An answer counts with what the provider reports, or else as an estimate, also where it reports zeros. A
    /// request that does not reach the model counts nothing; one that is refused for its content, fails in the server, breaks off, is cancelled or dropped counts with an estimate of
    /// the request and of what had arrived of the answer.
    ///
    /// It fails with [`ModelError::Budget`] if a budget does not allow it.
    pub fn respond<'a>(
        &'a self,
        scope: &'a Scope,
        model: &'a dyn Model,
        request: &'a Request,
        input_tokens: Option<u64>,
        events: &'a mut (dyn FnMut(ModelEvent) + Send),
    ) -> Responding<'a> {
        Box::pin(async move {
            if request.cancel.is_cancelled() {
                return Err(ModelError::Cancelled { partial: Box::default() });
            }
            let input = input_tokens.unwrap_or_else(|| request.estimated_tokens());
            let output = model.most_answer_tokens(request);
            let price = model.price();
            let mut most = TotalUsage::of_request(None, &Usage::new(input, output), price.as_ref());
            most.unlimited_requests = u32::from(!model.limits_answer(request));
            // The store of the meter may wait for other requests to end.
            let reserving = request.cancel.run_until_cancelled(self.reserve(scope, most)).await;
            let Some(reserved) = reserving else {
                return Err(ModelError::Cancelled { partial: Box::default() });
            };
            let reservation = reserved.map_err(|error| not_sent(model, error))?;
            let mut sent = Sent { model, input, arrived: 0, price, reservation: Some(reservation) };
            let mut watched = |event: ModelEvent| {
                sent.watch(&event);
                events(event);
            };
            let answer = model.respond(request, &mut watched).await;
            sent.end(&answer);
            answer
        })
    }
}

fn not_sent(model: &dyn Model, error: MeterError) -> ModelError {
    let model = model.name().to_owned();
    match error {
        MeterError::Exceeded(exceeded) => ModelError::Budget { model, exceeded: Box::new(exceeded) },
        MeterError::Store { .. } => ModelError::Request { model, message: error.to_string() },
    }
}

/// A request that is being answered. If it is dropped, it counts with what is known of it.
struct Sent<'a> {
    model: &'a dyn Model,
    input: u64,
    /// The estimated tokens of the answer that have arrived.
    arrived: u64,
    price: Option<Price>,
    reservation: Option<Reservation>,
}

impl Sent<'_> {
    fn watch(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Text(text) | ModelEvent::Reasoning(text) => {
                self.arrived = self.arrived.saturating_add(estimated_tokens(text) as u64);
            }
            ModelEvent::Fallback { to, .. } => self.price = self.model.price_of(to),
            _ => {}
        }
    }

    fn end(mut self, answer: &Result<Answer, ModelError>) {
        let Some(reservation) = self.reservation.take() else { return };
        match answer {
            Ok(answer) => {
                // Some servers report zeros: no request is without tokens.
                let reported = answer.usage.as_ref().filter(|usage| usage.input_tokens > 0);
                let said = answer.usage.map_or(0, |usage| usage.output_tokens);
                let estimate = Usage::new(self.input, answer.message.estimated_tokens().max(said));
                let price = self.model.price_of(&answer.model);
                let used = TotalUsage::of_request(reported, &estimate, price.as_ref());
                reservation.settle(used);
            }
            Err(error) if may_be_charged(error) => {
                let partial = error.partial().map_or(0, AssistantMessage::estimated_tokens);
                reservation.settle(self.unknown(partial));
            }
            Err(_) => reservation.release(),
        }
    }

    fn unknown(&self, output: u64) -> TotalUsage {
        TotalUsage::of_request(None, &Usage::new(self.input, output), self.price.as_ref())
    }
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            reservation.settle(self.unknown(self.arrived));
        }
    }
}

/// Returns true if the request may have reached the model, so that the provider may charge for it: also where the answer was withheld, or the
/// server failed. A server that is overloaded has not begun.
fn may_be_charged(error: &ModelError) -> bool {
    let has_begun = matches!(
        error,
        ModelError::Stream { .. }
            | ModelError::Timeout { .. }
            | ModelError::Format { .. }
            | ModelError::Cancelled { .. }
            | ModelError::Refused { .. }
    );
    let has_failed = matches!(
        error,
        ModelError::Status { status, .. } if *status >= 500 && !matches!(*status, 503 | 529)
    );
    has_begun || has_failed || error.partial().is_some()
}

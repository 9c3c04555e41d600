//! Rows of the outbox, as the tools that wrote them tell of them.

use builtin_tools::messaging::{MessageState, SentPart};
use toolkit_channel::{ActionOutcome, ActionState};

use crate::store::{Delivery, DeliveryState};

/// A stored part, as the tool `message` tells it.
pub(crate) fn sent_part(delivery: Delivery) -> SentPart {
    let state = match delivery.state {
        DeliveryState::Prepared | DeliveryState::Sending => MessageState::Prepared,
        DeliveryState::Delivered => MessageState::Delivered,
        DeliveryState::Unknown => MessageState::Unknown,
        DeliveryState::Dead => MessageState::Dead,
    };
    SentPart { id: delivery.id.to_string(), state, reason: delivery.reason, message_id: delivery.receipt }
}

/// Returns how far the action of a row is; `unread` is why that could not be read.
pub(crate) fn outcome(part: SentPart, unread: Option<String>) -> ActionOutcome {
    let SentPart { id, state, reason, message_id } = part;
    let state = match state {
        MessageState::Prepared => ActionState::Waiting,
        MessageState::Delivered => ActionState::Delivered,
        MessageState::Unknown => ActionState::Unknown,
        MessageState::Dead => ActionState::Refused,
    };
    ActionOutcome { id, state, reason: unread.or(reason), message_id }
}

//! Checks of faults of the platform and of the network.

use std::sync::Arc;
use std::time::Duration;

use super::bench::{ADA, Bench, plain};
use super::double::{Fault, Operation};
use super::guard::{guarded, until};
use super::report::{Checked, Stop, ensure, equal, shown};
use crate::error::SendError;
use crate::outgoing::Outgoing;

/// The wait that the platform asks for.
const WAIT: Duration = Duration::from_secs(7);

/// Receiving fails with a fault, and afterwards nothing is lost and nothing is there twice.
async fn receive_after_fault(bench: &mut Bench<'_>, fault: Fault) -> Checked {
    let offset = bench.catch_up().await?;
    let texts = vec![bench.write(ADA, "Before the fault"), bench.write(ADA, "Before the fault")];
    bench.inject(Operation::Receive, fault)?;
    let channel = Arc::clone(&bench.channel);
    let received = bench.receive_with(&*channel, offset.as_deref()).await?;
    let Err(error) = received else {
        return Err(Stop::failed(format!("an error of receive with the fault {fault:?}"), shown(&received)));
    };
    ensure(!error.reason.trim().is_empty(), "a reason", || shown(&error))?;
    if let Fault::TooMany(wait) = fault {
        equal("retry_after", &error.retry_after, &Some(wait))?;
    }
    bench.expect_texts(texts).await
}

pub(super) async fn receive_cut(bench: &mut Bench<'_>) -> Checked {
    receive_after_fault(bench, Fault::CutBefore).await?;
    receive_after_fault(bench, Fault::CutAfter).await
}

pub(super) async fn receive_conflict(bench: &mut Bench<'_>) -> Checked {
    receive_after_fault(bench, Fault::Conflict).await
}

pub(super) async fn receive_too_many(bench: &mut Bench<'_>) -> Checked {
    receive_after_fault(bench, Fault::TooMany(WAIT)).await
}

pub(super) async fn receive_server_error(bench: &mut Bench<'_>) -> Checked {
    for status in [500, 502, 503] {
        receive_after_fault(bench, Fault::ServerError(status)).await?;
    }
    Ok(())
}

pub(super) async fn receive_unreachable(bench: &mut Bench<'_>) -> Checked {
    let channel = bench.double.open_unreachable()?;
    let offset = bench.catch_up().await?;
    let texts = vec![bench.write(ADA, "Before the outage")];
    let received = bench.receive_with(&*channel, offset.as_deref()).await?;
    ensure(received.is_err(), "an error of receive", || shown(&received))?;
    let identity = guarded("identify", channel.identify()).await?;
    bench.note(&identity);
    ensure(identity.is_err(), "an error of identify", || shown(&identity))?;
    bench.expect_texts(texts).await
}

/// Nothing depends on them, so they return in any case.
pub(super) async fn unimportant(bench: &mut Bench<'_>) -> Checked {
    let conversation = bench.double.conversation(ADA);
    let mut channels = vec![Arc::clone(&bench.channel)];
    channels.extend(bench.double.open_unreachable().ok());
    for channel in channels {
        guarded("typing", channel.typing(&conversation)).await?;
        guarded("acknowledge", channel.acknowledge("no such press", "Done")).await?;
    }
    Ok(())
}

pub(super) async fn send_unreachable(bench: &mut Bench<'_>) -> Checked {
    let channel = bench.double.open_unreachable()?;
    let text = bench.text("To nowhere");
    let outgoing = bench.outgoing(ADA, plain(text));
    let sent = bench.send_with(&*channel, &outgoing).await?;
    ensure(matches!(sent, Err(SendError::NotSent { .. })), "a connection that is refused is NotSent", || {
        shown(&sent)
    })
}

/// Sends a text that meets a fault. Returns the part, the result, and the number of times that it arrived.
async fn send_with_fault(
    bench: &mut Bench<'_>,
    fault: Fault,
) -> Checked<(Outgoing, Result<crate::Receipt, SendError>, usize)> {
    let text = bench.text("Into a fault");
    let outgoing = bench.outgoing(ADA, plain(text));
    bench.inject(Operation::Send, fault)?;
    let sent = bench.send(&outgoing).await?;
    let arrived = arrived(bench, &outgoing);
    Ok((outgoing, sent, arrived))
}

/// Returns how often a text is there.
fn arrived(bench: &Bench<'_>, outgoing: &Outgoing) -> usize {
    let is_it = |text: &str| plain(text) == outgoing.action;
    bench.double.sent().iter().filter(|sent| is_it(&sent.text)).count()
}

/// Sends the same part again. It is there once then.
async fn once_with_key(bench: &mut Bench<'_>, outgoing: &Outgoing) -> Checked {
    bench.deliver(outgoing).await?;
    equal("the number of messages with one key, sent again", &arrived(bench, outgoing), &1)
}

pub(super) async fn send_too_many(bench: &mut Bench<'_>) -> Checked {
    let (outgoing, sent, number) = send_with_fault(bench, Fault::TooMany(WAIT)).await?;
    let wait = if let Err(SendError::NotSent { retry_after, .. }) = &sent { *retry_after } else { None };
    ensure(wait == Some(WAIT), format!("NotSent with the wait {WAIT:?}"), || shown(&sent))?;
    equal("the number of messages", &number, &0)?;
    once_with_key(bench, &outgoing).await
}

pub(super) async fn send_server_error(bench: &mut Bench<'_>) -> Checked {
    for status in [500, 502] {
        let (outgoing, sent, number) = send_with_fault(bench, Fault::ServerError(status)).await?;
        open_end(bench, &outgoing, &sent, number).await?;
    }
    Ok(())
}

pub(super) async fn send_cut(bench: &mut Bench<'_>) -> Checked {
    for (fault, expected) in [(Fault::CutAfter, 1), (Fault::CutBefore, 0)] {
        let (outgoing, sent, number) = send_with_fault(bench, fault).await?;
        if !bench.channel.capabilities().idempotency_keys {
            equal("the number of messages", &number, &expected)?;
        }
        open_end(bench, &outgoing, &sent, number).await?;
    }
    Ok(())
}

/// Checks a request whose effect nobody knows: `Unknown`, and no second request without a key.
async fn open_end(
    bench: &mut Bench<'_>,
    outgoing: &Outgoing,
    sent: &Result<crate::Receipt, SendError>,
    number: usize,
) -> Checked {
    ensure(number <= 1, "at most one message", || format!("{number} messages, and {sent:?}"))?;
    let has_keys = bench.channel.capabilities().idempotency_keys;
    let is_right = match sent {
        Err(SendError::Unknown { .. }) => true,
        // With keys, the channel may send again by itself.
        Ok(_) => has_keys && number == 1,
        Err(SendError::NotSent { .. }) => has_keys,
        Err(_) => false,
    };
    ensure(is_right, "Unknown, as the request may have been processed", || shown(sent))?;
    if has_keys { once_with_key(bench, outgoing).await } else { Ok(()) }
}

/// A program that ends after the platform has the message, and before it knows that.
pub(super) async fn send_crash(bench: &mut Bench<'_>) -> Checked {
    let text = bench.text("Before the crash");
    let outgoing = bench.outgoing(ADA, plain(text));
    let held = bench.double.hold(Operation::Send)?;
    let channel = Arc::clone(&bench.channel);
    let sent = guarded("send", until(channel.send(&outgoing), held.reached())).await?;
    ensure(sent.is_none(), "send waits for the answer that is held back", || shown(&sent))?;
    drop(held);
    bench.channel = bench.double.open();
    drop(channel);
    equal("the number of messages after the crash", &arrived(bench, &outgoing), &1)?;
    if bench.channel.capabilities().idempotency_keys {
        once_with_key(bench, &outgoing).await?;
    }
    // A further message shows that nothing else came of the first one.
    let text = bench.text("After the crash");
    let next = bench.outgoing(ADA, plain(text));
    bench.deliver_new(&next).await?;
    equal("the number of messages after the crash", &arrived(bench, &outgoing), &1)
}

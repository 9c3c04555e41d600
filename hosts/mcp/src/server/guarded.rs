//! Panics while a request is handled, outside the function of a tool: of a host's policy, tool source or hook.

use rmcp::model::ErrorData;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// Handles a request. A panic becomes the error of the request: without an answer, the client would wait, and the request would keep its
/// place.
pub(super) fn guarded<T>(
    method: &str,
    handling: impl Future<Output = Result<T, ErrorData>>,
) -> impl Future<Output = Result<T, ErrorData>> {
    // The state of a request is large, and would be part of the future that serves the client.
    let mut handling = Box::pin(handling);
    poll_fn(move |task| {
        let polled = catch_unwind(AssertUnwindSafe(|| handling.as_mut().poll(task)));
        // The message of the panic is for the host alone, to whom the panic hook has told it.
        polled.unwrap_or_else(|_| {
            let message = format!(
                "`{method}` stopped on an internal error of the server; sending it again the same way will not help"
            );
            Poll::Ready(Err(ErrorData::internal_error(message, None)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorCode;

    #[tokio::test]
    async fn a_panic_is_an_error_that_tells_nothing_of_it() {
        let error = guarded("tools/list", async {
            tokio::task::yield_now().await;
            assert_eq!(1 + 1, 3, "a secret");
            Ok(())
        });
        let error = error.await.unwrap_err();
        assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
        assert!(error.message.contains("`tools/list`") && !error.message.contains("secret"), "{error}");
        assert_eq!(guarded("tools/list", async { Ok(5) }).await.unwrap(), 5);
    }
}

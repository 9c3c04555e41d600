//! The approver for hosts without a person to ask.

use super::{Answering, Approver};
use toolkit_core::ask::{Answer, DeniedBy, PendingAsk};

/// Denies everything, because there is no person to ask; the default of a toolkit.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoApprover;

#[diagnostic::do_not_recommend]
impl Approver for NoApprover {
    fn ask<'a>(&'a self, ask: &'a PendingAsk) -> Answering<'a> {
        let mut reason =
            "this program has no approver; set one with `Toolkit::builder().approver(..)` (`toolkit::AllowAll` during \
             development)"
                .to_owned();
        if let Some(setting) = ask.question().setting() {
            reason.push_str(", or allow it with ");
            reason.push_str(&setting);
        }
        Box::pin(std::future::ready(Some(Answer::denied_by(DeniedBy::NobodyThere, reason).into())))
    }
}

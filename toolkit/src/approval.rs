//! Questions of calls to a person: approvers, answers, and the approvals that are kept.

#[cfg(feature = "runtime")]
pub use crate::approvals::{Approval, ApprovalError, ApprovalList, Approvals, Delegator};
pub use crate::approver::Answering;
#[cfg(feature = "runtime")]
pub use crate::approver::{CallbackApprover, IntoAnswer, NoApprover, ScriptedApprover, TerminalApprover};
#[cfg(feature = "runtime")]
pub use crate::ask_journal::{AskJournal, Journaling};
pub use crate::ask_record::RecordedAsk;
#[cfg(feature = "runtime")]
pub use crate::ask_store::{AskStore, AskingCall, Keeping, KeptAnswer};
#[cfg(feature = "runtime")]
pub use crate::asks::{AnswerError, AskLimits, Asks};
pub use toolkit_core::{
    Access, AllowScope, Answer, AskAnswer, AskDetail, DeniedBy, Elicitation, Origin, PendingAsk, Question,
    Reply,
};

//! Those of the options and settings of a host.

use crate::config::Secret;
use crate::policy::{PolicySettings, ToolPolicy, ToolRules};
use crate::toolbox::CallOptions;

#[diagnostic::on_unimplemented(
    message = "options of a call are set by `timeout` and `cancel`",
    label = "write `.timeout(Duration::from_secs(5))`, or `.cancel(token)`",
    note = "`CancellationToken` is in `toolkit`"
)]
pub trait LimitsCall<'a> {}

#[doc(hidden)]
impl<'a> CallOptions
where
    Self: LimitsCall<'a>,
{
    pub fn with_timeout(&self) {}
    pub fn time_limit(&self) {}
    pub fn deadline(&self) {}
    pub fn cancellation(&self) {}
    pub fn cancellation_token(&self) {}
    pub fn with_cancellation(&self) {}
    pub fn with_token(&self) {}
    pub fn token(&self) {}
    pub fn with_cancel(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "the text of a `Secret` is read by `expose`",
    label = "write `.expose()`",
    note = "a `Secret` is never shown: it has no `Display`, and `Debug` hides it"
)]
pub trait IsExposed<'a> {}

#[doc(hidden)]
impl<'a> Secret
where
    Self: IsExposed<'a>,
{
    pub fn value(&self) {}
    pub fn as_str(&self) {}
    pub fn get(&self) {}
    pub fn reveal(&self) {}
    pub fn expose_secret(&self) {}
    pub fn into_inner(&self) {}
    pub fn inner(&self) {}
    pub fn into_string(&self) {}
    pub fn to_string(&self) {}
    pub fn secret(&self) {}
    pub fn unwrap(&self) {}
    pub fn text(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "the rules of tools are a field of the settings",
    label = "write `settings.tools = ToolRules::default().deny([\"exec\"])`, after `let mut settings = PolicySettings::default()`",
    note = "those of an agent: `settings.agents.insert(\"kid\".into(), rules)`"
)]
pub trait AreRules<'a> {}

#[doc(hidden)]
impl<'a> PolicySettings
where
    Self: AreRules<'a>,
{
    pub fn allow(&self) {}
    pub fn deny(&self) {}
    pub fn also_allow(&self) {}
    pub fn profile(&self) {}
    pub fn with_tools(&self) {}
    pub fn tools(&self) {}
    pub fn rules(&self) {}
    pub fn agent(&self) {}
    pub fn with_rules(&self) {}
    pub fn for_agent(&self) {}
    pub fn allow_only(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "rules begin with none, by `default`",
    label = "write `PolicySettings::default()`, or `ToolRules::default().deny([\"exec\"])`"
)]
pub trait MadeByDefault<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> PolicySettings
where
    Self: MadeByDefault<'a>,
{
    pub fn new() {}
    pub fn builder() {}
    pub fn allow_all() {}
    pub fn deny_all() {}
    pub fn allowing() {}
    pub fn denying() {}
    pub fn from_list() {}
    pub fn all() {}
    pub fn none() {}
    pub fn empty() {}
}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> ToolRules
where
    Self: MadeByDefault<'a>,
{
    pub fn new() {}
    pub fn builder() {}
    pub fn allow_all() {}
    pub fn deny_all() {}
    pub fn allowing() {}
    pub fn denying() {}
    pub fn from_list() {}
    pub fn all() {}
    pub fn none() {}
    pub fn empty() {}
}

#[diagnostic::on_unimplemented(
    message = "a policy is made of its settings",
    label = "write `ToolPolicy::new(settings)` after `settings.tools = ToolRules::default().deny([\"exec\"])`",
    note = "`PolicySettings` and `ToolRules` are in `toolkit::policy`"
)]
pub trait MadeOfSettings<'a> {}

#[doc(hidden)]
impl<'a> ToolPolicy
where
    Self: MadeOfSettings<'a>,
{
    pub fn default() {}
    pub fn builder() {}
    pub fn allow() {}
    pub fn deny() {}
    pub fn allow_all() {}
    pub fn deny_all() {}
    pub fn allow_only() {}
    pub fn from_rules() {}
    pub fn from_settings() {}
    pub fn of() {}
    pub fn allow_list() {}
    pub fn deny_list() {}
}

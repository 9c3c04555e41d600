//! The guard of the web tools, as it is configured.

use crate::config::WebNetworkSettings;
use std::env;
use std::fmt::Display;
use std::str::FromStr;
use toolkit::prelude::*;
use toolkit_http::{GuardSettings, Proxies, Proxy, Refused, Resolver};

/// The section that all web tools share.
pub(crate) const SECTION: &str = "tools.web.network";

/// The settings that are the same for all requests: the proxy and the resolver.
pub(crate) fn settings(ctx: &ToolContext, network: &WebNetworkSettings) -> Result<GuardSettings, ToolError> {
    let mut settings = GuardSettings::default();
    let unusable =
        |error: &dyn Display| ToolError::unavailable(format!("`tools.web.network.proxy`: {error}"));
    settings.proxies = match &*network.proxy {
        "off" => Proxies::default(),
        "environment" => {
            Proxies::from_environment(|name| env::var(name).ok()).map_err(|error| unusable(&error))?
        }
        address => Proxies::all(address.parse::<Proxy>().map_err(|error| unusable(&error))?),
    };
    if let Some(resolver) = ctx.service::<dyn Resolver>() {
        settings.resolver = resolver;
    }
    Ok(settings)
}

/// Entries of a list. One that cannot be read makes the tool unavailable: an entry that blocks something would otherwise block nothing.
pub(crate) fn parsed<T: FromStr>(entries: &[String], key: &str) -> Result<Vec<T>, ToolError>
where
    T::Err: Display,
{
    let parse = |entry: &String| {
        entry.parse::<T>().map_err(|error| ToolError::unavailable(format!("`{key}`: {error}")))
    };
    entries.iter().map(parse).collect()
}

/// The setting that decides a refusal, as it goes on after the error. `section` has the domains.
pub(crate) fn advice(refused: &Refused, section: &str) -> String {
    match refused {
        Refused::NotPublic { rule, .. } => format!(
            "; a person can allow a range of addresses for all web tools with `tools.web.network.allowedRanges: [\"{}\"]`",
            rule.range
        ),
        Refused::NotAllowed { .. } => {
            format!("; the allowed domains are those of `{section}.allowedDomains`")
        }
        Refused::Blocked { .. } => format!("; the blocked domains are those of `{section}.blockedDomains`"),
        _ => String::new(),
    }
}

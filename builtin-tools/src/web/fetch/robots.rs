//! `robots.txt` (RFC 9309), if the configuration respects it.

use super::super::cache;
use crate::clients;
use std::sync::Arc;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit_http::{Client, Request, Url};

/// User agent name under which rules are searched for.
const NAME: &str = "toolkit";
/// The bytes of a file that are read; the standard demands half a MiB.
const MAX_BYTES: usize = 512 << 10;
/// Time for which the rules of a site are kept.
const KEEP: Duration = Duration::from_hours(1);

/// Checks that a site lets this page be fetched.
pub(super) async fn check(client: &Client, url: &Url) -> Result<(), ToolError> {
    let origin = url.origin().ascii_serialization();
    let key = format!("robots {origin}");
    let rules = match cache::shared().get::<Rules>(&key) {
        Some(rules) => rules,
        None => {
            let rules = Arc::new(fetched(client, &origin).await?);
            cache::shared().put(key, Arc::clone(&rules), 64 * rules.0.len(), KEEP);
            rules
        }
    };
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    if rules.allows(&path) {
        return Ok(());
    }
    Err(ToolError::denied(
        "the site's robots.txt excludes this page from automated readers, and `tools.web.fetch.respectRobots` is set; use another source",
    ))
}

async fn fetched(client: &Client, origin: &str) -> Result<Rules, ToolError> {
    let response = client.send(Request::get(format!("{origin}/robots.txt"))).await;
    let response = response.map_err(|error| clients::tool_error(&error))?;
    if response.status.is_success() {
        let body = &response.body[..response.body.len().min(MAX_BYTES)];
        return Ok(Rules::parse(&String::from_utf8_lossy(body)));
    }
    // By the standard: without a file everything is allowed, and with a server that fails nothing.
    Ok(if response.status.is_server_error() {
        Rules(vec![(false, "/".to_owned())])
    } else {
        Rules(Vec::new())
    })
}

/// Patterns of paths, with whether they allow.
struct Rules(Vec<(bool, String)>);

impl Rules {
    fn parse(text: &str) -> Self {
        let (mut own, mut all) = (Vec::new(), Vec::new());
        let (mut is_own, mut is_all, mut names_follow, mut has_own) = (false, false, false, false);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once(':') else { continue };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            match &*name {
                "user-agent" => {
                    if !names_follow {
                        (is_own, is_all) = (false, false);
                    }
                    names_follow = true;
                    is_own |= value.eq_ignore_ascii_case(NAME);
                    is_all |= value == "*";
                    has_own |= is_own;
                }
                "allow" | "disallow" => {
                    names_follow = false;
                    if value.is_empty() {
                        continue;
                    }
                    let rule = (name == "allow", value.to_owned());
                    if is_own {
                        own.push(rule.clone());
                    }
                    if is_all {
                        all.push(rule);
                    }
                }
                _ => {}
            }
        }
        Self(if has_own { own } else { all })
    }

    /// The longest pattern decides; of two of one length, the one that allows.
    fn allows(&self, path: &str) -> bool {
        let fitting = self.0.iter().filter(|(_, pattern)| fits(pattern, path));
        fitting.max_by_key(|(allows, pattern)| (pattern.len(), *allows)).is_none_or(|(allows, _)| *allows)
    }
}

/// Returns true if a pattern with `*` and an optional final `$` matches the beginning of a path.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let is_open = parts.is_empty();
    for (number, part) in parts.iter().enumerate() {
        if to_the_end && number + 1 == parts.len() {
            return rest.ends_with(part);
        }
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
    }
    !to_the_end || !is_open || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let rules = Rules::parse(
            "# comment\nUser-agent: other\nDisallow: /\n\nUser-Agent: *\nDisallow: /private # all\nAllow: /private/open\n\
             Disallow: /*.pdf$\nDisallow:\nDisallow: /a*z\n",
        );
        for (path, expected) in [
            ("/", true),
            ("/private", false),
            ("/private/x", false),
            ("/private/open/x", true),
            ("/file.pdf", false),
            ("/file.pdf?x", true),
            ("/a/b/z/c", false),
            ("/a/b", true),
        ] {
            assert_eq!(rules.allows(path), expected, "{path}");
        }
        let own =
            Rules::parse("User-agent: *\nDisallow: /\nUser-agent: Toolkit\nUser-agent: b\nDisallow: /x$\n");
        assert!(own.allows("/y") && !own.allows("/x") && own.allows("/xy"));
        assert!(Rules::parse("User-agent: toolkit\nDisallow:\n\nUser-agent: *\nDisallow: /").allows("/"));
        assert!(Rules::parse("nonsense").allows("/"));
    }
}

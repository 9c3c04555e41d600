//! The guard: which URLs and addresses a request may go to.

use crate::special::{self, METADATA_NAMES, SpecialRange};
use crate::target::{Host, Target};
use crate::{AddressRange, DomainRule, Proxies, Refused, Resolver, SystemResolver, embedded};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Maximum number of characters of a URL.
const MAX_URL_CHARS: usize = 8 << 10;

/// Ports that browsers refuse, because servers of other protocols listen there: the list of the
/// [Fetch standard](https://fetch.spec.whatwg.org/#port-blocking), and 0.
const BLOCKED_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Settings of a [`Guard`]. The default allows public addresses alone, without a proxy.
#[derive(Clone)]
#[non_exhaustive]
pub struct GuardSettings {
    /// The only allowed domains; `None` allows all that are not blocked.
    pub allowed_domains: Option<Vec<DomainRule>>,
    /// Hosts that are refused, also where they are allowed.
    pub blocked_domains: Vec<DomainRule>,
    /// Ranges that are allowed although they are not public. Metadata services are refused all the same.
    pub allowed_ranges: Vec<AddressRange>,
    /// Proxies that connections go through.
    pub proxies: Proxies,
    /// Time for a connection, over all addresses of a name. 10 seconds.
    pub connect_timeout: Duration,
    /// Resolves names.
    pub resolver: Arc<dyn Resolver>,
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            allowed_domains: None,
            blocked_domains: Vec::new(),
            allowed_ranges: Vec::new(),
            proxies: Proxies::default(),
            connect_timeout: Duration::from_secs(10),
            resolver: Arc::new(SystemResolver),
        }
    }
}

impl fmt::Debug for GuardSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardSettings")
            .field("allowed_domains", &self.allowed_domains)
            .field("blocked_domains", &self.blocked_domains)
            .field("allowed_ranges", &self.allowed_ranges)
            .field("proxies", &self.proxies)
            .field("connect_timeout", &self.connect_timeout)
            .finish_non_exhaustive()
    }
}

/// Decides which URLs and addresses a request may go to. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    pub(crate) settings: Arc<GuardSettings>,
}

impl Guard {
    /// A guard with these settings.
    pub fn new(settings: GuardSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    /// Checks a URL: scheme, user name, port, domain rules, and the address where it names one. Tabs, line feeds and backslashes are
    /// read as browsers read them.
    ///
    /// # Errors
    ///
    /// The rule that refuses it.
    pub fn check_url(&self, text: &str) -> Result<Target, Refused> {
        if text.len() > MAX_URL_CHARS {
            return Err(Refused::Invalid("it is longer than 8192 bytes"));
        }
        self.check_parsed(Url::parse(text).map_err(|error| Refused::Invalid(reason(error)))?)
    }

    /// Checks a host with a port, as a client names them to a proxy with `CONNECT`: `example.com:443`.
    ///
    /// # Errors
    ///
    /// The rule that refuses it.
    pub fn check_authority(&self, authority: &str) -> Result<Target, Refused> {
        let is_plain = authority
            .chars()
            .all(|char| !char.is_whitespace() && !matches!(char, '/' | '\\' | '?' | '#' | '@'));
        if !is_plain {
            return Err(Refused::Invalid("it is not a host with a port"));
        }
        self.check_url(&format!("https://{authority}/"))
    }

    /// Returns true if the settings name the host of a target: a rule of the allowed domains matches it, or its address, where it is
    /// one, is in an allowed range. So a person has decided about it already.
    pub fn is_named(&self, target: &Target) -> bool {
        let rules = self.settings.allowed_domains.as_deref().unwrap_or_default();
        let in_range = |address| self.settings.allowed_ranges.iter().any(|range| range.contains(address));
        rules.iter().any(|rule| rule.matches(target.host(), target.port()))
            || matches!(target.host(), Host::Address(address) if in_range(*address))
    }

    pub(crate) fn check_parsed(&self, mut url: Url) -> Result<Target, Refused> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refused::Scheme(url.scheme().chars().take(32).collect()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::UserInfo);
        }
        url.set_fragment(None);
        let (Some(host), Some(port)) = (Host::of(&url), url.port_or_known_default()) else {
            return Err(Refused::Invalid("it has no host"));
        };
        if let Host::Domain(domain) = &host {
            let labels = domain.strip_suffix('.').unwrap_or(domain);
            if labels.len() > 253 || labels.split('.').any(|label| label.is_empty() || label.len() > 63) {
                return Err(Refused::Invalid("its host is not a valid domain name"));
            }
            if METADATA_NAMES.contains(&labels) {
                return Err(Refused::Metadata { host });
            }
        }
        if BLOCKED_PORTS.contains(&port) {
            return Err(Refused::Port(port));
        }
        if let Some(rule) = self.settings.blocked_domains.iter().find(|rule| rule.matches(&host, port)) {
            return Err(Refused::Blocked { rule: rule.clone(), host });
        }
        let allowed = self.settings.allowed_domains.as_ref();
        if allowed.is_some_and(|rules| !rules.iter().any(|rule| rule.matches(&host, port))) {
            return Err(Refused::NotAllowed { host });
        }
        if let Host::Address(address) = host {
            self.check_address_of(&host, address)?;
        }
        Ok(Target::new(url, host, port))
    }

    /// Checks an address, and returns it as it may be connected to: an IPv4-mapped address becomes the IPv4 address.
    ///
    /// # Errors
    ///
    /// The rule that refuses it.
    pub fn check_address(&self, address: IpAddr) -> Result<IpAddr, Refused> {
        self.check_address_of(&Host::Address(address), address)
    }

    /// Checks an address of a host. The error names the host.
    pub(crate) fn check_address_of(&self, host: &Host, address: IpAddr) -> Result<IpAddr, Refused> {
        let address = embedded::canonical(address);
        let translated = embedded::nat64(address).map(IpAddr::V4);
        let mut all = embedded::tunnelled(address).map(IpAddr::V4).chain(translated).chain([address]);
        if all.any(special::is_metadata) {
            return Err(Refused::Metadata { host: host.clone() });
        }
        let refuse = |rule: &'static SpecialRange| Err(Refused::NotPublic { host: host.clone(), rule });
        let is_allowed = |address| self.settings.allowed_ranges.iter().any(|range| range.contains(address));
        if is_allowed(address) {
            return Ok(address);
        }
        // A translator connects to the IPv4 address, so that one decides.
        let decisive = translated.unwrap_or(address);
        if is_allowed(decisive) {
            return Ok(address);
        }
        if let Some(rule) = special::special(decisive) {
            return refuse(rule);
        }
        // The prefix may be public, but the tunnel may lead to a private address.
        let inner = embedded::isatap(address).map(IpAddr::V4).filter(|inner| !is_allowed(*inner));
        match inner.and_then(special::special) {
            Some(rule) => refuse(rule),
            None => Ok(address),
        }
    }
}

fn reason(error: url::ParseError) -> &'static str {
    use url::ParseError;
    match error {
        ParseError::EmptyHost => "it has no host",
        ParseError::IdnaError | ParseError::InvalidDomainCharacter => "its host is not a valid domain name",
        ParseError::InvalidPort => "its port is not a number up to 65535",
        ParseError::InvalidIpv4Address => "its host is not a valid IPv4 address",
        ParseError::InvalidIpv6Address => "its host is not a valid IPv6 address",
        ParseError::RelativeUrlWithoutBase => "it has no scheme",
        _ => "it is malformed",
    }
}

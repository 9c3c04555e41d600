//! The browser's program: where it is, and how it is started.

use super::remote::Remote;
use crate::config::BrowserSettings;
use serde::Serialize;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use toolkit::prelude::*;
use toolkit_sandbox::{Feature, probe};

/// Programs that are looked for, in this order.
const NAMES: [&str; 10] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "microsoft-edge-stable",
    "microsoft-edge",
    "brave-browser",
    "chrome-headless-shell",
    "headless_shell",
];

/// Programs with the set-user-id bit by which a browser contains its pages where the system has no user namespaces.
const HELPERS: [&str; 4] = [
    "/usr/lib/chromium/chrome-sandbox",
    "/usr/lib/chromium-browser/chrome-sandbox",
    "/opt/google/chrome/chrome-sandbox",
    "/opt/microsoft/msedge/msedge-sandbox",
];

/// Features that are off: what a browser does by itself, and what would reach the network beside the proxy.
const FEATURES_OFF: &str = "AimEnabled,AimServerRequestOnStartupEnabled,AutofillServerCommunication,\
    CertificateTransparencyComponentUpdater,DestroyProfileOnBrowserClose,DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,\
    InterestFeedContentSuggestions,LensOverlay,MediaRouter,OptimizationHints,PaintHolding,PreconnectFromKeyedService,PreconnectToSearch,\
    SearchEnginePreconnect2,Translate";

const FLAGS: [&str; 38] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-pings",
    // Nothing of its own.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    // Nothing past the proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
    // Pages behave as in the window that a person looks at.
    "--disable-back-forward-cache",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
];

/// The browser that the tool would use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BrowserState {
    /// The program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<PathBuf>,
    /// A browser that runs already, by its debugging URL. It is connected to once a person approves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Why there is none, and how to install one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Why its pages run without the browser's own sandbox (`--no-sandbox`), where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_sandbox: Option<String>,
}

/// Returns the browser that `browser` would use. It looks at files, and for a moment tries what the system has.
///
/// # Errors
///
/// The configuration of the tool cannot be used.
pub fn browser_state(ctx: &ToolContext) -> Result<BrowserState, ToolError> {
    let settings: BrowserSettings = ctx.config()?;
    let found = match Remote::of(&settings) {
        Ok(Some(remote)) => {
            let missing = remote.obstacle();
            return Ok(BrowserState { remote: Some(remote.shown()), missing, ..BrowserState::default() });
        }
        Ok(None) => find(&settings),
        Err(error) => Err(error),
    };
    Ok(match found {
        Ok(executable) => BrowserState {
            executable: Some(executable),
            without_sandbox: sandbox_obstacle().map(ToOwned::to_owned),
            ..BrowserState::default()
        },
        Err(error) => BrowserState { missing: Some(error.message().to_owned()), ..BrowserState::default() },
    })
}

/// Finds the program: the configured one, or the first of the known ones.
pub(super) fn find(settings: &BrowserSettings) -> Result<PathBuf, ToolError> {
    if let Some(configured) = &settings.executable {
        let path = match (configured.strip_prefix("~/"), env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(configured),
        };
        if path.is_absolute() && is_program(&path) {
            return Ok(path);
        }
        return Err(ToolError::unavailable(format!(
            "there is no browser: `tools.browser.executable` names {}, which is not an absolute path of a program; correct the setting",
            toolkit::text::escape_line(configured)
        )));
    }
    let directories: Vec<PathBuf> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    let candidates =
        NAMES.iter().flat_map(|name| directories.iter().map(move |directory| directory.join(name)));
    let mut usable = candidates.filter(|path| path.is_absolute() && is_program(path));
    usable.next().ok_or_else(|| {
        ToolError::unavailable(
            "there is no browser: neither Chromium nor a browser made from it is in a directory of `PATH`; install one (Debian: \
             `apt-get install chromium`, Fedora: `dnf install chromium`), or let a person name one with `tools.browser.executable`",
        )
    })
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
}

/// Why the browser cannot contain its pages by itself, if it cannot. The first time in a process this blocks.
pub(super) fn sandbox_obstacle() -> Option<&'static str> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if is_root {
        return Some("it runs as root, for whom the browser refuses its own sandbox");
    }
    let has_helper = || {
        HELPERS.iter().any(|helper| {
            fs::metadata(helper).is_ok_and(|metadata| metadata.uid() == 0 && metadata.mode() & 0o4000 != 0)
        })
    };
    (!probe().has(Feature::UserNamespace) && !has_helper())
        .then_some("the system has no user namespaces for it")
}

/// The arguments of the program. `proxy` is an address that all traffic goes to.
pub(super) fn arguments(
    data: &Path,
    proxy: &str,
    viewport: (u32, u32),
    without_sandbox: bool,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = FLAGS.iter().map(OsString::from).collect();
    let mut directory = OsString::from("--user-data-dir=");
    directory.push(data);
    arguments.push(directory);
    arguments.push(format!("--disable-features={FEATURES_OFF}").into());
    arguments.push(format!("--proxy-server={proxy}").into());
    arguments.push(format!("--window-size={},{}", viewport.0, viewport.1).into());
    if without_sandbox {
        arguments.push("--no-sandbox".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(executable: Option<&str>) -> BrowserSettings {
        let mut settings: BrowserSettings = serde_json::from_value(serde_json::json!({})).unwrap();
        settings.executable = executable.map(ToOwned::to_owned);
        settings
    }

    #[test]
    fn a_configured_program_is_used_or_refused() {
        assert_eq!(find(&settings(Some("/bin/sh"))).unwrap(), Path::new("/bin/sh"));
        for executable in ["/no/such/program", "sh", "/etc/passwd", "/etc", "~/no-such-program"] {
            let error = find(&settings(Some(executable))).unwrap_err();
            assert!(error.message().contains("`tools.browser.executable` names"), "{error}");
        }
    }

    #[test]
    fn everything_goes_through_the_proxy() {
        let arguments = arguments(Path::new("/data"), "http://127.0.0.1:5", (800, 600), false);
        let is = |argument: &str| arguments.iter().any(|given| given == argument);
        for argument in [
            "--proxy-server=http://127.0.0.1:5",
            "--proxy-bypass-list=<-loopback>",
            "--disable-quic",
            "--user-data-dir=/data",
            "--window-size=800,600",
        ] {
            assert!(is(argument), "{argument}");
        }
        assert!(!is("--no-sandbox"));
        assert!(!arguments.iter().any(|given| given.to_string_lossy().contains("remote-debugging-port")));
    }
}

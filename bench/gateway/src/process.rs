//! The process of a gateway.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::Result;
use crate::connection::Connection;

/// Time between two looks at a process that starts.
const PAUSE: Duration = Duration::from_micros(500);
/// No start takes so long.
const LONG: Duration = Duration::from_mins(1);
/// Ticks of the processor time in a second.
const TICKS: f64 = 100.0;

/// Makes a directory with a configuration of the model at this address, and further settings of JSON5, which end with a comma.
pub fn directory(model: &str, settings: &str) -> Result<TempDir> {
    let directory = tempfile::tempdir()?;
    for name in ["user", "work"] {
        fs::create_dir(directory.path().join(name))?;
    }
    let configuration = format!(
        "{{ {settings} models: {{ local: {{ baseUrl: '{model}', model: 'm', contextTokens: 128000 }} }} }}"
    );
    fs::write(directory.path().join("user/toolkit.json5"), configuration)?;
    Ok(directory)
}

/// A gateway that runs; its process ends when this is dropped.
#[derive(Debug)]
pub struct Gateway {
    child: Child,
    /// Its address, `host:port`.
    pub address: String,
    /// The token of the owner.
    pub token: String,
    /// The time from the start of the process to the first answer that it is healthy.
    pub healthy_after: Duration,
}

impl Gateway {
    /// Starts a gateway, and waits until it says that it is healthy.
    pub async fn start(toolkit: &Path, directory: &Path) -> Result<Self> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let mut command = Command::new(toolkit);
        command.args(["gateway", "--address", &address]).current_dir(directory.join("work"));
        command
            .env("TOOLKIT_CONFIG_DIR", directory.join("user"))
            .env("TOOLKIT_DATA_DIR", directory.join("data"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn()?;
        let healthy_after = loop {
            if let Ok(mut connection) = Connection::open(&address).await {
                let (status, body) = connection.request("GET", "/healthz", "", "").await?;
                let took = begun.elapsed();
                if status != 200 || !body.windows(4).any(|word| word == b"\"ok\"") {
                    return Err(
                        format!("it is not healthy: {status} {}", String::from_utf8_lossy(&body)).into()
                    );
                }
                break took;
            }
            if let Some(status) = child.try_wait()? {
                return Err(format!("the gateway ended: {status}").into());
            }
            if begun.elapsed() > LONG {
                return Err("the gateway does not start".into());
            }
            tokio::time::sleep(PAUSE).await;
        };
        let token = fs::read_to_string(directory.join("data/gateway.token"))?.trim().to_owned();
        Ok(Self { child, address, token, healthy_after })
    }

    /// The resident memory, in megabytes of 1,000,000 bytes.
    pub fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory")?;
        let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kibibytes * 1_024.0 / 1e6)
    }

    /// The processor time so far, in seconds, of user and system.
    pub fn processor_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = stat.rsplit_once(") ").ok_or("no fields")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
        Ok(ticks / TICKS)
    }

    /// Stops it in order.
    pub async fn stop(mut self) -> Result<()> {
        let mut connection = Connection::open(&self.address).await?;
        let (status, _) = connection.request("POST", "/v1/stop", &self.token, "{}").await?;
        if status != 202 {
            return Err(format!("it does not stop: {status}").into());
        }
        while self.child.try_wait()?.is_none() {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

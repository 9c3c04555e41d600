//! The listeners of a gateway: the one of its address, and with TLS another one for the programs of this machine.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolkit_serve::{ServeOptions, Tls, serve, serve_with};

use super::error::GatewayError;
use crate::http;
use crate::settings::{GatewaySettings, TlsFiles};

/// Listeners that accept no connections yet.
pub(super) struct Listening {
    pub(super) address: SocketAddr,
    /// The address for programs of this machine, in clear text.
    pub(super) local_address: SocketAddr,
    listener: TcpListener,
    /// With TLS, and a listener for programs of this machine, which know no name that the certificate is for.
    tls: Option<(Tls, TcpListener)>,
    is_behind_proxy: bool,
}

/// Refuses an address that other machines reach, unless TLS is configured or a proxy does it.
pub(super) fn check(address: SocketAddr, settings: &GatewaySettings) -> Result<(), GatewayError> {
    if let Some(TlsFiles { certificate, key }) = &settings.tls {
        for path in [certificate, key] {
            if !path.is_absolute() {
                return Err(GatewayError::RelativeTls { path: path.clone() });
            }
        }
    }
    if address.ip().is_loopback() || settings.behind_proxy || settings.tls.is_some() {
        return Ok(());
    }
    Err(GatewayError::Open { address })
}

impl Listening {
    pub(super) async fn bind(
        listen_on: SocketAddr,
        settings: &GatewaySettings,
    ) -> Result<Self, GatewayError> {
        let is_behind_proxy = settings.behind_proxy;
        let tls = match &settings.tls {
            None => None,
            Some(TlsFiles { certificate, key }) => {
                let (certificate, key) = (certificate.clone(), key.clone());
                let read = tokio::task::spawn_blocking(move || Tls::from_files(certificate, key)).await;
                let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
                Some(read.map_err(|reason| GatewayError::Tls { reason })?)
            }
        };
        let cannot_listen = |reason| GatewayError::Address { address: listen_on, reason };
        let (listener, address) = bound(listen_on).await.map_err(cannot_listen)?;
        let Some(tls) = tls else {
            return Ok(Self { address, local_address: address, listener, tls: None, is_behind_proxy });
        };
        let (local, local_address) =
            bound(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.map_err(cannot_listen)?;
        Ok(Self { address, local_address, listener, tls: Some((tls, local)), is_behind_proxy })
    }

    /// Serves until `shutdown` is cancelled.
    pub(super) fn serve(self, service: http::Service, shutdown: CancellationToken) -> JoinHandle<()> {
        let Self { listener, tls, is_behind_proxy, .. } = self;
        let mut options = ServeOptions::default();
        if is_behind_proxy {
            // All connections come from the proxy.
            options.max_of_address = options.max_connections;
        }
        tokio::spawn(async move {
            let ended = match tls {
                None => serve_with(listener, service, shutdown, options).await,
                Some((tls, local)) => {
                    let listener = tls.listener(listener);
                    let with_tls = serve_with(listener, service.clone(), shutdown.clone(), options);
                    tokio::try_join!(with_tls, serve(local, service, shutdown)).map(|_| ())
                }
            };
            if let Err(error) = ended {
                tracing::error!(%error, "serving HTTP ended");
            }
        })
    }
}

async fn bound(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

//! The file that tells clients on this machine where the gateway is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The file of a gateway that runs.
#[derive(Debug)]
pub(crate) struct AddressFile(PathBuf);

impl AddressFile {
    /// Its name in the data directory.
    pub(crate) const NAME: &str = crate::store::ADDRESS_FILE;

    /// Writes it, whole or not at all.
    pub(crate) fn write(data_dir: &Path, address: SocketAddr) -> io::Result<Self> {
        let path = data_dir.join(Self::NAME);
        let mut address = address;
        if address.ip().is_unspecified() {
            // Clients on this machine reach it there.
            address.set_ip(if address.is_ipv4() {
                Ipv4Addr::LOCALHOST.into()
            } else {
                Ipv6Addr::LOCALHOST.into()
            });
        }
        // One gateway at a time has the directory, so nobody else writes it.
        let part = path.with_extension("address.new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&part)?.write_all(address.to_string().as_bytes())?;
        fs::rename(&part, &path)?;
        Ok(Self(path))
    }

    /// Reads the address of the gateway that has the directory. One that no gateway removed is read, too: whoever asks checks first that one
    /// runs.
    pub(crate) fn read(data_dir: &Path) -> io::Result<SocketAddr> {
        let text = fs::read_to_string(data_dir.join(Self::NAME))?;
        text.trim().parse().map_err(|_| {
            let path = data_dir.join(Self::NAME);
            io::Error::new(io::ErrorKind::InvalidData, format!("{} holds no address", path.display()))
        })
    }
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

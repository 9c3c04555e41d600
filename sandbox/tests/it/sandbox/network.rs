//! IP addresses that a command reaches: a loopback of its own with the network off, and the machine's if it is let in.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use crate::common::{finish, within};
use crate::sandbox::Yard;
use crate::sandbox::attempts::PREPARE;
use toolkit_sandbox::{Mode, Part, Sandbox};

/// Services of this machine, at all its addresses where that can be: of TCP and UDP, with the same port.
pub(crate) fn listening() -> (TcpListener, UdpSocket) {
    loop {
        let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0")).unwrap();
        let address = listener.local_addr().unwrap();
        if let Ok(datagrams) = UdpSocket::bind(address) {
            listener.set_nonblocking(true).unwrap();
            datagrams.set_nonblocking(true).unwrap();
            return (listener, datagrams);
        }
    }
}

/// A local socket of packets, which listens.
pub(crate) fn packets(path: &Path) -> OwnedFd {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
    let socket = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    bind(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    listen(&socket, 5).unwrap();
    socket
}

/// An address of this machine that is no loopback, if it has one.
pub(crate) fn address() -> String {
    let any = UdpSocket::bind("0.0.0.0:0").unwrap();
    let is_on_the_way = any.connect("192.0.2.1:9").and_then(|()| any.local_addr());
    is_on_the_way.map_or("192.0.2.1".to_owned(), |address| address.ip().to_string())
}

/// Fails where somebody has reached the services of this machine.
pub(crate) fn nothing_came(yard: &Yard) {
    assert!(yard.listener.accept().is_err(), "somebody has come in by TCP");
    assert!(yard.datagrams.recv(&mut [0; 9]).is_err(), "somebody has written by UDP");
    nothing_came_locally(yard);
}

/// Fails where somebody has reached a local socket of the test.
pub(crate) fn nothing_came_locally(yard: &Yard) {
    for local in &yard.local {
        assert!(local.accept().is_err(), "somebody has connected to {:?}", local.local_addr());
    }
    assert!(yard.local_datagrams.recv(&mut [0; 9]).is_err(), "somebody has written to a local socket");
}

/// A service of one job cannot be reached by another: each has its own loopback.
pub(crate) async fn each_has_a_loopback_of_its_own(yard: &Yard, sandbox: Sandbox, says: &str) {
    std::fs::write(yard.place.output(), "").unwrap();
    let script = "exec python3 -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", 40404)); time.sleep(1000)'";
    let first = yard.command(script, Mode::ReadOnly).sandbox(sandbox.clone()).spawn().await.unwrap();
    let script = "sleep 0.3; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 40404))'";
    let (_, exit) = finish(yard.command(script, Mode::ReadOnly).sandbox(sandbox)).await;
    assert!(!exit.success() && yard.place.text().contains(says), "{}", yard.place.text());
    within(5, first.stop(Duration::ZERO)).await;
}

/// The machine's own, where it is let in.
pub(crate) async fn it_can_be_let_in(yard: &Yard) {
    let script = format!(
        "python3 - <<'EOF'\n{PREPARE}socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 2)\nEOF"
    );
    let command = yard
        .command(&script, Mode::WorkspaceWrite)
        .sandbox(yard.sandbox(Mode::WorkspaceWrite).with_network(true));
    let (job, exit) = finish(command).await;
    assert!(exit.success(), "{}", yard.place.text());
    assert!(!job.containment().holds(Part::Network));

    // Whatever else this kernel has is not asked for: it would say that it does not know the family, or load it.
    let script = format!(
        "python3 - <<'EOF'\n{PREPARE}{}\nEOF",
        "wrong = []\n\
         def tried(*a):\n\
         \x20   fd = libc.socket(*a)\n\
         \x20   return 0 if fd >= 0 else ctypes.get_errno()\n\
         for family in range(64):\n\
         \x20   error = tried(family, 1 if family == 1 else 2, 0)\n\
         \x20   if (error == 1) != (family not in (1, 2, 10, 16)): wrong.append((family, error))\n\
         for protocol in range(1, 32):\n\
         \x20   if tried(16, 3, protocol) != 1: wrong.append(('netlink', protocol))\n\
         if tried(16, 3, 0): wrong.append('routes')\n\
         for family in (2, 10):\n\
         \x20   for protocol in (33, 132, 136): wrong += [(family, protocol)] if tried(family, 1, protocol) != 1 else []\n\
         \x20   if tried(family, 6, 0) != 1: wrong.append((family, 'dccp'))\n\
         \x20   for kind, protocol in (1, 6), (2, 17): wrong += [(family, protocol)] if tried(family, kind, protocol) == 1 else []\n\
         import socket; socket.getaddrinfo('localhost', 80)\n\
         sys.exit(repr(wrong) if wrong else 0)"
    );
    std::fs::write(yard.place.output(), "").unwrap();
    let sandbox = yard.sandbox(Mode::WorkspaceWrite).with_network(true);
    let (_, exit) = finish(yard.command(&script, Mode::WorkspaceWrite).sandbox(sandbox)).await;
    assert!(exit.success(), "{}", yard.place.text());
}

/// With the network let in, other sockets in the file system stay out of reach, and the sandbox's own in `/tmp` work.
pub(crate) async fn local_sockets_with_the_network(yard: &Yard) {
    let script = format!(
        "python3 - <<'EOF'\n{PREPARE}{}\nEOF",
        "import time\n\
         for path in 'host.sock', os.environ['OUT'] + '/host.sock', '\\0' + os.environ['ABSTRACT']:\n\
         \x20   try: socket.socket(socket.AF_UNIX).connect(path)\n\
         \x20   except OSError: pass\n\
         \x20   else: sys.exit('connected to ' + path)\n\
         for path in '/tmp/s', '/var/tmp/s', '/dev/shm/s', '\\0own' + str(time.time()):\n\
         \x20   server = socket.socket(socket.AF_UNIX); server.bind(path); server.listen()\n\
         \x20   socket.socket(socket.AF_UNIX).connect(path)"
    );
    std::fs::write(yard.place.output(), "").unwrap();
    let sandbox = yard.sandbox(Mode::WorkspaceWrite).with_network(true);
    let (_, exit) = finish(yard.command(&script, Mode::WorkspaceWrite).sandbox(sandbox)).await;
    assert!(exit.success(), "{}", yard.place.text());
}

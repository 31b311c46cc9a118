//! Addresses, and where plain text may go.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, ToSocketAddrs};

use comity_core::{Error, Result};

/// A host and port as the user wrote it, and the addresses that it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    text: String,
    sockets: Vec<SocketAddr>,
    /// Whether it is a port alone: all addresses of this machine.
    everywhere: bool,
}

impl Address {
    /// The address to listen at: `:PORT` stands for all addresses of this machine, as `[::]:PORT` does.
    pub(crate) fn to_listen(text: &str) -> Result<Address> {
        let Some(port) = port_alone(text) else { return Address::resolve(text) };
        let all = [(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()];
        Ok(Address { text: text.into(), sockets: all.to_vec(), everywhere: true })
    }

    /// The address to call: `:PORT` is on this machine.
    pub(crate) fn to_call(text: &str) -> Result<Address> {
        let address = match port_alone(text) {
            Some(port) => Address::resolve(&format!("localhost:{port}"))?,
            None => Address::resolve(text)?,
        };
        if address.sockets.iter().any(|socket| socket.ip().is_unspecified()) {
            return Err(Error::invalid_input(format!(
                "{text} stands for all addresses of a machine, so it can be listened at and not called: call one \
                    address, such as 127.0.0.1:PORT for this machine"
            )));
        }
        Ok(address)
    }

    /// Looks the host up, once: so the addresses that are checked are those that are connected to.
    fn resolve(text: &str) -> Result<Address> {
        let wrong = |why: &str| Error::invalid_input(format!("{text} is not an address ({why}): give HOST:PORT"));
        if text.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(wrong("it does not end with a port from 0 to 65535"));
        }
        match text.to_socket_addrs() {
            Ok(sockets) => {
                let sockets: Vec<_> = sockets.collect();
                if sockets.is_empty() {
                    Err(wrong("the host name has no address"))
                } else {
                    Ok(Address { text: text.into(), sockets, everywhere: false })
                }
            }
            Err(source) => Err(Error::system(format!("cannot find the host of {text}"), source)),
        }
    }

    /// The address of a socket that is connected already.
    pub(crate) fn known(socket: SocketAddr) -> Address {
        Address { text: socket.to_string(), sockets: vec![socket], everywhere: false }
    }

    /// Whether it is a port alone, to listen at.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.everywhere
    }

    pub(crate) fn sockets(&self) -> &[SocketAddr] {
        &self.sockets
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The port of an address that has no host.
fn port_alone(text: &str) -> Option<u16> {
    text.strip_prefix(':')?.parse().ok()
}

/// Where a socket listens, for people.
pub(crate) fn place(socket: &SocketAddr) -> String {
    match socket.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => format!("port {} of all IPv4 addresses of this machine", socket.port()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => format!("port {} of all addresses of this machine", socket.port()),
        _ => socket.to_string(),
    }
}

/// Whether traffic at this address stays on this machine, if one calls it or listens at it. An address that
/// cannot be looked up counts as local: using it fails soon after.
pub fn stays_here(address: &str) -> bool {
    Address::to_listen(address).map_or(true, |address| address.sockets.iter().all(is_loopback))
}

/// Whether a text is an address that a peer can be called at: a name of the Internet, an IPv4 address or an
/// IPv6 address in brackets, and a port. No other character is in it, so it can be shown anywhere.
pub(crate) fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    if text.parse::<SocketAddr>().is_ok_and(|socket| socket.ip().is_unspecified()) {
        return false;
    }
    let number = port.bytes().all(|c| c.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    let label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_')
    };
    number
        && match host.strip_prefix('[') {
            Some(_) => text.parse::<SocketAddrV6>().is_ok(),
            None => host.len() <= 253 && host.strip_suffix('.').unwrap_or(host).split('.').all(label),
        }
}

/// Whether bytes sent to this address stay on this machine.
pub fn is_loopback(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Checks that plain text is allowed at `address` (of the peer, or to listen at). It is on this machine;
/// beyond it, where everyone on the way could read and change it, only if `anywhere` is set.
///
/// # Errors
///
/// [`InvalidInput`](comity_core::Kind) says how to use TLS instead.
pub fn check_plaintext(address: &SocketAddr, anywhere: bool) -> Result<()> {
    if anywhere || is_loopback(address) {
        return Ok(());
    }
    Err(Error::invalid_input(format!(
        "what is sent to and from {address} may leave this machine, and in plain text everyone on the way could read and change \
         it: use TLS (--tls DIR, with keys from `comity key new` and `comity key trust`), or ask for --plaintext"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_what_stays_here() {
        for (address, here) in [
            ("127.0.0.1:1", true),
            ("127.8.9.10:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("10.0.0.1:1", false),
            ("[::ffff:10.0.0.1]:1", false),
        ] {
            let socket: SocketAddr = address.parse().unwrap();
            assert_eq!(is_loopback(&socket), here, "{address}");
            assert_eq!(check_plaintext(&socket, false).is_ok(), here, "{address}");
            assert!(check_plaintext(&socket, true).is_ok());
        }
    }

    #[test]
    fn addresses_are_hosts_and_ports() {
        for text in ["a.example:7000", "a:1", "A-1_b.example.:65535", "127.0.0.1:80", "[::1]:80", "[fe80::1%2]:443"] {
            assert!(is_address(text), "{text}");
        }
        let long = format!("{}:1", "a.".repeat(127));
        let wrong = [
            "",
            ":",
            "a",
            "a:",
            ":1",
            "a:0",
            "a:65536",
            "a:+1",
            "a: 1",
            " a:1",
            "a b:1",
            "a\n:1",
            "a\u{1b}[2J:1",
            "ä:1",
            "a..b:1",
            ".a:1",
            "::1:80",
            "[::1]",
            "[::1:80",
            "[a]:80",
            "[::1] :80",
            "[fe80::1%\u{1b}]:80",
            "a/b:1",
            "a@b:1",
            &long,
        ];
        for text in wrong {
            assert!(!is_address(text), "{text:?}");
        }
    }

    #[test]
    fn wrong_addresses_are_told() {
        for text in ["", "host", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:http", "::1"] {
            for address in [Address::to_listen(text), Address::to_call(text)] {
                let said = address.map(|_| ()).unwrap_err().to_string();
                assert!(said.contains(text) || said.contains("HOST:PORT"), "{said}");
            }
        }
        assert_eq!(Address::to_call("127.0.0.1:7000").unwrap().sockets(), ["127.0.0.1:7000".parse().unwrap()]);
    }

    #[test]
    fn a_port_alone_is_everywhere_to_listen_at_and_here_to_call() {
        let all = Address::to_listen(":7430").unwrap();
        assert_eq!(all.sockets(), ["[::]:7430".parse().unwrap(), "0.0.0.0:7430".parse().unwrap()]);
        assert!(all.is_everywhere() && !stays_here(":7430") && !stays_here("0.0.0.0:7430"));
        let here = Address::to_call(":7430").unwrap();
        assert!(here.sockets().iter().all(|socket| is_loopback(socket) && socket.port() == 7430));
        for text in ["0.0.0.0:7430", "[::]:7430"] {
            let said = Address::to_call(text).map(|_| ()).unwrap_err().to_string();
            assert!(said.contains("can be listened at and not called"), "{said}");
            assert!(Address::to_listen(text).is_ok() && !is_address(text));
        }
        assert!(stays_here("127.0.0.1:1") && stays_here("localhost:1"));
        assert_eq!(place(&"[::]:7430".parse().unwrap()), "port 7430 of all addresses of this machine");
        assert_eq!(place(&"127.0.0.1:7430".parse().unwrap()), "127.0.0.1:7430");
    }
}

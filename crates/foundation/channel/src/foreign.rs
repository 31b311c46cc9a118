//! What a connection's first bytes look like if they are not comity's.

/// The protocol that `bytes`, the first ones of a connection, belong to; `None` if that cannot be told.
pub fn foreign(bytes: &[u8]) -> Option<&'static str> {
    const HTTP: [&[u8]; 7] = [b"GET ", b"POST", b"HTTP", b"HEAD", b"PUT ", b"OPTI", b"PRI "];
    match bytes {
        [0x14..=0x17, 0x03, 0x00..=0x04, ..] => Some("TLS"),
        _ if HTTP.iter().any(|start| bytes.starts_with(start)) => Some("HTTP"),
        _ if bytes.starts_with(b"SSH-") => Some("SSH"),
        _ => None,
    }
}

/// The message for a party that expected comity and got these first bytes.
pub(crate) fn no_comity(bytes: &[u8]) -> String {
    match foreign(bytes) {
        Some("TLS") => "the peer speaks TLS, and this side plain text: set up both sides alike".into(),
        Some(other) => format!("the peer speaks {other}, not comity: check the address and the port"),
        None => "the peer's first bytes are not comity's: check the address and the port".into(),
    }
}

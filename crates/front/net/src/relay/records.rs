//! Records: whether bytes are TLS, as far as their headers say (RFC 8446, section 5.1).

/// Bytes of a record's header: type, version and length.
const HEADER: usize = 5;

/// The most bytes that can follow it.
const LONGEST: usize = (1 << 14) + 256;

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

/// One direction of a connection. Only the headers of its records are looked at.
pub(crate) struct Records {
    header: [u8; HEADER],
    have: usize,
    /// Bytes of the record that are still to come.
    left: usize,
    begun: bool,
    /// Whether this side may begin with an alert: it refuses the other one's handshake.
    may_refuse: bool,
}

impl Records {
    pub(crate) fn new(may_refuse: bool) -> Records {
        Records { header: [0; HEADER], have: 0, left: 0, begun: false, may_refuse }
    }

    /// Whether these bytes, after all before them, are TLS. The first record has to be of a handshake.
    pub(crate) fn pass(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(&byte) = bytes.first() {
            if self.left > 0 {
                let within = self.left.min(bytes.len());
                self.left -= within;
                bytes = &bytes[within..];
                continue;
            }
            self.header[self.have] = byte;
            self.have += 1;
            bytes = &bytes[1..];
            if !self.fits() {
                return false;
            }
            if self.have == HEADER {
                self.left = usize::from(u16::from_be_bytes([self.header[3], self.header[4]]));
                (self.have, self.begun) = (0, true);
            }
        }
        true
    }

    /// Whether the header fits, as far as it has come.
    fn fits(&self) -> bool {
        let [kind, major, minor, high, low] = self.header;
        match self.have {
            1 if self.begun => (20..=23).contains(&kind),
            1 => kind == HANDSHAKE || (self.may_refuse && kind == ALERT),
            2 => major == 3,
            3 => minor <= 4,
            HEADER => usize::from(u16::from_be_bytes([high, low])) <= LONGEST,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, len: usize) -> Vec<u8> {
        [&[kind, 3, 3][..], &(len as u16).to_be_bytes(), &vec![0xee; len]].concat()
    }

    /// Whether these bytes pass, in pieces of any length.
    fn passes(bytes: &[u8], may_refuse: bool) -> bool {
        let all: Vec<bool> = [1, 2, 3, 7, bytes.len().max(1)]
            .into_iter()
            .map(|piece| {
                let mut records = Records::new(may_refuse);
                bytes.chunks(piece).all(|piece| records.pass(piece))
            })
            .collect();
        assert!(all.iter().all(|one| *one == all[0]), "pieces make no difference");
        all[0]
    }

    #[test]
    fn what_begins_as_a_handshake_and_goes_on_in_records_passes() {
        let whole = [record(22, 100), record(20, 1), record(23, LONGEST), record(21, 2), record(23, 0)].concat();
        assert!(passes(&whole, false) && passes(&whole[..150], false) && passes(&[], false));
        assert!(passes(&record(21, 2), true) && !passes(&record(21, 2), false));
    }

    #[test]
    fn what_is_no_tls_does_not_pass() {
        for bytes in [b"GET / HTTP/1.1\r\n".as_slice(), b"SSH-2.0-x\r\n", b"\x16\x02", b"\x16\x03\x05", b"\x00"] {
            assert!(!passes(bytes, true), "{bytes:?}");
        }
        assert!(!passes(&record(23, 5), false), "data before a handshake");
        assert!(!passes(&record(22, LONGEST + 1), false), "too long a record");
        let later = [record(22, 100), b"plain text".to_vec()].concat();
        assert!(!passes(&later, false), "plain text behind a handshake");
    }
}

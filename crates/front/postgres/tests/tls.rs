//! TLS to a server on a port: accepted is the one that a root vouches for, under its name, and no other.

use std::fs;
use std::io::Write;

use crate::common::path;
use comity_postgres::server::Server;
use comity_postgres::{Error, Result, connect};
use ring::signature::{Ed25519KeyPair, KeyPair};

/// A value of DER: tag, length, and what is in it.
fn der(tag: u8, inside: &[&[u8]]) -> Vec<u8> {
    let inside = inside.concat();
    let length = u16::try_from(inside.len()).unwrap().to_be_bytes();
    let head = match inside.len() {
        0..0x80 => vec![tag, length[1]],
        0x80..0x100 => vec![tag, 0x81, length[1]],
        _ => vec![tag, 0x82, length[0], length[1]],
    };
    [head, inside].concat()
}

const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 6;
const BITS: u8 = 3;
const OCTETS: u8 = 4;

/// The algorithm's id of Ed25519, 1.3.101.112 (RFC 8410).
fn algorithm() -> Vec<u8> {
    der(SEQUENCE, &[&der(OBJECT, &[&[0x2b, 101, 112]])])
}

fn name(common: &str) -> Vec<u8> {
    let attribute = [der(OBJECT, &[&[0x55, 4, 3]]), der(0x0c, &[common.as_bytes()])].concat();
    der(SEQUENCE, &[&der(0x31, &[&der(SEQUENCE, &[&attribute])])])
}

fn pem(label: &str, der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in der.chunks(3) {
        let bits = part.iter().enumerate().fold(0u32, |bits, (i, byte)| bits | u32::from(*byte) << (16 - 8 * i));
        for i in 0..4 {
            text.push(if i <= part.len() { DIGITS[(bits >> (18 - 6 * i) & 63) as usize].into() } else { '=' });
        }
    }
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| core::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// A certificate (RFC 5280): of an authority, or of a server for this name.
fn certificate(issuer: (&str, &Ed25519KeyPair), subject: (&str, &Ed25519KeyPair), host: Option<&str>) -> String {
    let extension =
        |id: u8, value: Vec<u8>| der(SEQUENCE, &[&der(OBJECT, &[&[0x55, 29, id]]), &der(OCTETS, &[&value])]);
    let extension = match host {
        Some(host) => extension(17, der(SEQUENCE, &[&der(0x82, &[host.as_bytes()])])),
        None => extension(19, der(SEQUENCE, &[&der(1, &[&[0xff]])])),
    };
    let time = |text: &str| der(0x17, &[text.as_bytes()]);
    let body = der(
        SEQUENCE,
        &[
            &der(0xa0, &[&der(2, &[&[2]])]),
            &der(2, &[&[1 + u8::from(host.is_some())]]),
            &algorithm(),
            &name(issuer.0),
            &der(SEQUENCE, &[&time("250101000000Z"), &time("491231235959Z")]),
            &name(subject.0),
            &der(SEQUENCE, &[&algorithm(), &der(BITS, &[&[0], subject.1.public_key().as_ref()])]),
            &der(0xa3, &[&der(SEQUENCE, &[&extension])]),
        ],
    );
    let signature = issuer.1.sign(&body);
    pem("CERTIFICATE", &der(SEQUENCE, &[&body, &algorithm(), &der(BITS, &[&[0], signature.as_ref()])]))
}

fn keys(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

#[test]
fn only_the_server_that_a_root_vouches_for_is_accepted() {
    let Some(server) = Server::start().unwrap() else {
        // The test runner would keep what `eprintln!` says to itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: PostgreSQL is not installed");
        return;
    };
    let unix = server.database().unwrap();
    let database = unix.split("dbname=").nth(1).unwrap();
    let (authority, own) = (keys(1), keys(2));
    let [root, stranger, impostor] = ["root.pem", "stranger.pem", "impostor.pem"].map(path);
    fs::write(&root, certificate(("root", &authority), ("root", &authority), None)).unwrap();
    fs::write(&stranger, certificate(("stranger", &keys(3)), ("stranger", &keys(3)), None)).unwrap();
    fs::write(&impostor, certificate(("root", &keys(3)), ("root", &keys(3)), None)).unwrap();
    let leaf = certificate(("root", &authority), ("server", &own), Some("localhost"));
    // PKCS #8 of a seed (RFC 8410, section 7).
    let key = [der(2, &[&[0]]), algorithm(), der(OCTETS, &[&der(OCTETS, &[&[2; 32]])])].concat();
    let key = pem("PRIVATE KEY", &der(SEQUENCE, &[&key]));

    // A server without TLS: refused where a root is named.
    let to = |host: &str, port: u16| format!("host={host} port={port} user=comity dbname={database}");
    let port = server.listen(None).unwrap();
    assert!(connect(&to("localhost", port), None).is_ok(), "on this machine it may be plain");
    let refused = |result: Result<postgres::Client>, why: &str| match result.err() {
        Some(Error::Connection(error)) => {
            let said = Error::Connection(error).to_string();
            assert!(said.contains(why), "{said}");
        }
        other => panic!("{why}: {other:?}"),
    };
    refused(connect(&to("localhost", port), Some(&root)), "TLS");

    let port = server.listen(Some([&leaf, &key])).unwrap();
    // Whatever the address says of TLS, a root asks for it.
    for more in ["", " sslmode=disable", " sslmode=prefer"] {
        let mut client = connect(&format!("{}{more}", to("localhost", port)), Some(&root)).unwrap();
        let row = client.query_one("select ssl, version from pg_stat_ssl where pid = pg_backend_pid()", &[]).unwrap();
        assert_eq!((row.get(0), row.get(1)), (true, Some("TLSv1.3".to_owned())));
    }
    refused(connect(&to("localhost", port), Some(&stranger)), "UnknownIssuer");
    refused(connect(&to("localhost", port), Some(&impostor)), "BadSignature");
    refused(connect(&to("127.0.0.1", port), Some(&root)), "not valid for name");
    for file in [root, stranger, impostor] {
        fs::remove_file(file).unwrap();
    }
}

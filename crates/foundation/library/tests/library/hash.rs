//! Hashes of whole messages against published vectors, and against their own building blocks for every length.

use comity_library::hash::{self, Chain, Sponge};

use crate::{circuit, run_hex, run_program};

const KEY: &str = "000102030405060708090a0b0c0d0e0f";
const NONCE: &str = "000000000000000000000000";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs the built-in program for a message of this length.
fn digest(family: &str, message: &[u8]) -> String {
    let program = comity_library::program(&format!("{family}-{}", message.len())).unwrap();
    run_program(&program, &[&hex(message)]).remove(0)
}

#[test]
fn md5_is_that_of_rfc_1321() {
    for (message, expected) in [
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (&"1234567890".repeat(8), "57edf4a22be3c955ac49da2e2107b67a"),
    ] {
        assert_eq!(digest("md5", message.as_bytes()), expected, "{message}");
    }
}

#[test]
fn messages_hash_as_fips_180_has_them() {
    let two = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    let thousand = [b'a'; 1000];
    for (family, message, expected) in [
        ("sha1", &b"abc"[..], "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha1", two, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        ("sha256", b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("sha256", two, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        ("sha256", &thousand, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
        (
            "sha512",
            b"abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        ("sha3-224", b"abc", "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
        ("sha3-256", b"abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        ("sha3-256", two, "41c0dba2a9d6240849100376a8235e2c82e1b9998a999e21db32dd97496d3376"),
        ("sha3-256", &[0xa3; 200], "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787"),
        (
            "sha3-384",
            b"abc",
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
        ),
        (
            "sha3-512",
            &[0xa3; 200],
            "e76dfad22084a8b1467fcf2ffa58361bec7628edf5f3fdc0e4805dc48caeeca8\
             1b7c13c30adf52a3659584739a2df46be589c51ca1a4a8416df6545a1ce8ba00",
        ),
    ] {
        assert_eq!(digest(family, message), expected, "{family} of {} bytes", message.len());
    }
    // A million bytes are 15,625 blocks and the padding, and a small program.
    let program = comity_library::program("sha256-1000000").unwrap();
    assert_eq!(program.totals().calls, 15_626);
}

#[test]
fn an_empty_message_has_a_digest_and_an_empty_key_makes_a_tag() {
    for (name, expected) in [
        ("md5-0", "d41d8cd98f00b204e9800998ecf8427e"),
        ("sha1-0", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("sha256-0", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (
            "sha512-0",
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
             47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
        ),
        ("sha3-224-0", "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7"),
        ("sha3-256-0", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
        (
            "sha3-384-0",
            "0c63a75b845e4f7d01107d852e4c2485c51a50aaaa94fc61995e71bbee983a2ac3713831264adb47fb6bd1e058d5f004",
        ),
        (
            "sha3-512-0",
            "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a6\
             15b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26",
        ),
        ("shake128-0x32", "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26"),
        (
            "shake256-0x64",
            "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f\
             d75dc4ddd8c0f200cb05019d67b592f6fc821c49479ab48640292eacb3b7c4be",
        ),
        ("hmac-sha256-0x0", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        (
            "hmac-sha512-0x0",
            "b936cee86c9f87aa5d3c6f2e84cb5a4239a5fe50480a6ec66b70ab5b1f4ac673\
             0c6c515421b327ec1d69402e53dfb49ad7381eb067b338fd7b0cb22247225d47",
        ),
    ] {
        let program = comity_library::program(name).expect(name);
        let nothing = vec![""; program.inputs().len()];
        assert_eq!(run_program(&program, &nothing), [expected], "{name}");
    }
    for (name, values, expected) in [
        ("hmac-sha256-0x3", ["", "616263"], "fd7adb152c05ef80dccf50a1fa4c05d5a3ec6da95575fc312ae7c5d091836351"),
        ("hmac-sha256-4x0", ["4a656665", ""], "923598ca6d64af2a5dba79dcd021a8a0fe5c5f557519adaaf0ad532d4506dd30"),
        ("aes128ctr-0", [KEY, NONCE], ""),
    ] {
        let program = comity_library::program(name).expect(name);
        let values = [&values[..], &[""]].concat();
        assert_eq!(run_program(&program, &values[..program.inputs().len()]), [expected], "{name}");
    }
}

#[test]
fn shake_gives_as_much_as_wanted() {
    let message = hex(&[0xa3; 200]);
    let program = comity_library::program("shake128-200x512").unwrap();
    let out = run_program(&program, &[&message]).remove(0);
    assert!(out.starts_with("131ab8d2b594946b9c81333f9bb6e0ce75c3b93104fa3469d3917457385da037"));
    for k in [1, 167, 168, 169, 336] {
        let program = comity_library::program(&format!("shake128-200x{k}")).unwrap();
        assert_eq!(run_program(&program, &[&message])[0], out[..2 * k], "{k} bytes");
    }
    let program = comity_library::program("shake256-200x32").unwrap();
    let expected = "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d";
    assert_eq!(run_program(&program, &[&message]), [expected]);
    let short = circuit([24], |b, [x]| vec![Sponge::shake(128).digest(b, x, 400)]);
    let program = comity_library::program("shake128-3x400").unwrap();
    assert_eq!(run_hex(&short, &["616263"]), run_program(&program, &["616263"]));
}

#[test]
fn hmac_is_that_of_rfc_4231() {
    let data = "what do ya want for nothing?";
    let cases: [(&[u8], &[u8], &str, &str); 5] = [
        (
            &[0x0b; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde\
             daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
        ),
        (
            b"Jefe",
            data.as_bytes(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
             9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        ),
        (
            &[0xaa; 20],
            &[0xdd; 50],
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39\
             bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb",
        ),
        (
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352\
             6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
        ),
        (
            &[0xaa; 131],
            b"This is a test using a larger than block-size key and a larger than block-size data. The key needs to \
              be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            "e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944\
             b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58",
        ),
    ];
    for (key, message, sha256, sha512) in cases {
        for (hash, name, expected) in [(Chain::SHA256, "sha256", sha256), (Chain::SHA512, "sha512", sha512)] {
            let program = comity_library::program(&format!("hmac-{name}-{}x{}", key.len(), message.len())).unwrap();
            assert_eq!(run_program(&program, &[&hex(key), &hex(message)]), [expected]);
            let c = circuit([8 * key.len(), 8 * message.len()], |b, [k, m]| vec![hash::hmac(b, &hash, k, m)]);
            assert_eq!(run_hex(&c, &[&hex(key), &hex(message)]), [expected]);
        }
    }
}

#[test]
fn programs_and_circuits_agree_at_every_length_around_a_block() {
    let message: Vec<u8> = (0..300u32).map(|i| (i * i + 3) as u8).collect();
    for n in [1, 54, 55, 56, 63, 64, 65, 119, 120, 127, 128, 129, 191, 192, 193, 256] {
        let c = circuit([8 * n], |b, [x]| vec![Chain::MD5.digest(b, x), Chain::SHA1.digest(b, x)]);
        let message = &message[..n];
        assert_eq!(run_hex(&c, &[&hex(message)]), [digest("md5", message), digest("sha1", message)], "{n} bytes");
    }
    for n in [1, 71, 72, 73, 143, 144, 145, 216] {
        let c = circuit([8 * n], |b, [x]| vec![Sponge::sha3(512).digest(b, x, 64)]);
        assert_eq!(run_hex(&c, &[&hex(&message[..n])]), [digest("sha3-512", &message[..n])], "{n} bytes");
    }
    let n = 240;
    let c = circuit([8 * n], |b, [x]| vec![Chain::SHA512.digest(b, x)]);
    assert_eq!(run_hex(&c, &[&hex(&message[..n])]), [digest("sha512", &message[..n])]);
    assert_eq!(Chain::SHA512.digest_bits(), 512);
}

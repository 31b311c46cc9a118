//! DES, ChaCha20 and counter mode against published vectors.

use comity_library::cipher;

use crate::{circuit, run_hex, run_program};

#[test]
fn des_is_that_of_the_validation_suite() {
    let encrypt = circuit([64, 64], |b, [key, block]| vec![cipher::des(b, key, block)]);
    let decrypt = circuit([64, 64], |b, [key, block]| vec![cipher::des_decrypt(b, key, block)]);
    // SP 800-17: variable plaintext, variable key, permutation and substitution table known answers.
    for (key, block, expected) in [
        ("0101010101010101", "8000000000000000", "95f8a5e5dd31d900"),
        ("0101010101010101", "0000000000000001", "166b40b44aba4bd6"),
        ("8001010101010101", "0000000000000000", "95a8d72813daa94d"),
        ("0101010101010102", "0000000000000000", "869efd7f9f265a09"),
        ("1046913489980131", "0000000000000000", "88d55e54f54c97b4"),
        ("7ca110454a1a6e57", "01a1d6d039776742", "690f5b0d9a26939b"),
        ("0131d9619dc1376e", "5cd54ca83def57da", "7a389d10354bd271"),
        ("07a1133e4a0b2686", "0248d43806f67172", "868ebb51cab4599a"),
        ("3849674c2602319e", "51454b582ddf440a", "7178876e01f19b2a"),
        ("04b915ba43feb5b6", "42fd443059577fa2", "af37fb421f8c4095"),
        ("0113b970fd34f2ce", "059b5e0851cf143a", "86a560f10ec6d85b"),
        ("133457799bbcdff1", "0123456789abcdef", "85e813540f0ab405"),
    ] {
        assert_eq!(run_hex(&encrypt, &[key, block]), [expected]);
        assert_eq!(run_hex(&decrypt, &[key, expected]), [block]);
        // Parity does not matter.
        let other: Vec<String> =
            (0..8).map(|i| format!("{:02x}", u8::from_str_radix(&key[2 * i..2 * i + 2], 16).unwrap() ^ 1)).collect();
        assert_eq!(run_hex(&encrypt, &[&other.concat(), block]), [expected]);
    }
}

#[test]
fn triple_des_is_that_of_sp_800_67() {
    let c = comity_library::circuit("des3").unwrap();
    let keys = "0123456789abcdef23456789abcdef01456789abcdef0123";
    for (block, expected) in [
        ("5468652071756663", "a826fd8ce53b855f"),
        ("6b2062726f776e20", "cce21c8112256fe6"),
        ("666f78206a756d70", "68d5c05dd9b6b900"),
    ] {
        assert_eq!(run_hex(&c, &[keys, block]), [expected]);
    }
    let single = "133457799bbcdff1";
    assert_eq!(run_hex(&c, &[&single.repeat(3), "0123456789abcdef"]), ["85e813540f0ab405"]);
}

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

#[test]
fn chacha20_is_that_of_rfc_8439() {
    let c = comity_library::circuit("chacha20").unwrap();
    // Section 2.3.2, and appendix A.1, vectors 1 and 2.
    for (key, nonce, counter, expected) in [
        (
            KEY,
            "000000090000004a00000000",
            "00000001",
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e\
             d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
        ),
        (
            &"00".repeat(32),
            &"00".repeat(12),
            "00000000",
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7\
             da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
        ),
        (
            &"00".repeat(32),
            &"00".repeat(12),
            "00000001",
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed\
             29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
        ),
    ] {
        assert_eq!(run_hex(&c, &[key, nonce, counter]), [expected]);
    }
}

#[test]
fn a_message_in_chacha20_is_that_of_rfc_8439() {
    // Section 2.4.2: 114 bytes, so one block and a part.
    let message = "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
                   sunscreen would be it.";
    let message: String = message.bytes().map(|byte| format!("{byte:02x}")).collect();
    let expected = "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b\
                    f91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8\
                    07ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736\
                    5af90bbf74a35be6b40b8eedf2785e42874d";
    let program = comity_library::program("chacha20-114").unwrap();
    let nonce = "000000000000004a00000000";
    assert_eq!(run_program(&program, &[KEY, nonce, &message]), [expected]);
    assert_eq!(run_program(&program, &[KEY, nonce, expected]), [message]);
}

#[test]
fn messages_in_counter_mode_are_those_of_rfc_3686() {
    for (name, key, nonce, message, expected) in [
        (
            "aes128ctr-16",
            "ae6852f8121067cc4bf7a5765577f39e",
            "000000300000000000000000",
            "53696e676c6520626c6f636b206d7367",
            "e4095d4fb7a7b3792d6175a3261311b8",
        ),
        (
            "aes128ctr-32",
            "7e24067817fae0d743d6ce1f32539163",
            "006cb6dbc0543b59da48d90b",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "5104a106168a72d9790d41ee8edad388eb2e1efc46da57c8fce630df9141be28",
        ),
        (
            "aes128ctr-36",
            "7691be035e5020a8ac6e618529f9a0dc",
            "00e0017b27777f3f4a1786f0",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
            "c1cf48a89f2ffdd9cf4652e9efdb72d74540a42bde6d7836d59a5ceaaef3105325b2072f",
        ),
        (
            "aes192ctr-16",
            "16af5b145fc9f579c175f93e3bfb0eed863d06ccfdb78515",
            "0000004836733c147d6d93cb",
            "53696e676c6520626c6f636b206d7367",
            "4b55384fe259c9c84e7935a003cbe928",
        ),
        (
            "aes256ctr-16",
            "776beff2851db06f4c8a0542c8696f6c6a81af1eec96b4d37fc1d689e6c1c104",
            "00000060db5672c97aa8f0b2",
            "53696e676c6520626c6f636b206d7367",
            "145ad01dbf824ec7560863dc71e3e0c0",
        ),
        (
            "aes256ctr-36",
            "ff7a617ce69148e4f1726e2f43581de2aa62d9f805532edff1eed687fb54153d",
            "001cc5b751a51d70a1c11148",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223",
            "eb6c52821d0bbbf7ce7594462aca4faab407df866569fd07f48cc0b583d6071f1ec0e6b8",
        ),
    ] {
        let program = comity_library::program(name).unwrap();
        assert_eq!(run_program(&program, &[key, nonce, message]), [expected], "{name}");
    }
}

#[test]
fn a_million_bytes_are_a_small_program() {
    let program = comity_library::program("aes128ctr-1000000").unwrap();
    assert_eq!(program.and_gates(), 1280 + 62_500 * 5120);
    assert_eq!(program.totals().and_depth, 60 + 60, "the key's expansion, then all blocks side by side");
}

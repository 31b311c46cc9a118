//! A token whose key to sign with is in a PKCS #11 module: SoftHSM2, where it is installed.
#![cfg(all(unix, feature = "pkcs11"))]

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::*;
use crate::token::{Served, aes};

/// Where systems put the module.
const MODULES: [&str; 4] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
];

#[test]
fn a_token_signs_with_a_key_that_its_module_keeps() {
    let module = MODULES.into_iter().find(|module| Path::new(module).exists());
    let installed = Command::new("softhsm2-util").arg("--version").output().is_ok();
    let Some(module) = module.filter(|_| installed) else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: SoftHSM2 is not installed");
        return;
    };
    let folder = Folder::new("token-module");
    let keys = folder.path("hsm");
    std::fs::create_dir(&keys).unwrap();
    let config = folder.file("softhsm2.conf", &format!("directories.tokendir = {keys}\nobjectstore.backend = file\n"));
    for label in ["comity", "other"] {
        let made = Command::new("softhsm2-util")
            .args(["--init-token", "--free", "--so-pin", "12345678", "--pin", "4711", "--label", label])
            .env("SOFTHSM2_CONF", &config)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    let (dir, key, socket) = (folder.path("box"), folder.path("box.key"), folder.path("s"));
    let (pin, wrong) = (folder.file("pin", "4711\n"), folder.file("wrong", "1234\n"));
    let with = |args: &[&str], label: &str, pin: &str| {
        let flags = ["--key-file", &key, "--pkcs11", module, "--pkcs11-token", label, "--pin-file", pin];
        let mut command = command(&[args, &flags].concat());
        command.env("SOFTHSM2_CONF", &config);
        command
    };
    let done = |mut command: Command| Done::from(command.output().unwrap());
    done(with(&["token", "create", &dir], "nobody", &pin)).fails(2, &["no token with the label nobody"]);
    done(with(&["token", "create", &dir], "comity", &wrong)).fails(3, &["the user cannot log in"]);
    // Where the folder cannot be written no key stays in the module.
    let objects = || {
        let folders =
            std::fs::read_dir(&keys).unwrap().flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
        folders.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "object")).count()
    };
    let before = objects();
    std::fs::create_dir_all(folder.path("taken/introduction/file")).unwrap();
    done(with(&["token", "create", &folder.path("taken")], "comity", &pin)).fails(3, &["cannot write"]);
    assert_eq!(objects(), before, "a key stayed in the module");
    let token = done(with(&["token", "create", &dir], "comity", &pin)).ok().trim().to_owned();
    assert_eq!(objects(), before + 2, "the halves of a key");
    done(with(&["token", "create", &dir], "comity", &pin)).fails(2, &["exists, and is not overwritten"]);
    let serve = ["token", "serve", &dir, "--socket", &socket];
    let run = |known: &str| {
        let served = Served::start(with(&serve, "comity", &pin));
        let (one, two) = aes(&["--token", &socket], &["--token-key", known]);
        assert_eq!(two.json()["outputs"]["0"], AES_OUT, "{}{}", one.err, two.err);
        served.kill();
    };
    run(&token);
    let issuer = folder.path("issuer");
    let issued = comity(&["key", "new", &issuer]).ok().trim().to_owned();
    comity(&["token", "certify", &dir, "--issuer", &issuer]).ok();
    run(&issued);
    // The folder alone is not the token, and neither is another module's key.
    comity(&["token", "serve", &dir, "--key-file", &key, "--socket", &socket]).fails(2, &["in a PKCS #11 module"]);
    done(with(&serve, "other", &pin)).fails(2, &["does not have the key of this token"]);
    let listen = ["token", "serve", &dir, "--listen", "127.0.0.1:0", "--holder", &issued];
    done(with(&listen, "comity", &pin)).fails(2, &["served at a socket"]);
}

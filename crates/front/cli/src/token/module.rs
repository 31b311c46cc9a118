//! The key that a token signs with in a PKCS #11 module, which keeps its secret half to itself. The module
//! cannot multiply bits that are to stay secret, so it guards the key, and this process makes the triples.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use comity::Error;
use comity::token::TokenSigner;
use comity_net::SystemRng;
use comity_terminal::failure::{Ending, Failure, Outcome};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use rand_core::Rng;

use crate::storage::first_line;

/// Bytes of the id by which a key is found in its module.
pub(super) const ID: usize = 16;

/// The label of the keys, for people who look into the module.
const LABEL: &[u8] = b"comity token";

/// The curve, as PKCS #11 names it: a PrintableString, `edwards25519`.
const CURVE: &[u8] = b"\x13\x0cedwards25519";

/// The bytes before a public key in an OCTET STRING.
const OCTETS: [u8; 2] = [0x04, 0x20];

/// Where the key is.
#[derive(Args, Debug)]
pub(super) struct ModuleArgs {
    /// The key that the token signs with is in this PKCS #11 module
    ///
    /// A library of the system, such as /usr/lib/softhsm/libsofthsm2.so. `create` makes the key there, and it
    /// never leaves it.
    #[arg(long, value_name = "MODULE", requires_all = ["pkcs11_token", "pin_file"])]
    pub(super) pkcs11: Option<PathBuf>,
    /// The label of the module's token that has the key
    #[arg(long, value_name = "LABEL", requires = "pkcs11")]
    pkcs11_token: Option<String>,
    /// The PIN of the module's user is the first line of FILE
    #[arg(long, value_name = "FILE", requires = "pkcs11")]
    pin_file: Option<PathBuf>,
}

/// A key in a module, whose user is logged in.
pub(super) struct ModuleKey {
    session: Mutex<Session>,
    pair: KeyPair,
    public: [u8; 32],
    place: String,
}

/// The private half of a key in a module, and the public one.
#[derive(Clone, Copy)]
struct KeyPair(ObjectHandle, ObjectHandle);

/// The failure that the module reports.
fn failed(module: &Path, what: &str, error: &cryptoki::error::Error) -> Failure {
    Failure::new(Ending::Store, format!("the PKCS #11 module {}: {what}: {error}", module.display()))
}

/// A session of the module's user.
fn session(module: &Path, args: &ModuleArgs) -> Outcome<Session> {
    let (Some(label), Some(pin)) = (&args.pkcs11_token, &args.pin_file) else {
        unreachable!("the flags come together")
    };
    let failed = |what: &'static str| move |error| failed(module, what, &error);
    let pin = first_line(pin)?;
    let pin = str::from_utf8(&pin).map_err(|_| Failure::input("the PIN is not UTF-8"))?;
    let context = Pkcs11::new(module).map_err(failed("it cannot be loaded"))?;
    let threads = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
    context.initialize(threads).map_err(failed("it cannot be initialized"))?;
    let slots = context.get_slots_with_token().map_err(failed("its slots cannot be listed"))?;
    let is_named = |slot: &_| context.get_token_info(*slot).is_ok_and(|info| info.label().trim_end() == label);
    let slot = slots.into_iter().find(is_named).ok_or_else(|| {
        Failure::input(format!("the PKCS #11 module {} has no token with the label {label}", module.display()))
    })?;
    let session = context.open_rw_session(slot).map_err(failed("no session can be opened"))?;
    session.login(UserType::User, Some(&AuthPin::new(pin.into()))).map_err(failed("the user cannot log in"))?;
    Ok(session)
}

impl ModuleKey {
    /// Makes a new key in the module, and the id by which it is found again.
    pub(super) fn create(module: &Path, args: &ModuleArgs) -> Outcome<(ModuleKey, [u8; ID])> {
        let session = session(module, args)?;
        let mut id = [0; ID];
        SystemRng.fill_bytes(&mut id);
        let both = || vec![Attribute::Token(true), Attribute::Id(id.to_vec()), Attribute::Label(LABEL.to_vec())];
        let public =
            [both(), vec![Attribute::Private(false), Attribute::Verify(true), Attribute::EcParams(CURVE.to_vec())]];
        let private = [
            both(),
            vec![
                Attribute::Private(true),
                Attribute::Sensitive(true),
                Attribute::Extractable(false),
                Attribute::Sign(true),
            ],
        ];
        let (public, private) = session
            .generate_key_pair(&Mechanism::EccEdwardsKeyPairGen, &public.concat(), &private.concat())
            .map_err(|error| failed(module, "it makes no Ed25519 key", &error))?;
        let pair = KeyPair(private, public);
        match read_public(&session, pair, module) {
            Ok(public) => Ok((ModuleKey::new(session, pair, public, module), id)),
            Err(failure) => Err(removed_after(failure, &session, pair, module.display())),
        }
    }

    /// The key with this id.
    pub(super) fn open(module: &Path, args: &ModuleArgs, id: &[u8; ID]) -> Outcome<ModuleKey> {
        let session = session(module, args)?;
        let lacks =
            || Failure::input(format!("the PKCS #11 module {} does not have the key of this token", module.display()));
        let find = |class| -> Outcome<ObjectHandle> {
            let wanted = [Attribute::Class(class), Attribute::Id(id.to_vec())];
            let found = session.find_objects(&wanted).map_err(|e| failed(module, "its keys cannot be listed", &e))?;
            found.first().copied().ok_or_else(lacks)
        };
        let pair = KeyPair(find(ObjectClass::PRIVATE_KEY)?, find(ObjectClass::PUBLIC_KEY)?);
        let public = read_public(&session, pair, module)?;
        Ok(ModuleKey::new(session, pair, public, module))
    }

    fn new(session: Session, pair: KeyPair, public: [u8; 32], module: &Path) -> ModuleKey {
        ModuleKey { session: Mutex::new(session), pair, public, place: module.display().to_string() }
    }

    /// Removes the key, whose token could not be made: no folder knows it. Returns why not, with what else failed.
    pub(super) fn removed_after(self, failure: Failure) -> Failure {
        let session = self.session.into_inner().unwrap_or_else(PoisonError::into_inner);
        removed_after(failure, &session, self.pair, &self.place)
    }
}

fn removed_after(failure: Failure, session: &Session, pair: KeyPair, module: impl fmt::Display) -> Failure {
    let KeyPair(private, public) = pair;
    match [private, public].into_iter().try_for_each(|half| session.destroy_object(half)) {
        Ok(()) => failure,
        Err(error) => Failure {
            message: format!(
                "{}; and the key that was made for it stays in the PKCS #11 module {module}, labelled {}: {error}",
                failure.message,
                LABEL.escape_ascii()
            ),
            ..failure
        },
    }
}

/// The public half of a key, as bytes.
fn read_public(session: &Session, KeyPair(_, public): KeyPair, module: &Path) -> Outcome<[u8; 32]> {
    let attributes = session.get_attributes(public, &[AttributeType::EcPoint]);
    let attributes = attributes.map_err(|error| failed(module, "the public key cannot be read", &error))?;
    let point = attributes.into_iter().find_map(|attribute| match attribute {
        Attribute::EcPoint(point) => Some(point),
        _ => None,
    });
    // Some modules give the bare bytes.
    let bare = |point: Vec<u8>| point.strip_prefix(&OCTETS[..]).unwrap_or(&point).try_into().ok();
    point.and_then(bare).ok_or_else(|| {
        let place = module.display();
        let what = format!("the PKCS #11 module {place}: the token's public key is not one of Ed25519");
        Failure::new(Ending::Store, what)
    })
}

impl TokenSigner for ModuleKey {
    fn public(&self) -> [u8; 32] {
        self.public
    }

    fn sign(&self, text: &[u8]) -> Result<[u8; 64], Error> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mechanism = Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Pure));
        let cannot = |why: String| Error::store(format!("the PKCS #11 module {} does not sign: {why}", self.place));
        let signature = session.sign(&mechanism, self.pair.0, text).map_err(|error| cannot(error.to_string()))?;
        let len = signature.len();
        signature.try_into().map_err(|_| cannot(format!("a signature of {len} bytes")))
    }
}

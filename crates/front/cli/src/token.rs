//! `comity token`: a token that makes triples for parties who all trust it.

mod door;
#[cfg(feature = "pkcs11")]
mod module;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::{Args, Subcommand};
#[cfg(feature = "pkcs11")]
use comity::token::TokenSigner;
use comity::token::{Introduction, SeedCounter, SigningKey, TokenKeys, fingerprint, serve_holder};
use comity::{Channel, Error, Fingerprint, KeyDir, StoreKey, Vault};
use comity_core::Backend;
use comity_net::{Identity, Limits, Now, SystemRng};
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Ending, Failure, Outcome};
#[cfg(feature = "pkcs11")]
use zeroize::Zeroizing;

use crate::backend::backend;
use crate::interrupt;
use crate::storage::{KeyArgs, key, key_or_new};
use door::Door;

/// Notes below the help.
pub(crate) const ABOUT: &str = "\
The token makes what AND gates need, in the place of oblivious transfer, for the
protocol gmw-token. Party 0 reaches it, and all parties have to trust it:
  token$ comity token create box --key-file box.key
  token$ comity token serve box --key-file box.key --socket box.socket
  alice$ comity run PROGRAM --protocol gmw-token --token ./box.socket --party 0 ..
  bob$   comity run PROGRAM --protocol gmw-token --token-key FINGERPRINT --party 1 ..
FINGERPRINT is what `create` prints, or that of an issuer's key (`comity key new`),
who puts its certificate into the folder with `comity token certify` before it
hands the token out. Bob compares it over a way that he trusts already.

A token on another machine waits with --listen ADDR --holder KEY, where KEY is the
fingerprint of Alice's key (`comity key show`); she says --token HOST:PORT and the
token's FINGERPRINT as --token-key, and the folder with her key as --tls.

Anybody who can read the token's memory, or has its folder and key, learns all
inputs of all its sessions. On a machine of Alice's it protects Bob from her accounts, and
not from her administrator. Nothing is lost with a copy of the folder that is put
back: seeds depend on fresh randomness. A running token that is copied, memory and
all (a snapshot of a virtual machine), can give seeds twice: that is not detected,
and two sessions under one seed show how their inputs differ.";

#[derive(Subcommand, Debug)]
pub(crate) enum TokenCommand {
    /// Make a new token in DIR and print its fingerprint
    Create(PlaceArgs),
    /// Print the fingerprint of the token in DIR, and of its issuer
    Show {
        /// The folder of the token
        dir: PathBuf,
    },
    /// Vouch for the token in DIR, as its issuer
    Certify {
        /// The folder of the token
        dir: PathBuf,
        /// The folder with the issuer's key, from `comity key new`
        #[arg(long, value_name = "KEYS")]
        issuer: PathBuf,
    },
    /// Serve the holder of the token in DIR
    Serve(ServeTokenArgs),
}

#[derive(Args, Debug)]
pub(crate) struct PlaceArgs {
    /// The folder of the token
    #[arg(value_name = "DIR")]
    store: PathBuf,
    #[command(flatten)]
    key: KeyArgs,
    #[cfg(feature = "pkcs11")]
    #[command(flatten)]
    module: module::ModuleArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ServeTokenArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Wait for the holder at this socket
    ///
    /// A file that only this account may use. Where the token has an account of its own, let the holder's
    /// group write it (chmod 660).
    #[arg(long, value_name = "PATH", required_unless_present = "listen", conflicts_with = "listen")]
    socket: Option<PathBuf>,
    /// Wait for holders on other machines at this address, and talk TLS under the token's own key
    #[arg(long, value_name = "ADDR", requires = "holder")]
    listen: Option<String>,
    /// The fingerprint of the key of a holder that may connect
    #[arg(long, value_name = "FINGERPRINT", requires = "listen", value_parser = door::fingerprint)]
    holder: Vec<Fingerprint>,
    /// Name every holder that comes on standard error
    #[arg(long, short)]
    verbose: bool,
}

/// The file with the token's introduction.
const SHOWN: &str = "introduction";

/// Holders that are served at the same time.
const MOST: usize = 32;

/// The command.
pub(crate) fn run(command: &TokenCommand) -> Outcome {
    match command {
        TokenCommand::Create(args) => create(args),
        TokenCommand::Show { dir } => show(dir),
        TokenCommand::Certify { dir, issuer } => certify(dir, issuer),
        TokenCommand::Serve(args) => serve(args),
    }
}

fn text(public: &[u8; 32]) -> String {
    Fingerprint::from_bytes(fingerprint(public)).to_string()
}

fn create(args: &PlaceArgs) -> Outcome {
    let dir = &args.store;
    let fresh = !dir.join("vault").exists();
    let key = key_or_new(&args.key, "token", fresh)?;
    let secret = TokenKeys::draw(&mut SystemRng);
    // Where a token is already none is made, and no key is left in a module.
    #[cfg(feature = "pkcs11")]
    if let Some(path) = args.module.pkcs11.as_ref().filter(|_| fresh) {
        let (master, _) = secret.split_first_chunk::<{ TokenKeys::MASTER }>().expect("a master key is the first part");
        let (signing, id) = module::ModuleKey::create(path, &args.module)?;
        let kept = Zeroizing::new([&master[..], &id].concat());
        let introduced = Introduction::issued(&signing, signing.public());
        let made = introduced.and_then(|introduction| keep(dir, &key, &kept, introduction));
        return made.map_err(|error| signing.removed_after(error.into())).and_then(|introduction| tell(&introduction));
    }
    tell(&keep(dir, &key, &secret[..], *TokenKeys::new(&secret).introduction())?)
}

/// Writes the folder of a new token.
fn keep(dir: &Path, key: &StoreKey, secret: &[u8], introduction: Introduction) -> Result<Introduction, Error> {
    Vault::create(dir, key, secret, (SHOWN, &introduction.to_bytes()), &mut SystemRng)?;
    Ok(introduction)
}

/// Prints the fingerprint of a new token.
fn tell(introduction: &Introduction) -> Outcome {
    note("Every other party names this fingerprint (--token-key), or that of an issuer who certifies it:");
    emit(&format!("{}\n", text(introduction.token())))
}

/// The keys of the token with this folder, whose secret this is, and the identity that it has over TLS.
fn kept_keys(args: &PlaceArgs, secret: &[u8]) -> Outcome<(TokenKeys, Option<Identity>)> {
    if let Ok(secret) = secret.try_into() {
        return Ok((TokenKeys::new(secret), Some(door::identity(secret))));
    }
    #[cfg(feature = "pkcs11")]
    if let Some((master, id)) = secret.split_first_chunk()
        && let Ok(id) = id.try_into()
    {
        let path = args.module.pkcs11.as_ref().ok_or_else(|| {
            Failure::input(
                "the key of this token is in a PKCS #11 module: name it (--pkcs11, --pkcs11-token, --pin-file)",
            )
        })?;
        let signing = module::ModuleKey::open(path, &args.module, id)?;
        return Ok((TokenKeys::signed_by(master, Box::new(signing))?, None));
    }
    let dir = args.store.display();
    let other = match cfg!(feature = "pkcs11") {
        true => "",
        false => ", or the key of this token is in a PKCS #11 module, for which this build lacks `--features pkcs11`",
    };
    Err(Failure::new(
        Ending::Store,
        format!("{dir} is not the folder of a token: `comity token create` makes one{other}"),
    ))
}

/// The introduction of the token in this folder.
fn introduction(dir: &Path) -> Outcome<Introduction> {
    let path = dir.join(SHOWN);
    let bytes = fs::read(&path).map_err(|error| {
        Failure::input(format!("{}: {error}: `comity token create {}` makes a token", path.display(), dir.display()))
    })?;
    let bytes = bytes.try_into().map_err(|_| {
        Failure::new(Ending::Store, format!("{} is damaged: let the issuer certify the token anew", path.display()))
    })?;
    Ok(Introduction::from_bytes(&bytes))
}

fn show(dir: &Path) -> Outcome {
    let shown = introduction(dir)?;
    shown.check(None).map_err(|error| Failure::new(Ending::Store, format!("{}: {error}", dir.display())))?;
    let issuer = match shown.issuer() == shown.token() {
        true => String::new(),
        false => format!("issuer {}\n", text(shown.issuer())),
    };
    emit(&format!("{}\n{issuer}", text(shown.token())))
}

fn certify(dir: &Path, issuer: &Path) -> Outcome {
    let token = *introduction(dir)?.token();
    let identity = KeyDir::new(issuer).identity()?;
    let secret = identity.to_pkcs8().last_chunk().expect("a key ends with its 32 secret bytes");
    let issued = Introduction::issued(&SigningKey::new(secret), token)?;
    Vault::show_in(dir, SHOWN, &issued.to_bytes())?;
    note(&format!("the token {} is certified; other parties may name its issuer's fingerprint:", text(&token)));
    emit(&format!("{}\n", text(issued.issuer())))
}

/// The counter of a token that serves several lines.
struct Shared<'v>(&'v Mutex<Vault>);

impl SeedCounter for Shared<'_> {
    fn next(&mut self) -> Result<u64, Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take_number()
    }
}

fn serve(args: &ServeTokenArgs) -> Outcome {
    interrupt::on();
    let dir = &args.place.store;
    let (vault, secret) = Vault::open(dir, &key(&args.place.key, "token")?)?;
    let (keys, identity) = kept_keys(&args.place, &secret)?;
    let keys = keys.introduced(introduction(dir)?)?;
    let limits = Limits::new(Now::default(), interrupt::stop().clone());
    let door = Door::open(args, identity, &limits)?;
    note(&format!("token {} at {}", text(keys.introduction().token()), door.place()));
    let (vault, backend, served) = (Mutex::new(vault), backend()?, AtomicUsize::new(0));
    let (vault, keys, lines) = (&vault, &keys, &AtomicUsize::new(0));
    thread::scope(|scope| -> Outcome {
        while let Some(mut line) = door.next(&limits, args.verbose) {
            if lines.load(Relaxed) >= MOST {
                note(&format!("turned a holder away: {MOST} are served already"));
                continue;
            }
            lines.fetch_add(1, Relaxed);
            let served = &served;
            scope.spawn(move || {
                let ended = one(&mut *line, keys, vault, backend);
                lines.fetch_sub(1, Relaxed);
                match ended {
                    Ok(set_ups) => {
                        served.fetch_add(set_ups as usize, Relaxed);
                        if args.verbose {
                            note(&format!("a holder was served: {set_ups} set-ups"));
                        }
                    }
                    Err(_) if interrupt::stop().is_stopped() => {}
                    Err(error) => note(&format!("refused a holder: {error}")),
                }
            });
        }
        Ok(())
    })?;
    note(&format!("the token ends: {} set-ups", served.load(Relaxed)));
    Ok(())
}

/// Serves one holder.
fn one(line: &mut dyn Channel, keys: &TokenKeys, vault: &Mutex<Vault>, backend: Backend) -> Result<u64, Error> {
    serve_holder(line, keys, &mut Shared(vault), backend, &mut SystemRng)
}

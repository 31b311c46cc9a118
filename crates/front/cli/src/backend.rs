//! Which CPU backend runs.

use comity_core::Backend;
use comity_terminal::failure::{Failure, Outcome};

/// The CPU backend that `COMITY_BACKEND` forces upon the whole program, or the fastest.
pub(crate) fn backend() -> Outcome<Backend> {
    match std::env::var("COMITY_BACKEND") {
        Err(std::env::VarError::NotPresent) => Ok(Backend::detect()),
        found => {
            let name = found.unwrap_or_default();
            let forced = Backend::named(&name).filter(|backend| backend.force());
            forced.ok_or_else(|| {
                let names: Vec<&str> = Backend::available().into_iter().map(Backend::name).collect();
                let names = names.join(", ");
                Failure::input(format!("COMITY_BACKEND={name}: this machine has no such backend; it has: {names}"))
            })
        }
    }
}

//! Helpers that are no party: what the options of a protocol say of them, and the line to one.

use comity_channel::Channel;
use comity_core::{Error, Result};
use comity_net::Fingerprint;
use comity_protocol::{OptionValue, Options, Shelf, Supplies, Values};

use crate::session::Session;

/// What a run finds beside the parties: material from a store, and a helper.
pub(crate) struct Helped<'s> {
    pub(crate) helpers: Helpers,
    pub(crate) rest: Option<&'s mut dyn Supplies>,
}

/// The helper of this party, and the fingerprint by which it knows another one's.
#[derive(Default)]
pub(crate) struct Helpers {
    line: Option<Box<dyn Channel>>,
    key: Option<[u8; 32]>,
}

impl Session<'_> {
    /// The helpers that these options name. It calls them, before any party is bothered.
    pub(crate) fn helpers(&self, options: &Options) -> Result<Helpers> {
        let mut helpers = Helpers::default();
        for (option, value) in options.all() {
            let Some(OptionValue::Text(text)) = value else { continue };
            match option.values {
                Values::Place(_) => helpers.line = Some(self.line(option.name, &text)?),
                _ => helpers.key = Some(text.parse::<Fingerprint>()?.to_bytes()),
            }
        }
        Ok(helpers)
    }

    #[cfg(unix)]
    fn line(&self, option: &str, place: &str) -> Result<Box<dyn Channel>> {
        if !place.contains('/') {
            return Err(Error::invalid_input(format!(
                "{option} {place}: a helper is called at a socket of this machine so far, whose path has a slash in it (./{place})"
            )));
        }
        Ok(Box::new(comity_net::LocalChannel::connect(place.as_ref(), self.timeout, &self.limits())?))
    }

    #[cfg(not(unix))]
    fn line(&self, option: &str, place: &str) -> Result<Box<dyn Channel>> {
        Err(Error::invalid_input(format!(
            "{option} {place}: this system has no sockets with a path, at which a helper is called"
        )))
    }
}

impl Supplies for Helped<'_> {
    fn shelf(&mut self, material: &str) -> Option<&mut dyn Shelf> {
        self.rest.as_mut()?.shelf(material)
    }

    fn helper(&mut self) -> Option<&mut dyn Channel> {
        Some(&mut **self.helpers.line.as_mut()?)
    }

    fn helper_key(&self) -> Option<[u8; 32]> {
        self.helpers.key
    }
}

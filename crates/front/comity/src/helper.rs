//! Helpers that are no party: what the options of a protocol say of them, and the line to one.

use std::collections::BTreeMap;

use comity_channel::{Channel, PerPeer};
use comity_core::{Error, Kind, PartyId, Result};
use comity_net::{Fingerprint, KeyDir, Security, Settings};
use comity_protocol::{OptionValue, Options, Shelf, Supplies, Values};

use crate::session::Session;

/// The first byte from a helper on another machine, once it has accepted a caller by its key.
pub const HELPER_READY: u8 = 1;

/// The supplies of a run: material from a store, and a helper.
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
        let (mut place, mut key) = (None, None);
        for (option, value) in options.all() {
            let Some(OptionValue::Text(text)) = value else { continue };
            match option.values {
                Values::Place(_) => place = Some((option.name, text)),
                Values::Key(_) => key = Some(text.parse::<Fingerprint>()?),
                _ => {}
            }
        }
        let line = place.map(|(option, place)| match place.contains('/') {
            true => self.local_line(option, &place),
            false => self.line(option, &place, key),
        });
        Ok(Helpers { line: line.transpose()?, key: key.map(Fingerprint::to_bytes) })
    }

    /// A line to a helper on another machine, by TLS: it knows this party's key, and this party its.
    fn line(&self, option: &str, place: &str, key: Option<Fingerprint>) -> Result<Box<dyn Channel>> {
        let wanted = |what: &str| Error::invalid_input(format!("{option} {place}: a helper on another machine {what}"));
        let key = key.ok_or_else(|| wanted(&format!("is known by its key: say its fingerprint (--{option}-key)")))?;
        let keys = self.tls.as_ref().ok_or_else(|| {
            wanted("is called by TLS: name the folder with this party's key (--tls DIR), whose fingerprint the helper knows")
        })?;
        let (me, helper) = (PartyId(1), PartyId(0));
        let security = Security::Tls { identity: KeyDir::new(keys).identity()?, peers: PerPeer::new(me, 2, |_| key) };
        let settings = Settings { limits: self.limits(), ..Settings::of_two(me, security, self.timeout) };
        let line = comity_net::connect(place, helper, &settings, &mut |_| {}).and_then(|mut line| {
            // That it refuses this party's key shows at the first byte, before any party is bothered.
            let mut ready = [0];
            line.recv(&mut ready)?;
            match ready == [HELPER_READY] {
                true => Ok(line),
                false => Err(Error::malformed("it does not begin as a helper does")),
            }
        });
        // A helper is not a party, and no party is blamed.
        line.map(|line| Box::new(line) as Box<dyn Channel>).map_err(|Error { kind, .. }| match kind {
            Kind::Stopped | Kind::Deadline(_) => kind.into(),
            Kind::InvalidInput(why) => Error::invalid_input(format!("{option} {place}: {why}")),
            Kind::Closed | Kind::Malformed(_) => Error::store(format!(
                "{option} {place}: what answers there does not let this party in: does it know this party's key (`comity key show {}`)? {kind}",
                keys.display()
            )),
            // With a key that is not the other one's it says whose.
            kind => Error::store(format!("{option} {place}: {kind}")),
        })
    }

    /// A line to a helper on this machine.
    #[cfg(unix)]
    fn local_line(&self, _: &str, place: &str) -> Result<Box<dyn Channel>> {
        Ok(Box::new(comity_net::LocalChannel::connect(place.as_ref(), self.timeout, &self.limits())?))
    }

    #[cfg(not(unix))]
    fn local_line(&self, option: &str, place: &str) -> Result<Box<dyn Channel>> {
        Err(Error::invalid_input(format!(
            "{option} {place}: this system has no sockets with a path, at which a helper is called"
        )))
    }
}

impl Supplies for Helped<'_> {
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf> {
        self.rest.as_mut().map(|rest| rest.shelves()).unwrap_or_default()
    }

    fn helper(&mut self) -> Option<&mut dyn Channel> {
        Some(&mut **self.helpers.line.as_mut()?)
    }

    fn helper_key(&self) -> Option<[u8; 32]> {
        self.helpers.key
    }
}

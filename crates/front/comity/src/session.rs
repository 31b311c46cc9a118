//! `Session`: one party's side of one run, from finding the peers to the report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_channel::{Channel, Mesh, PerPeer};
use comity_circuit::Program;
use comity_core::{Backend, Error, Params, PartyId, Result};
use comity_format::ValueShare;
use comity_net::{KeyDir, Limits, Listener, Now, PartyGroup, Stop};
use comity_protocol::{Card, Options, Protocol};
use comity_store::Store;

use crate::protocol::{PROTOCOLS, among, fits, preferred, preferred_reactive, set};
use crate::route::Route;
use crate::shares::Form;

/// One party of one run: how to meet the peers, which protocol, and then [`Session::run`].
///
/// ```
/// use comity::{Bits, Program, Session, library, memory};
///
/// let program = Program::from_circuit(library::find("add64").expect("a built-in"))?;
/// let number = |n: u64| Bits::from_bytes(&n.to_le_bytes(), 64);
/// // Two threads over memory; two machines say `listen` and `connect` where these say `over`.
/// let (a, b) = memory::pair();
/// let report = std::thread::scope(|scope| {
///     scope.spawn(|| Session::new(1).over(b).run(&program, [(1, number(2))]));
///     Session::new(0).over(a).run(&program, [(0, number(40))])
/// })?;
/// assert_eq!(report.outputs, [(0, number(42))]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A run ends when this party is done; its last message may not have reached a slower peer yet. A process
/// that ends after a run calls [`settle`](crate::settle) first: otherwise the system may discard what that
/// peer has not received yet.
pub struct Session<'a> {
    pub(crate) me: PartyId,
    pub(crate) route: Route<'a>,
    pub(crate) listener: Option<Listener>,
    pub(crate) peers: Vec<(PartyId, String)>,
    pub(crate) group: Option<PartyGroup>,
    pub(crate) relay: Option<String>,
    pub(crate) tls: Option<PathBuf>,
    /// Whether the peer may be anybody that is trusted.
    pub(crate) service: bool,
    pub(crate) plaintext: bool,
    /// The list from which a protocol is chosen, and advice given.
    pub(crate) protocols: &'static [&'static dyn Protocol],
    protocol: Chosen,
    options: Vec<(String, String)>,
    pub(crate) store: Option<Store>,
    pub(crate) params: Params,
    pub(crate) timeout: Duration,
    deadline: Option<Duration>,
    now: Now,
    pub(crate) stop: Stop,
    pub(crate) job: Option<[u8; 32]>,
    pub(crate) label: Option<String>,
    pub(crate) backend: Backend,
    /// The shares that come in, by the input values that they are of.
    pub(crate) shares: Vec<(usize, ValueShare)>,
    pub(crate) unauthenticated_shares: bool,
}

/// A setting of a session that some of its calls have no use for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Protocol,
    Params,
    Shares,
    Store,
}

/// The protocol that was asked for.
enum Chosen {
    Preferred,
    Named(String),
    This(&'static dyn Protocol),
}

impl<'a> Session<'a> {
    /// The side of party `party`, counted from 0.
    pub fn new(party: u16) -> Session<'a> {
        Session {
            me: PartyId(party),
            route: Route::Unknown,
            listener: None,
            peers: Vec::new(),
            group: None,
            relay: None,
            tls: None,
            service: false,
            plaintext: false,
            protocols: PROTOCOLS,
            protocol: Chosen::Preferred,
            options: Vec::new(),
            store: None,
            params: Params::default(),
            timeout: Duration::from_secs(30),
            deadline: None,
            now: Now::default(),
            stop: Stop::default(),
            job: None,
            label: None,
            backend: Backend::detect(),
            shares: Vec::new(),
            unauthenticated_shares: false,
        }
    }

    /// The side of the group's party whose key is in this folder. It uses TLS 1.3.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the folder has no key, or the group has no party with that key.
    pub fn in_group(group: &PartyGroup, keys: impl AsRef<Path>) -> Result<Session<'a>> {
        let me = group.whose(&KeyDir::new(keys.as_ref()).identity()?.fingerprint())?;
        Ok(Session::new(me.0).group(group).tls(keys))
    }

    /// Meets the parties of this group at the addresses that the group lists. The parties compare that all
    /// hold the same group. A group with keys needs [`tls`](Session::tls); [`listen`](Session::listen) names
    /// the address on this machine at which others reach this party.
    #[must_use]
    pub fn group(mut self, group: &PartyGroup) -> Self {
        self.group = Some(group.clone());
        self
    }

    /// The address of another party, or `-` if nobody can call it. Between two parties the lower one listens,
    /// at the address of [`listen`](Session::listen), unless nobody can call it. The parties of the run are
    /// those with an address, and this one.
    #[must_use]
    pub fn peer(mut self, party: u16, address: impl Into<String>) -> Self {
        self.peers.push((PartyId(party), address.into()));
        self
    }

    /// Meets at this [relay](comity_net::Relay) the parties that neither can be called nor can call this one:
    /// both call the relay, and speak TLS through it. Between two parties without a group that is the other
    /// party; in a group, those without addresses. A relay that the group names is not used then.
    #[must_use]
    pub fn relay(mut self, address: impl Into<String>) -> Self {
        self.relay = Some(address.into());
        self
    }

    /// Listens at an address, hands the address with its port to `ask`, and meets the parties at the
    /// addresses that `ask` returns, one for each party, in order. For a program that starts all parties and
    /// does not choose their ports.
    #[must_use]
    pub fn introduced(
        mut self,
        address: impl Into<String>,
        parties: u16,
        ask: impl FnOnce(&str) -> Result<Vec<String>> + Send + 'a,
    ) -> Self {
        self.route = Route::Introduced { address: address.into(), parties, ask: Box::new(ask) };
        self
    }

    /// Waits for the peer at this address, such as `127.0.0.1:7000`; port 0 lets the system choose.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.route = Route::Listen(address.into());
        self
    }

    /// Connects to the peer at this address, and tries again until the time-out.
    #[must_use]
    pub fn connect(mut self, address: impl Into<String>) -> Self {
        self.route = Route::Connect(address.into());
        self
    }

    /// Runs over a channel that already leads to the only peer. Its privacy and its time-outs are the
    /// caller's responsibility.
    #[must_use]
    pub fn over(mut self, channel: impl Channel + 'a) -> Self {
        self.route = Route::Over(Box::new(channel));
        self
    }

    /// Runs over channels that already lead to the peers, one for each. Their privacy and their time-outs are
    /// the caller's responsibility.
    #[must_use]
    pub fn among<C: Channel + 'a>(mut self, links: PerPeer<C>) -> Self {
        self.route = Route::Among(links.map(|_, link| Box::new(link) as Box<dyn Channel + 'a>));
        self
    }

    /// Uses TLS 1.3 with the key and the trusted keys in this folder (see `comity key`).
    #[must_use]
    pub fn tls(mut self, dir: impl AsRef<Path>) -> Self {
        self.tls = Some(dir.as_ref().to_owned());
        self
    }

    /// Accepts anybody with a trusted key as the peer. For a service of two parties that has many clients,
    /// each of which has a line among the trusted keys, under any number.
    #[must_use]
    pub fn any_trusted(mut self) -> Self {
        self.service = true;
        self
    }

    /// Allows plain text to an address off this machine, where anyone on the way can read and change it.
    /// Among three parties and more a listener there can learn inputs even if nobody cheats
    /// ([`Watch::overheard`](crate::Watch::overheard)).
    #[must_use]
    pub fn plaintext(mut self, allowed: bool) -> Self {
        self.plaintext = allowed;
        self
    }

    /// Uses this list of protocols instead of [`PROTOCOLS`]: for the default, for names, and for advice in
    /// errors.
    #[must_use]
    pub fn protocols(mut self, protocols: &'static [&'static dyn Protocol]) -> Self {
        self.protocols = protocols;
        self
    }

    /// Runs the protocol of this name ([`PROTOCOLS`] lists them) instead of the preferred one. A semi-honest
    /// protocol runs only if it is named.
    #[must_use]
    pub fn protocol(mut self, name: impl Into<String>) -> Self {
        self.protocol = Chosen::Named(name.into());
        self
    }

    /// Runs this protocol, which need not be on the list.
    #[must_use]
    pub fn with(mut self, protocol: &'static dyn Protocol) -> Self {
        self.protocol = Chosen::This(protocol);
        self
    }

    /// Sets an option of the protocol; its [card](Card::options) lists them. An agreed option must be the
    /// same at all parties. One that follows from the program takes the other parties' value if this party
    /// does not set it.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), value.into()));
        self
    }

    /// Takes material from this store, or puts new material into it.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// The security parameters. All parties must have the same.
    #[must_use]
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// Listens where this session would, for several sessions that wait [`at`](Session::at) the listener;
    /// `None` if nobody calls this party.
    ///
    /// # Errors
    /// As [`Session::run`], before it waits.
    pub fn listener(&self) -> Result<Option<Listener>> {
        let settings = self.settings(self.parties(), self.limits(), Vec::new())?;
        let address = match &self.route {
            Route::Listen(address) => self.places(Some(address))?,
            Route::Unknown => self.places(None)?,
            _ => None,
        };
        address.and_then(|places| places.listen).map(|address| Listener::bind(&address, &settings)).transpose()
    }

    /// Waits for the peers at this listener, which stays open after the run.
    #[must_use]
    pub fn at(mut self, listener: &Listener) -> Self {
        self.listener = Some(listener.clone());
        self
    }

    /// The digest of the job that the run belongs to. Either all parties set the same, or none sets one.
    #[must_use]
    pub fn job(mut self, digest: [u8; 32]) -> Self {
        self.job = Some(digest);
        self
    }

    /// The name of this run among simultaneous runs of the same parties. Either all set the same, or none
    /// sets one. Anybody who can redirect connections could make parties of different runs meet if these want
    /// the same things: labels tell the runs apart. Up to 32 letters, digits, `-`, `_` and `.`.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The time in which the whole run has to end, from the call of [`run`](Session::run) on. It does not
    /// apply to the caller's own channels.
    #[must_use]
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// The clock that waits are timed by; the system's clock by default.
    #[must_use]
    pub fn clock(mut self, now: Now) -> Self {
        self.now = now;
        self
    }

    /// The handle that stops the run, if it is to be an existing one; [`Watch::begins`](crate::Watch::begins)
    /// gives out a handle in any case.
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// The limits of the run that begins now.
    pub(crate) fn limits(&self) -> Limits {
        let limits = Limits::new(self.now.clone(), self.stop.clone());
        match self.deadline {
            Some(time) => limits.within(time),
            None => limits,
        }
    }

    /// The time-out for the peer: to connect, for the first message, for the rest of a message that has
    /// begun, and to take what is sent. While a peer computes and says that it is there, the wait has no
    /// time-out.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The CPU backend; the fastest by default. All backends give the same bytes.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Puts in this party's share of an input value that is [shared](comity_circuit::Owner::Shared): an
    /// output share of another run, from [`Report::shares`](crate::Report::shares). When the parties meet,
    /// they check that their shares belong together.
    #[must_use]
    pub fn share(mut self, input: usize, share: ValueShare) -> Self {
        self.shares.push((input, share));
        self
    }

    /// Lets values come in as shares although the protocol withstands malicious parties: shares have no MACs,
    /// so any holder of one can flip bits of the value unnoticed.
    #[must_use]
    pub fn unauthenticated_shares(mut self, allowed: bool) -> Self {
        self.unauthenticated_shares = allowed;
        self
    }

    /// The protocol that is wanted, for this program or any.
    pub(crate) fn chosen(&self, program: Option<&Program>) -> Result<&'static dyn Protocol> {
        match &self.protocol {
            Chosen::Preferred => preferred(self.protocols, self.parties(), program),
            Chosen::Named(name) => among(self.protocols, name),
            Chosen::This(protocol) => Ok(*protocol),
        }
    }

    /// The protocol for a session by hand: the first that can do that, if none is named.
    pub(crate) fn chosen_reactive(&self) -> Result<&'static dyn Protocol> {
        match self.protocol {
            Chosen::Preferred => preferred_reactive(self.protocols, self.parties()),
            _ => self.chosen(None),
        }
    }

    /// The options that were set.
    pub(crate) fn options(&self, card: &'static Card) -> Result<Options> {
        set(self.protocols, card, self.me, &self.options)
    }

    /// Refuses settings that would be ignored: `what` has no use for these.
    pub(crate) fn has_no(&self, parts: &[Part], what: &str) -> Result<()> {
        let said = [
            (
                Part::Protocol,
                !matches!(self.protocol, Chosen::Preferred),
                "Session::protocol",
                "no protocol for programs",
            ),
            (Part::Params, self.params != Params::default(), "Session::params", "no parameters of a session"),
            (Part::Shares, !self.shares.is_empty(), "Session::share", "no value that comes in as shares"),
            (
                Part::Shares,
                self.unauthenticated_shares,
                "Session::unauthenticated_shares",
                "no value that comes in as shares",
            ),
            (Part::Store, self.store.is_some(), "Session::store", "no material that was made ahead"),
        ];
        match said.iter().find(|(part, said, ..)| *said && parts.contains(part)) {
            Some((.., method, none)) => Err(Error::invalid_input(format!("{what} takes {none}: leave `{method}` out"))),
            None => Ok(()),
        }
    }

    /// The number of parties.
    pub(crate) fn parties(&self) -> u16 {
        match (&self.route, &self.group) {
            (Route::Among(links), _) => links.parties(),
            (Route::Introduced { parties, .. }, _) => *parties,
            (_, Some(group)) => group.parties(),
            _ => self.peers.len().clamp(1, usize::from(u16::MAX) - 1) as u16 + 1,
        }
    }

    /// Checks the caller's wishes before any peer is contacted. Returns the options as they are if the others
    /// leave open what is open here.
    pub(crate) fn check(&self, protocol: &dyn Protocol, program: &Program, options: &Options) -> Result<Options> {
        let card = protocol.card();
        fits(self.protocols, card, self.parties(), Some(program))?;
        card.has(self.me, self.parties())?;
        protocol.fits_parties(self.parties(), options)?;
        protocol.fits_party(self.me, options)?;
        let form = Form::of(program, card, self.parties())?;
        let (program, mut settled) = (form.program(), options.clone());
        protocol.settle(&mut settled, program);
        protocol.fits(program, &settled, self.params)?;
        Ok(settled)
    }
}

/// Blames an error in a run of two on the other one, if it is anybody's doing.
pub(crate) fn whose(error: Error, mesh: &Mesh<'_>) -> Error {
    match mesh.parties() {
        2 => mesh.peers().fold(error, Error::by),
        _ => error,
    }
}

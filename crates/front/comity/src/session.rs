//! `Session`: one party's side of one run, from finding the peer to the report.

use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_channel::{Channel, Counted, Counts, Hello, hello};
use comity_circuit::{Observer, Owner, Program, ProgramError, Recipients};
use comity_core::{Backend, Bits, Error, Kind, Params, PartyId, Result};
use comity_net::{KeyDir, Listener, Security, Settings, SystemRng, is_loopback};
use comity_store::Store;

use crate::clock::{Clock, Times};
use crate::protocol::{Dealer, Protocol, Role, System};
use crate::report::peak_rss;
use crate::{Adversary, Report, Watch};

mod dealt;
mod stored;

/// One party of one run: how to meet the peer, which protocol, and then [`Session::run`].
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
pub struct Session<'a> {
    party: u32,
    route: Route<'a>,
    tls: Option<PathBuf>,
    plaintext: bool,
    protocol: Option<String>,
    role: Option<Role>,
    coded: bool,
    dealer: Option<Dealer>,
    store: Option<Store>,
    params: Params,
    timeout: Duration,
    backend: Backend,
}

/// Where the peer is.
enum Route<'a> {
    Unknown,
    Listen(String),
    Connect(String),
    Over(Box<dyn Channel + 'a>),
}

impl<'a> Session<'a> {
    /// The side of party `party`, counted from 0.
    pub fn new(party: u32) -> Session<'a> {
        Session {
            party,
            route: Route::Unknown,
            tls: None,
            plaintext: false,
            protocol: None,
            role: None,
            coded: false,
            dealer: None,
            store: None,
            params: Params::default(),
            timeout: Duration::from_secs(30),
            backend: Backend::detect(),
        }
    }

    /// Waits for the peer at this address, such as `127.0.0.1:7000`; port 0 lets the system choose.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.route = Route::Listen(address.into());
        self
    }

    /// Connects to the peer at this address, trying until the time-out.
    #[must_use]
    pub fn connect(mut self, address: impl Into<String>) -> Self {
        self.route = Route::Connect(address.into());
        self
    }

    /// Runs over a channel that leads to the peer already. Its privacy and its time-outs are the caller's.
    #[must_use]
    pub fn over(mut self, channel: impl Channel + 'a) -> Self {
        self.route = Route::Over(Box::new(channel));
        self
    }

    /// Talks TLS 1.3 with the key and the trusted keys in this folder (see `comity key`).
    #[must_use]
    pub fn tls(mut self, dir: impl AsRef<Path>) -> Self {
        self.tls = Some(dir.as_ref().to_owned());
        self
    }

    /// Allows plain text to an address off this machine, where anyone on the way can read and change it.
    #[must_use]
    pub fn plaintext(mut self, allowed: bool) -> Self {
        self.plaintext = allowed;
        self
    }

    /// Runs the protocol of this name ([`Protocol::all`] lists them) and not the preferred one. A semi-honest protocol
    /// runs only if it is named.
    #[must_use]
    pub fn protocol(mut self, name: impl Into<String>) -> Self {
        self.protocol = Some(name.into());
        self
    }

    /// What this party does in `cutchoose`; the peer does the other thing. If neither says it, both find out from the
    /// program which way fewer bytes are sent. `yao` has a rule of its own and refuses this.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Sends the garbled circuits of cutchoose coded: about half the bytes and more work for both, which pays where the
    /// network is slow. Both parties say it.
    #[must_use]
    pub fn coded(mut self, coded: bool) -> Self {
        self.coded = coded;
        self
    }

    /// How `tinyot` makes its authenticated triples: [`Dealer::Fast`] if nothing is said. Both parties say the same.
    #[must_use]
    pub fn dealer(mut self, dealer: Dealer) -> Self {
        self.dealer = Some(dealer);
        self
    }

    /// Runs on a preparation from this store, or with [`Session::prepare`] fills it. The peer does the same with a store of
    /// its own.
    ///
    /// Never put a copy of a store back (a backup, a copied folder, a snapshot of a virtual machine): two runs on one
    /// preparation can reveal inputs, and nothing in the store can tell that it is old.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// The security parameters; both parties must want the same. In `cutchoose`, `rho` is the number of garbled copies.
    #[must_use]
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// How long to wait for the peer to connect, to say hello, and to send its first message: 30 seconds if nothing
    /// is said. After that an honest peer may compute for as long as it likes.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The CPU backend; the fastest if nothing is said. All give equal bytes.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Runs the program with this party's inputs, each with its index, and reports when all is done and checked.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) before anything is sent if the inputs are not exactly this party's, at the program's
    /// widths, or the session is not set up; [`Mismatch`](comity_core::Kind), on both sides, if the parties want different
    /// things; otherwise what the network, the peer and the protocol's checks give.
    pub fn run(self, program: &Program, inputs: impl IntoIterator<Item = (usize, Bits)>) -> Result<Report> {
        self.run_watched(program, inputs, &mut ())
    }

    /// [`Session::run`], and tells `watch` how it goes.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_watched(
        self,
        program: &Program,
        inputs: impl IntoIterator<Item = (usize, Bits)>,
        watch: &mut dyn Watch,
    ) -> Result<Report> {
        self.run_with(program, inputs.into_iter().collect(), watch)
    }

    /// [`Session::run_watched`], which for each kind of iterator would compile all protocols again.
    fn run_with(mut self, program: &Program, inputs: Vec<(usize, Bits)>, watch: &mut dyn Watch) -> Result<Report> {
        let protocol = self.protocol.as_deref().map_or(Ok(Protocol::preferred()), Protocol::named)?;
        let inputs = self.check(protocol, program, inputs)?;
        let garbler = self.garbler(program);
        let store = self.store.take();
        let wish = match (&store, protocol.system) {
            (Some(_), _) => format!("{}{}", protocol.name, stored::FROM_A_STORE),
            (None, System::TinyOt) => self.dealt(protocol.name),
            (None, _) if self.coded => format!("{}, coded", wish(protocol.name, program, garbler)),
            (None, _) => wish(protocol.name, program, garbler),
        };
        let greeting = self.greeting(protocol, program, wish)?;
        // Now, so that the peer does not wait for it later.
        program.lowered();
        let Met { channel, address, key } = self.meet(protocol, watch)?;
        watch.connected(&address);
        let mut clock = Clock::start(watch);
        clock.phase("hello");
        let mut channel = Counted::new(channel);
        let mut rng = SystemRng;
        let session = hello(&mut channel, &greeting, &mut rng).map_err(|e| roles_apart(e, protocol.name, program))?;
        match (protocol.system, store) {
            (System::CutChoose, Some(store)) => {
                let channel = &mut channel;
                self.run_stored(&store, channel, &session, &key, protocol, program, &inputs, &mut rng, &mut clock)?;
            }
            (System::CutChoose, None) => {
                let config = self.cutchoose(garbler);
                comity_cutchoose::run(&mut channel, &session, &config, program, &inputs, &mut rng, &mut clock)?;
            }
            (System::TinyOt, Some(store)) => {
                let channel = &mut channel;
                self.run_dealt(&store, channel, &session, &key, program, &inputs, &mut clock)?;
            }
            (System::TinyOt, None) => {
                let config = self.tinyot();
                comity_tinyot::run(&mut channel, &session, &config, program, &inputs, &mut rng, &mut clock)?;
            }
            (System::Yao, _) => {
                let config = comity_yao::Config { backend: self.backend, party: self.party };
                comity_yao::run(&mut channel, &session, &config, program, &inputs, &mut rng, &mut clock)?;
            }
        }
        Ok(self.report_of(protocol, program.and_gates(), &channel.counts(), clock.stop()))
    }

    /// How cutchoose is run.
    fn cutchoose(&self, garbler: u32) -> comity_cutchoose::Config {
        comity_cutchoose::Config {
            backend: self.backend,
            party: self.party,
            garbler,
            params: self.params,
            form: if self.coded { comity_cutchoose::Form::Coded } else { comity_cutchoose::Form::All },
        }
    }

    /// How tinyot is run.
    fn tinyot(&self) -> comity_tinyot::Config {
        let dealer = match self.dealer.unwrap_or_default() {
            Dealer::Fast => comity_tinyot::DealerKind::Fast,
            Dealer::Nnob12 => comity_tinyot::DealerKind::Nnob12,
        };
        comity_tinyot::Config { backend: self.backend, party: self.party, params: self.params, dealer }
    }

    /// What is wanted where tinyot deals: the dealer is named if it is not the usual one.
    fn dealt(&self, what: &str) -> String {
        match self.dealer.unwrap_or_default() {
            Dealer::Fast => what.to_owned(),
            dealer => format!("{what}, dealt by {dealer}"),
        }
    }

    /// What came of it.
    fn report_of(&self, protocol: &'static Protocol, and_gates: u64, counts: &Counts, times: Times) -> Report {
        let Times { seconds, phases, outputs } = times;
        Report {
            outputs,
            protocol: protocol.name,
            adversary: protocol.adversary,
            params: self.params,
            party: self.party,
            and_gates,
            seconds,
            phases,
            bytes_sent: counts.sent,
            bytes_received: counts.received,
            rounds: counts.rounds,
            peak_rss: peak_rss(),
        }
    }

    /// Finds everything that is wrong with what the caller wants, before anybody is bothered.
    fn check(&self, protocol: &Protocol, program: &Program, inputs: Vec<(usize, Bits)>) -> Result<Vec<Option<Bits>>> {
        let refuse = |why: String| Err(Error::invalid_input(why));
        self.check_parties(protocol, program)?;
        let mut given: Vec<Option<Bits>> = vec![None; program.inputs().len()];
        for (index, bits) in inputs {
            match given.get_mut(index) {
                Some(slot) if slot.is_none() => *slot = Some(bits),
                Some(_) => return refuse(format!("input {index} is given twice")),
                None => return refuse(format!("there is no input {index}: the program has {}", given.len())),
            }
        }
        program.check_inputs(Some(PartyId(self.party as u16)), &given)?;
        Ok(given)
    }

    /// [`Session::check`], but for the inputs.
    fn check_parties(&self, protocol: &Protocol, program: &Program) -> Result<()> {
        self.check_flags(protocol)?;
        program.check_plain()?;
        let refuse = |why: String| Err(Error::invalid_input(why));
        let (name, parties) = (protocol.name, *protocol.parties.end());
        for value in program.inputs() {
            if value.owner.party().is_some_and(|party| u32::from(party.0) >= parties) {
                return refuse(format!(
                    "input `{}` belongs to {}, and {name} is for {parties} parties: say who owns it",
                    value.name, value.owner
                ));
            }
        }
        for value in program.outputs() {
            if let Some(party) = value.to.named().iter().find(|party| u32::from(party.0) >= parties) {
                return refuse(format!(
                    "output `{}` is for party {party}, and {name} is for {parties} parties",
                    value.name
                ));
            }
        }
        Ok(())
    }

    /// What is wrong with what the session was told, whatever the program.
    fn check_flags(&self, protocol: &Protocol) -> Result<()> {
        let refuse = |why: String| Err(Error::invalid_input(why));
        let (name, parties) = (protocol.name, *protocol.parties.end());
        match (self.role, protocol.system) {
            (Some(role), System::Yao) => {
                return refuse(format!(
                    "the {role} cannot be chosen in {name}, where the party with more input bits garbles: leave the role out"
                ));
            }
            (Some(_), System::TinyOt) => {
                return refuse(format!("in {name} both parties do the same: leave the role out"));
            }
            _ => {}
        }
        if self.coded && (self.store.is_some() || !matches!(protocol.system, System::CutChoose)) {
            return refuse("only cutchoose without a store sends garbled circuits coded: leave `coded` out".into());
        }
        if self.coded && self.params.rho > comity_cutchoose::Form::MOST_CODED {
            let most = comity_cutchoose::Form::MOST_CODED;
            return refuse(format!(
                "garbled circuits are sent coded for rho up to {most}: leave `coded` out, or lower rho"
            ));
        }
        if let (Some(dealer), true) = (self.dealer, !matches!(protocol.system, System::TinyOt)) {
            return refuse(format!(
                "the dealer {dealer} is tinyot's, and {name} has none: leave it out, or take tinyot"
            ));
        }
        if let (Some(_), System::Yao) = (&self.store, protocol.system) {
            return refuse(format!(
                "{name} has nothing that could be prepared: leave the store out, or take cutchoose or tinyot"
            ));
        }
        if self.party >= parties {
            return refuse(format!(
                "{name} is for {parties} parties, 0 to {}; there is no party {}",
                parties - 1,
                self.party
            ));
        }
        Ok(())
    }

    /// Meets the peer.
    fn meet(&mut self, protocol: &Protocol, watch: &mut dyn Watch) -> Result<Met<'a>> {
        let route = std::mem::replace(&mut self.route, Route::Unknown);
        let (Route::Listen(address) | Route::Connect(address)) = &route else {
            return match route {
                Route::Over(channel) => {
                    Ok(Met { channel, address: "a channel of the caller's".into(), key: String::new() })
                }
                _ => Err(Error::invalid_input("where is the peer? The session needs listen, connect or over")),
            };
        };
        if protocol.adversary == Adversary::SemiHonest && !stays_here(address) {
            watch.exposed(protocol);
        }
        let security = match &self.tls {
            Some(dir) => KeyDir::new(dir).security(1 - self.party)?,
            None => Security::Plain { anywhere: self.plaintext },
        };
        let key = match &security {
            Security::Tls { peer, .. } => peer.to_string(),
            Security::Plain { .. } => String::new(),
        };
        let settings = Settings { security, timeout: self.timeout };
        let connection = match &route {
            Route::Listen(address) => {
                let listener = Listener::bind(address, &settings)?;
                watch.listening(&listener.address().to_string());
                listener.accept(&mut |_| {})?
            }
            _ => comity_net::connect(address, &settings, &mut |_| watch.connecting(address))?,
        };
        let address = connection.peer().to_string();
        Ok(Met { channel: Box::new(connection), address, key })
    }

    /// The party that garbles, in a protocol that lets the parties choose.
    fn garbler(&self, program: &Program) -> u32 {
        match self.role {
            None => comity_cutchoose::garbler(program),
            Some(Role::Garbler) => self.party,
            Some(Role::Evaluator) => 1 - self.party,
        }
    }

    /// What this party tells its peer that it wants. Owners and recipients are compared apart from the rest of the
    /// program, so that a difference there is called by its name. `wish` is the protocol and what else must be alike.
    fn greeting(&self, protocol: &Protocol, program: &Program, wish: String) -> Result<Hello> {
        let refused = |e: ProgramError| Error::invalid_input(e.to_string());
        let mut bare = program.clone();
        for index in 0..program.inputs().len() {
            bare = bare.with_owner(index, 0).map_err(refused)?;
        }
        for index in 0..program.outputs().len() {
            bare = bare.with_recipients(index, Recipients::All).map_err(refused)?;
        }
        Ok(Hello {
            protocol: wish,
            params: self.params,
            parties: *protocol.parties.end(),
            party: self.party,
            peer: 1 - self.party,
            program: program.name().to_owned(),
            program_digest: bare.digest(),
            owners: owners(program),
            recipients: recipients(program),
        })
    }
}

/// A peer that is there.
struct Met<'a> {
    channel: Box<dyn Channel + 'a>,
    /// For people.
    address: String,
    /// The fingerprint of the key that it proved to have; empty if it did not.
    key: String,
}

/// What stands in a hello between a protocol's name and its garbler.
const GARBLER: &str = ", garbled by party ";

/// What is wanted, in words that are compared with the peer's. The garbler is named only if it is not the one that follows
/// from the program, so that a difference in owners or recipients is called by its name.
fn wish(what: &str, program: &Program, garbler: u32) -> String {
    if garbler == comity_cutchoose::garbler(program) { what.to_owned() } else { format!("{what}{GARBLER}{garbler}") }
}

/// A mismatch of protocols that differ in nothing but the garbler is one of the garbler.
fn roles_apart(error: Error, what: &str, program: &Program) -> Error {
    let garbler = |text: &str| match text.strip_prefix(what)? {
        "" => Some(format!("party {} (as follows from the program)", comity_cutchoose::garbler(program))),
        rest => rest.strip_prefix(GARBLER).map(|party| format!("party {party}")),
    };
    if let Error { kind: Kind::Mismatch { field: "protocol", ours, theirs }, .. } = &error
        && let (Some(ours), Some(theirs)) = (garbler(ours), garbler(theirs))
    {
        return Error::mismatch("garbler", ours, theirs);
    }
    error
}

/// Who puts in what, as `--owner` writes it.
fn owners(program: &Program) -> String {
    let owner = |owner: Owner| owner.party().map_or("shared".to_owned(), |party| party.to_string());
    let owners: Vec<String> =
        program.inputs().iter().enumerate().map(|(i, v)| format!("{i}={}", owner(v.owner))).collect();
    owners.join(" ")
}

/// Who learns what: in a word if it is the same for all outputs.
fn recipients(program: &Program) -> String {
    let name = |to: Recipients| match to {
        Recipients::All => "all".to_owned(),
        Recipients::Parties(parties) => parties.to_string(),
        Recipients::Shared => "shared".to_owned(),
    };
    match program.outputs() {
        [] => "none".to_owned(),
        [first, rest @ ..] if rest.iter().all(|output| output.to == first.to) => name(first.to),
        outputs => {
            let each = outputs.iter().enumerate().map(|(i, output)| format!("{i}={}", name(output.to)));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Whether everything that this address stands for is on this machine. One that cannot be looked up goes nowhere: it
/// is an error soon after.
fn stays_here(address: &str) -> bool {
    address.to_socket_addrs().map_or(true, |mut all| all.all(|a| is_loopback(&a)))
}

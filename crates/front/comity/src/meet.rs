//! Meeting the peers: from an address to a session that all have agreed on.

use std::net::ToSocketAddrs;

use comity_channel::{Channel, Counted, Counter, Hello, Mesh, PerPeer, hello};
use comity_circuit::{Input, Owner, Program, ProgramError, Recipients};
use comity_core::{Error, Result};
use comity_net::{Event, KeyDir, Listener, Security, Settings, SystemRng, is_loopback};
use comity_protocol::{Adversary, Card, Here, Options};

use crate::route::Route;
use crate::session::{Session, whose};
use crate::watch::Watch;

/// Peers that are there.
pub(crate) struct Met<'a> {
    mesh: Mesh<'a>,
    counters: PerPeer<Counter>,
    /// The addresses of the peers, for people.
    pub(crate) address: String,
    /// This party's key and the others', where they were proved.
    keys: (Option<[u8; 32]>, PerPeer<Option<[u8; 32]>>),
}

/// A session that all have agreed on.
pub(crate) struct Begun<'a> {
    pub(crate) mesh: Mesh<'a>,
    pub(crate) counters: PerPeer<Counter>,
    pub(crate) here: Here,
    /// The options as agreed; what nobody said is open.
    pub(crate) options: Options,
    /// The fingerprint of each peer's key, where it was proved.
    pub(crate) keys: PerPeer<Option<[u8; 32]>>,
}

/// A wish: the session that a party wants, but for who it is.
pub(crate) struct Greeting {
    protocol: &'static str,
    program: (String, [u8; 32]),
    owners: String,
    recipients: String,
    phase: String,
}

impl<'a> Session<'a> {
    /// Finds the peers.
    pub(crate) fn meet(&mut self, card: &Card, watch: &mut dyn Watch) -> Result<Met<'a>> {
        let (me, parties) = (self.me, self.parties());
        let none = (None, PerPeer::new(me, parties, |_| None));
        let route = std::mem::replace(&mut self.route, Route::Unknown);
        let (Route::Listen(address) | Route::Connect(address)) = &route else {
            let address = "a channel of the caller's".to_owned();
            let links = match route {
                Route::Over(channel) => PerPeer::from_vec(me, vec![channel]),
                Route::Among(links) => Some(links).filter(|links| links.me() == me),
                _ => {
                    return Err(Error::invalid_input("where is the peer? The session needs listen, connect or over"));
                }
            };
            let links =
                links.ok_or_else(|| Error::invalid_input(format!("these are not the channels of party {me}")))?;
            return Ok(Met::new(links, address, none));
        };
        if card.adversary == Adversary::SemiHonest && !stays_here(address) {
            watch.exposed(card);
        }
        let peer = none.1.peers().next().expect("there are two");
        let security = match &self.tls {
            Some(dir) => KeyDir::new(dir).security(me, parties)?,
            None => Security::Plain { anywhere: self.plaintext },
        };
        let keys = match &security {
            Security::Tls { identity, peers } => {
                let theirs = peers.clone().map(|_, key| Some(key.to_bytes()));
                (Some(identity.fingerprint().to_bytes()), theirs)
            }
            Security::Plain { .. } => none,
        };
        let settings = Settings { me, parties, security, timeout: self.timeout };
        let connection = match &route {
            Route::Listen(address) => {
                let listener = Listener::bind(address, &settings)?;
                watch.listening(&listener.address().to_string());
                listener.accept(&mut |event| {
                    if let Event::TurnedAway(why) = event {
                        watch.turned_away(&why.to_string());
                    }
                })
            }
            _ => comity_net::connect(address, peer, &settings, &mut |_| watch.connecting(address)),
        };
        let connection = connection.map_err(|error| error.by(peer))?;
        let address = connection.peer().to_string();
        let links = PerPeer::from_vec(me, vec![Box::new(connection) as Box<dyn Channel>]);
        Ok(Met::new(links.expect("one of two"), address, keys))
    }

    /// The hello with which this party tells its peers what it wants. Owners and recipients are compared apart from the rest of
    /// the program, so that a difference there is called by its name.
    pub(crate) fn greeting(&self, card: &'static Card, program: Option<&Program>, phase: &str) -> Result<Greeting> {
        let refused = |e: ProgramError| Error::invalid_input(e.to_string());
        let Some(program) = program else {
            return Ok(Greeting {
                protocol: card.name,
                program: ("any program".into(), [0; 32]),
                owners: String::new(),
                recipients: String::new(),
                phase: phase.to_owned(),
            });
        };
        let mut bare = program.clone();
        for index in 0..program.inputs().len() {
            bare = bare.with_owner(index, 0).map_err(refused)?;
        }
        for index in 0..program.outputs().len() {
            bare = bare.with_recipients(index, Recipients::All).map_err(refused)?;
        }
        Ok(Greeting {
            protocol: card.name,
            program: (program.name().to_owned(), bare.digest()),
            owners: owners(program),
            recipients: recipients(program),
            phase: phase.to_owned(),
        })
    }
}

impl<'a> Met<'a> {
    fn new(
        links: PerPeer<Box<dyn Channel + 'a>>,
        address: String,
        keys: (Option<[u8; 32]>, PerPeer<Option<[u8; 32]>>),
    ) -> Met<'a> {
        let links = links.map(|_, link| Counted::new(link));
        let mut counters = PerPeer::new(links.me(), links.parties(), |_| Counter::default());
        links.iter().for_each(|(peer, link)| counters[peer] = link.counter());
        Met { mesh: Mesh::new(links), counters, address, keys }
    }

    /// Agrees with the peers on a session.
    pub(crate) fn greet(
        self,
        session: &Session<'_>,
        greeting: Greeting,
        mut options: Options,
        rng: &mut SystemRng,
    ) -> Result<Begun<'a>> {
        const PHASE: &str = "phase";
        let Met { mut mesh, counters, keys, .. } = self;
        let mut fields = vec![(PHASE, Some(greeting.phase))];
        fields.extend(options.agreed());
        let hello_ = Hello {
            protocol: greeting.protocol.to_owned(),
            options: fields,
            params: session.params,
            me: mesh.me(),
            parties: mesh.parties(),
            program: greeting.program.0,
            program_digest: greeting.program.1,
            owners: greeting.owners,
            recipients: greeting.recipients,
            key: keys.0,
            peer_keys: keys.1.clone(),
            group: None,
        };
        let greeted = hello(&mut mesh, &hello_, rng).map_err(|error| whose(error, &mesh))?;
        options.adopt(&greeted.options)?;
        let here = Here {
            me: mesh.me(),
            parties: mesh.parties(),
            session: greeted.session,
            params: session.params,
            backend: session.backend,
        };
        Ok(Begun { mesh, counters, here, options, keys: keys.1 })
    }
}

/// The owners of the inputs, as `--owner` writes them.
fn owners(program: &Program) -> String {
    let owner = |(i, value): (usize, &Input)| match value.owner {
        Owner::Party(party) => format!("{i}={party}"),
        Owner::Shared => format!("{i}=shared"),
    };
    program.inputs().iter().enumerate().map(owner).collect::<Vec<_>>().join(" ")
}

/// The recipients of the outputs: in a word if they are the same for all.
fn recipients(program: &Program) -> String {
    match program.outputs() {
        [] => "none".to_owned(),
        [first, rest @ ..] if rest.iter().all(|output| output.to == first.to) => first.to.to_string(),
        outputs => {
            let each = outputs.iter().enumerate().map(|(i, output)| format!("{i}={}", output.to));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Whether everything that this address stands for is on this machine. One that cannot be looked up goes nowhere: it
/// is an error soon after.
fn stays_here(address: &str) -> bool {
    address.to_socket_addrs().map_or(true, |mut all| all.all(|a| is_loopback(&a)))
}

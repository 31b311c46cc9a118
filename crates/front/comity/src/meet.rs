//! Meeting the peers: from an address to a session that all have agreed on.

use comity_channel::hello::Agreed;
use comity_channel::{Channel, Counted, Counter, Hello, Mesh, PerPeer, hello};
use comity_circuit::{Input, Owner, Program, ProgramError, Recipients};
use comity_core::{Error, Kind, PartyId, Result};
use comity_net::{
    ByRelay, Connection, Digest, Event, KeyDir, Limits, Listener, PartyGroup, Security, Settings, SystemRng, stays_here,
};
use comity_protocol::{Adversary, Card, Here, Options};

use crate::route::{Places, Route};
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
    /// All fields as agreed.
    pub(crate) agreed: Agreed,
    /// The fingerprint of each peer's key, where it was proved.
    pub(crate) keys: PerPeer<Option<[u8; 32]>>,
}

/// A wish: the session that a party wants, whoever the party is.
pub(crate) struct Greeting {
    protocol: &'static str,
    program: (String, [u8; 32]),
    owners: String,
    /// Who learns which output.
    pub(crate) recipients: String,
    phase: String,
    /// Fields beside the options of the card.
    pub(crate) more: Agreed,
}

impl<'a> Session<'a> {
    /// Finds the peers.
    pub(crate) fn meet(&mut self, card: &Card, watch: &mut dyn Watch) -> Result<Met<'a>> {
        watch.begins(&self.stop);
        let limits = self.limits();
        let (me, parties) = (self.me, self.parties());
        let none = PerPeer::new(me, parties, |_| None);
        let unknown =
            || Error::invalid_input("where is the peer? The session needs listen, connect, over, peer, group or relay");
        let links = match std::mem::replace(&mut self.route, Route::Unknown) {
            Route::Over(channel) => PerPeer::from_vec(me, vec![channel]),
            Route::Among(links) => Some(links).filter(|links| links.me() == me),
            route => {
                let places = match route {
                    Route::Introduced { address, ask, .. } => {
                        let settings = self.settings(parties, limits, Vec::new())?;
                        let listener = Listener::bind(&address, &settings)?;
                        watch.listening(&listener.address().to_string());
                        let lower = (0..me.0).map(PartyId).zip(ask(&listener.address().to_string())?);
                        let places = Places { calls: lower.collect(), ..Places::default() };
                        return self.met(Some(listener), &places, settings, watch);
                    }
                    Route::Listen(address) => self.places(Some(&address))?,
                    Route::Connect(_) if self.group.is_some() || !self.peers.is_empty() => {
                        return Err(Error::invalid_input(
                            "a group or peers say where the others are: leave connect out",
                        ));
                    }
                    Route::Connect(address) => {
                        let calls = none.peers().map(|peer| (peer, address.clone())).collect();
                        Some(Places { calls, ..Places::default() })
                    }
                    _ => self.places(None)?,
                };
                let places = places.ok_or_else(unknown)?;
                let settings = self.settings(parties, limits, places.relayed.clone())?;
                // Whoever is at the other end of a relay is anywhere.
                let here = places.relayed.is_empty() && places.addresses().all(stays_here);
                if card.adversary == Adversary::SemiHonest && !here {
                    watch.exposed(card);
                }
                if parties > 2 && self.tls.is_none() && !here {
                    watch.overheard();
                }
                let listener = match (self.listener.take(), &places.listen) {
                    (Some(listener), Some(_)) => Some(listener),
                    (_, Some(address)) => Some(Listener::bind(address, &settings)?),
                    (_, None) => None,
                };
                if let Some(listener) = &listener {
                    watch.listening(&listener.place());
                }
                if let Some((_, relay)) = places.calls.iter().find(|(party, _)| places.relayed.contains(party)) {
                    watch.at_relay(relay);
                }
                return self.met(listener, &places, settings, watch);
            }
        };
        let links = links.ok_or_else(|| Error::invalid_input(format!("the channels do not belong to party {me}")))?;
        Ok(Met::new(links, "a channel of the caller's".to_owned(), (None, none)))
    }

    /// The places that the group or the peers say; `None` if nothing does.
    pub(crate) fn places(&self, listen: Option<&str>) -> Result<Option<Places>> {
        match (&self.group, &self.peers[..], listen) {
            (Some(_), [_, ..], _) => {
                Err(Error::invalid_input("a group's file says where the others are: name no peers"))
            }
            (Some(group), [], listen) => {
                let places = Places::of_group(group, self.me, listen, self.relay.as_deref())?;
                match (&self.relay, &places.relayed[..]) {
                    (Some(relay), []) => Err(Error::invalid_input(format!(
                        "the relay {relay} is not needed: in each pair with this party one of the two can be called \
                            (write the address - in the group for a party that nobody can call)"
                    ))),
                    _ => Ok(Some(places)),
                }
            }
            (None, [], None) if self.relay.is_some() => Ok(self.relay.as_ref().map(|at| Places::at_relay(self.me, at))),
            (None, ..) if self.relay.is_some() => Err(Error::invalid_input(
                "a relay takes the place of listening and of the peer's address: name the relay, or addresses",
            )),
            (None, [], None) => Ok(None),
            (None, [], Some(address)) => Ok(Some(Places { listen: Some(address.to_owned()), ..Places::default() })),
            (None, peers, listen) => Places::of_peers(self.me, peers, listen).map(Some),
        }
    }

    /// How this party meets the others.
    pub(crate) fn settings(&self, parties: u16, limits: Limits, relayed: Vec<PartyId>) -> Result<Settings> {
        let keyed = self.group.as_ref().map(|group| group.members().iter().any(|member| member.key.is_some()));
        let security = match (&self.tls, &self.group, keyed) {
            (Some(dir), Some(group), Some(true)) => group.security(self.me, KeyDir::new(dir).identity()?)?,
            (Some(_), Some(_), _) => {
                return Err(Error::invalid_input(
                    "the group has no keys, and so no TLS: list a key for each party, or leave tls out",
                ));
            }
            (None, _, Some(true)) => {
                return Err(Error::invalid_input("the group has keys: name the folder with this party's (--tls DIR)"));
            }
            (Some(_), None, _) if self.service && !relayed.is_empty() => {
                return Err(Error::invalid_input(
                    "two parties that know each other meet at a relay: a service for all trusted clients must listen \
                        at an address",
                ));
            }
            (Some(dir), None, _) if self.service => KeyDir::new(dir).service(self.me)?,
            (Some(dir), None, _) => KeyDir::new(dir).security(self.me, parties)?,
            (None, ..) => Security::Plain { anywhere: self.plaintext },
        };
        let group = self.group.as_ref().map(PartyGroup::digest);
        let relay = if relayed.is_empty() { None } else { Some(ByRelay { peers: relayed, group }) };
        Ok(Settings { me: self.me, parties, security, timeout: self.timeout, limits, relay })
    }

    /// Waits for those that come and calls the others.
    fn met(
        &self,
        listener: Option<Listener>,
        Places { calls, relayed, .. }: &Places,
        settings: Settings,
        watch: &mut dyn Watch,
    ) -> Result<Met<'a>> {
        let own = match &settings.security {
            Security::Tls { identity, .. } => Some(identity.fingerprint().to_bytes()),
            Security::Plain { .. } => None,
        };
        let links = match (settings.parties, calls.first(), &listener) {
            (2, Some((peer, address)), _) => {
                comity_net::connect(address, *peer, &settings, &mut |_| watch.connecting(address))
                    .and_then(|link| only(link, settings.me))
                    .map_err(|error| error.by(*peer))?
            }
            (2, None, Some(listener)) => listener
                .accept_within(&settings.limits, &mut |event| tell(watch, &settings, &event))
                .and_then(|link| only(link, settings.me))
                .map_err(|error| error.by(settings.me.other()))?,
            _ => comity_net::meet(listener.as_ref(), calls, &settings, &mut |event| tell(watch, &settings, &event))?,
        };
        let at = |peer: PartyId, link: &Connection| match relayed.contains(&peer) {
            true => format!("by the relay at {}", link.peer()),
            false => format!("at {}", link.peer()),
        };
        let address = match settings.parties {
            2 if relayed.is_empty() => links.iter().map(|(_, link)| link.peer().to_string()).collect(),
            2 => links.iter().map(|(peer, link)| at(peer, link)).collect(),
            _ => links
                .iter()
                .map(|(peer, link)| format!("party {peer} {}", at(peer, link)))
                .collect::<Vec<_>>()
                .join(", "),
        };
        // The keys that were proved: those that the settings name, or one of a service's clients.
        let mut theirs = PerPeer::new(settings.me, settings.parties, |_| None);
        links.iter().for_each(|(peer, link)| theirs[peer] = link.key().map(|key| key.to_bytes()));
        Ok(Met::new(links.map(|_, link| Box::new(link) as Box<dyn Channel>), address, (own, theirs)))
    }

    /// The hello in which this party tells its peers what it wants. Owners and recipients are compared apart
    /// from the rest of the program, so that the error names a difference there.
    pub(crate) fn greeting(&self, card: &'static Card, program: Option<&Program>, phase: &str) -> Result<Greeting> {
        let refused = |e: ProgramError| Error::invalid_input(e.to_string());
        let Some(program) = program else {
            return Ok(Greeting {
                protocol: card.name,
                program: ("any program".into(), [0; 32]),
                owners: String::new(),
                recipients: String::new(),
                phase: phase.to_owned(),
                more: Vec::new(),
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
            more: Vec::new(),
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
        watch: &mut dyn Watch,
    ) -> Result<Begun<'a>> {
        const PHASE: &str = "phase";
        const JOB: &str = "job";
        const LABEL: &str = "label";
        let Met { mut mesh, counters, keys, .. } = self;
        let job = session.job.map_or("none".to_owned(), |digest| Digest(digest).text("job"));
        let label = label(session.label.as_deref())?;
        let mut fields = vec![(PHASE, Some(greeting.phase)), (JOB, Some(job)), (LABEL, Some(label))];
        fields.extend(session.tags().map(|tags| (SHARES, Some(tags))));
        fields.extend(options.agreed());
        fields.extend(greeting.more);
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
            group: session.group.as_ref().map(|group| group.digest().0),
        };
        let greeted = hello(&mut mesh, &hello_, &mut SystemRng).map_err(|error| whose(readable(error), &mesh))?;
        watch.agreed()?;
        options.adopt(&greeted.options)?;
        let here = Here {
            me: mesh.me(),
            parties: mesh.parties(),
            session: greeted.session,
            params: session.params,
            backend: session.backend,
        };
        Ok(Begun { mesh, counters, here, options, agreed: greeted.options, keys: keys.1 })
    }
}

/// The label of a run as the hello has it.
fn label(said: Option<&str>) -> Result<String> {
    const LONGEST: usize = 32;
    let Some(label) = said else { return Ok("none".to_owned()) };
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if (1..=LONGEST).contains(&label.len()) && label.chars().all(fits) {
        return Ok(label.to_owned());
    }
    Err(Error::invalid_input(format!(
        "the label {label:?} of the run is refused: take up to {LONGEST} letters, digits, -, _ and ., the same at all \
            parties"
    )))
}

/// The field of the hello with the tags of the shares that come in.
const SHARES: &str = "shares";

/// The link of one of two.
fn only(link: Connection, me: PartyId) -> Result<PerPeer<Connection>> {
    PerPeer::from_vec(me, vec![link])
        .ok_or_else(|| Error::invalid_input(format!("this side is party {me}, but two parties are numbered 0 and 1")))
}

/// Passes on how the meeting goes. With two parties, the one that listens has already said whom it waits for.
fn tell(watch: &mut dyn Watch, settings: &Settings, event: &Event<'_>) {
    match event {
        Event::TurnedAway(why) => watch.turned_away(&why.to_string()),
        Event::Waiting(missing) if settings.parties > 2 => {
            let others = (0..settings.parties).map(PartyId).filter(|party| *party != settings.me);
            let here: Vec<PartyId> = others.filter(|party| !missing.contains(party)).collect();
            watch.waiting(missing, &here);
        }
        Event::Waiting(_) => {}
    }
}

/// A difference between groups with their digests as people write them; one between shares with an
/// explanation.
fn readable(error: Error) -> Error {
    let Error { kind: Kind::Mismatch { field, ours, theirs }, party } = error else { return error };
    if field == SHARES {
        let field = "shares that come in (input and tag of each), which do not belong together: they are shares of \
            different values, or from different runs";
        return Error { kind: Kind::Mismatch { field, ours, theirs }, party };
    }
    let digest = |word: &str| {
        let bytes: Option<Vec<u8>> =
            (0..64).step_by(2).map(|at| u8::from_str_radix(word.get(at..at + 2)?, 16).ok()).collect();
        bytes.filter(|_| word.len() == 64)?.try_into().ok().map(|bytes| Digest(bytes).to_string())
    };
    let text = |text: String| {
        let words = text.split(' ').map(|word| digest(word).unwrap_or_else(|| word.to_owned()));
        words.collect::<Vec<_>>().join(" ")
    };
    let (ours, theirs) = if field == hello::GROUP { (text(ours), text(theirs)) } else { (ours, theirs) };
    Error { kind: Kind::Mismatch { field, ours, theirs }, party }
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

//! Material for tinyot in a store: made ahead for any program, used up block by block.
//!
//! **Parts.** All blocks under one pair of global keys are one deal of the store, and a deal is there whole or not at all: while
//! it is made some check is always pending, and whatever breaks off then costs everything under these keys. So a long
//! preparation is several deals, each with keys of its own, and what breaks off costs the one in the making. A run takes
//! all its blocks from one of them.

use std::collections::HashMap;

use comity_channel::{Channel, Counted, Hello, hello};
use comity_circuit::{Observer, Program};
use comity_core::{Bits, Error, Result, SessionId};
use comity_net::SystemRng;
use comity_store::{Deal, DealInfo, Meta, Store};
use comity_tinyot::stock::{Amounts, Maker, Shelf, Stock, Stocked};
use comity_tinyot::{Ands, dealer, run_with};
use zeroize::Zeroizing;

use super::stored::same;
use super::{Met, Session};
use crate::clock::Clock;
use crate::protocol::{Protocol, System};
use crate::{Preparation, Watch};

/// What a block holds: 836 KiB.
const BLOCK: Amounts = Amounts { triples: 1 << 13, masks: [1 << 11; 2], shares: 1 << 8 };

/// What stands in the store and in the hello for it.
const BLOCKS: &str = "tinyot, blocks of 8192 ANDs and 2048 input bits of each party";

/// Blocks of a part, if no program needs more: eight million ANDs, 0.84 GB, some ten seconds to make.
const PART: u64 = 1 << 10;

/// No party has more deals with one peer.
const MOST: usize = 1 << 16;

impl Session<'_> {
    /// Makes authenticated triples ahead, for `ands` ANDs of any programs, rounded up to whole blocks of 8,192, with input masks
    /// for a quarter as many bits of each party. The peer does the same, and each party's part goes to its
    /// [store](Session::store), of which all entries together take at most `limit` bytes.
    ///
    /// One run can use 1,024 blocks of it: for a program of more than eight million ANDs name it, with [`Session::prepare`].
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) before anything is sent if there is no store, it would get too large, or the protocol is another
    /// one than tinyot; otherwise as [`Session::run`]. Every 1,024 blocks that both had stored before an error stay and can
    /// be used.
    pub fn deal(self, ands: u64, limit: u64, watch: &mut dyn Watch) -> Result<Preparation> {
        self.deal_parts(ands, PART, limit, watch)
    }

    /// [`Session::deal`] in parts of so many blocks; the last one may be smaller.
    pub(super) fn deal_parts(mut self, ands: u64, part: u64, limit: u64, watch: &mut dyn Watch) -> Result<Preparation> {
        let refuse = |why: String| Err(Error::invalid_input(why));
        let protocol = self.protocol.as_deref().map_or(Ok(Protocol::preferred()), Protocol::named)?;
        if !matches!(protocol.system, System::TinyOt) {
            return refuse(format!("{} prepares runs of a program: name one, or take tinyot", protocol.name));
        }
        self.check_flags(protocol)?;
        let Some(store) = self.store.take() else {
            return refuse("where does the material go? The session needs a store".into());
        };
        let blocks = ands.max(1).div_ceil(BLOCK.triples as u64);
        let (need, there) = (blocks.saturating_mul(BLOCK.bytes() + 4096), store.bytes()?);
        if need.saturating_add(there) > limit || blocks > u64::from(u32::MAX - 1) {
            return refuse(format!(
                "{ands} ANDs may take {need} bytes, the store holds {there} bytes already, and the limit is {limit} bytes: \
                 raise it (--store-limit), or run without a store, where material is made when it is needed"
            ));
        }
        let greeting = Hello {
            protocol: if blocks <= part {
                format!("{}, preparing {blocks} blocks", self.dealt(BLOCKS))
            } else {
                format!("{}, preparing {blocks} blocks in parts of {part}", self.dealt(BLOCKS))
            },
            params: self.params,
            parties: *protocol.parties.end(),
            party: self.party,
            peer: 1 - self.party,
            program: "any program".into(),
            program_digest: [0; 32],
            owners: String::new(),
            recipients: String::new(),
        };
        let Met { channel, address, key } = self.meet(protocol, watch)?;
        watch.connected(&address);
        let mut clock = Clock::start(watch);
        clock.phase("hello");
        let mut channel = Counted::new(channel);
        let mut rng = SystemRng;
        let session = hello(&mut channel, &greeting, &mut rng)?;
        let (mut done, mut stored_bytes) = (0, 0);
        let mut bytes = Zeroizing::new(Vec::with_capacity(BLOCK.bytes() as usize));
        while done < blocks {
            let meta = Meta {
                id: session.child(&format!("material from block {done} on")),
                protocol: self.dealt(BLOCKS),
                program: [0; 32],
                name: "any program".into(),
                party: self.party,
                params: self.params,
                peer: key.clone(),
            };
            let end = blocks.min(done + part);
            clock.phase("setup");
            let mut writer = store.new_deal(&meta, &mut rng)?;
            let ands = Ands::Exactly((end - done) * BLOCK.triples as u64);
            let dealer = dealer(&mut channel, &meta.id.child("dealer"), &self.tinyot(), ands, &mut rng)?;
            clock.phase("offline");
            let mut maker = Maker::new(dealer);
            while done < end {
                maker.make(&mut channel, &BLOCK)?.write(&mut *bytes)?;
                writer.block(&bytes)?;
                bytes.clear();
                done += 1;
                clock.and_gates(done * BLOCK.triples as u64);
            }
            stored_bytes += writer.finish()?;
            // The other part is on its disk, too.
            same(&mut channel, &meta.id, "stored")?;
        }
        let total = blocks * BLOCK.triples as u64;
        let report = self.report_of(protocol, total, &channel.counts(), clock.stop());
        Ok(Preparation { count: total, stored_bytes, report })
    }

    /// Runs on the oldest material of which both parties have enough. Both have it marked as used before either sends anything
    /// that depends on a secret.
    #[allow(clippy::too_many_arguments, reason = "what a session has when the parties have met")]
    pub(super) fn run_dealt(
        &self,
        store: &Store,
        channel: &mut impl Channel,
        session: &SessionId,
        key: &str,
        program: &Program,
        inputs: &[Option<Bits>],
        clock: &mut Clock<'_>,
    ) -> Result<()> {
        for lost in store.destroyed() {
            clock.watch().destroyed(&lost.name);
        }
        let fits = |info: &DealInfo| {
            let meta = &info.meta;
            meta.protocol == self.dealt(BLOCKS)
                && meta.party == self.party
                && meta.params == self.params
                && meta.peer == key
        };
        let ours: Vec<DealInfo> = store.deals()?.into_iter().filter(fits).take(MOST).collect();
        let theirs = exchange(channel, &ours)?;
        let need = blocks(program);
        let (id, next) = choose(self.party, &ours, &theirs, need)?;
        let mut deal = store.open_deal(&id)?;
        let behind = deal.advance_to(next)?;
        clock.watch().material(deal.info().blocks - next, need, behind);
        let both = SessionId::derive(
            "run on material from a store",
            &[&session.to_bytes(), &id.to_bytes(), &next.to_le_bytes()],
        );
        same(channel, &both, "taken")?;
        let (name, last) = (deal.info().meta.name.clone(), deal.info().blocks == next + need);
        let dealer = Stocked::new(Blocks { deal, party: self.party })?;
        let done = run_with(channel, &both, Box::new(dealer), program, inputs, clock);
        // An error between a check's first message and its verdict costs the whole deal: whoever waits for the next run is told.
        // If these were the last blocks there is nothing to lose.
        if done.is_err() && !last && store.deals().is_ok_and(|deals| deals.iter().all(|info| info.meta.id != id)) {
            clock.watch().destroyed(&name);
        }
        done
    }
}

/// How many blocks a program uses up.
pub(super) fn blocks(program: &Program) -> u32 {
    let bits = |party: u16| {
        program.inputs().iter().filter(move |i| i.owner.includes(party)).map(|i| i.bits as u64).sum::<u64>()
    };
    let masks = (0..2).map(|party| bits(party).div_ceil(BLOCK.masks[party as usize] as u64)).max().unwrap_or(0);
    let blocks = program.and_gates().div_ceil(BLOCK.triples as u64).max(masks).max(1);
    u32::try_from(blocks).unwrap_or(u32::MAX)
}

/// How many blocks a part has from which this program is to be run: whole runs, so that none is left over.
pub(super) fn part(program: &Program) -> u64 {
    let run = u64::from(blocks(program));
    (PART / run).max(1) * run
}

/// How many ANDs that is.
pub(super) fn in_blocks(runs: u64, program: &Program) -> u64 {
    runs.saturating_mul(blocks(program).into()).saturating_mul(BLOCK.triples as u64)
}

/// Blocks of a deal, as a machine takes them.
struct Blocks {
    deal: Deal,
    party: u32,
}

impl Shelf for Blocks {
    fn next(&mut self) -> Result<Option<Stock>> {
        let block = self.deal.take()?;
        block.map(|mut reader| Stock::read(&mut reader, self.party, &BLOCK)).transpose()
    }

    fn check_begins(&mut self) -> Result<()> {
        self.deal.check_begins()
    }

    fn check_passed(&mut self) -> Result<()> {
        self.deal.check_passed()
    }
}

/// The oldest deal, in the order of party 0, of which both have so many blocks left; and at which block both go on.
fn choose(party: u32, ours: &[DealInfo], theirs: &[(SessionId, u32)], need: u32) -> Result<(SessionId, u32)> {
    let here: HashMap<_, _> = ours.iter().map(|info| (info.meta.id, (info.next, info.blocks))).collect();
    let there: HashMap<_, _> = theirs.iter().copied().collect();
    let order: Vec<SessionId> = match party {
        0 => ours.iter().map(|info| info.meta.id).collect(),
        _ => theirs.iter().map(|&(id, _)| id).collect(),
    };
    let mut most = 0;
    for id in order {
        let (Some(&(next, blocks)), Some(&theirs)) = (here.get(&id), there.get(&id)) else { continue };
        let next = next.max(theirs);
        let left = blocks.saturating_sub(next);
        if left >= need {
            return Ok((id, next));
        }
        most = most.max(left);
    }
    let why = match (ours.len(), theirs.len()) {
        (0, 0) => "neither party has material for tinyot".to_owned(),
        (0, _) => "there is no material for tinyot here (the peer has some)".to_owned(),
        (_, 0) => "the peer has no material for tinyot (there is some here)".to_owned(),
        _ if most > 0 => {
            format!("this program takes {need} blocks, and of no preparation both parties have more than {most}")
        }
        _ => "there is no material for tinyot that both parties have".to_owned(),
    };
    Err(Error::invalid_input(format!(
        "{why}, with these parameters and this peer: make some with `comity prepare --protocol tinyot --count ANDS`, on both \
         sides"
    )))
}

/// Tells the peer what is there, and hears what it has: ids, and next blocks. Both are public.
fn exchange(channel: &mut impl Channel, ours: &[DealInfo]) -> Result<Vec<(SessionId, u32)>> {
    const BYTES: usize = SessionId::BYTES + 4;
    let mut count = [0; 4];
    channel.exchange(&(ours.len() as u32).to_le_bytes(), &mut count)?;
    let count = u32::from_le_bytes(count) as usize;
    if count > MOST {
        return Err(Error::malformed(format!("the peer says that it has {count} preparations")));
    }
    let mut bytes = Vec::with_capacity(ours.len() * BYTES);
    for info in ours {
        bytes.extend(info.meta.id.to_bytes());
        bytes.extend(info.next.to_le_bytes());
    }
    let mut theirs = vec![[0; BYTES]; count];
    channel.exchange(&bytes, theirs.as_flattened_mut())?;
    let entry = |bytes: [u8; BYTES]| {
        let (id, next) = bytes.split_at(SessionId::BYTES);
        let id = SessionId::new(id.try_into().expect("the length of an id"));
        (id, u32::from_le_bytes(next.try_into().expect("four bytes")))
    };
    Ok(theirs.into_iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use comity_core::{Kind, Params};
    use comity_store::Key;

    use super::*;

    fn deal(n: u8, next: u32, blocks: u32) -> DealInfo {
        let meta = Meta {
            id: SessionId::new([n; 32]),
            protocol: BLOCKS.into(),
            program: [0; 32],
            name: String::new(),
            party: 0,
            params: Params::default(),
            peer: String::new(),
        };
        DealInfo { meta, next, blocks }
    }

    #[test]
    fn both_go_on_at_the_larger_number_of_the_oldest_deal_that_has_enough() {
        let id = |n| SessionId::new([n; 32]);
        let ours = [deal(1, 0, 4), deal(2, 3, 9), deal(3, 0, 9)];
        let theirs = [(id(3), 0), (id(2), 5), (id(1), 2), (id(9), 0)];
        assert!(choose(0, &ours, &theirs, 2).is_ok_and(|chosen| chosen == (id(1), 2)));
        assert!(choose(0, &ours, &theirs, 3).is_ok_and(|chosen| chosen == (id(2), 5)));
        assert!(choose(1, &ours, &theirs, 3).is_ok_and(|chosen| chosen == (id(3), 0)));
        let error = choose(0, &ours, &theirs, 10).unwrap_err().to_string();
        assert!(error.contains("takes 10 blocks") && error.contains("more than 9"), "{error}");
        // A peer that lies about its number burns what it names, and no more.
        assert!(choose(0, &ours[..1], &[(id(1), u32::MAX)], 1).is_err());
        assert!(choose(0, &[], &theirs, 1).unwrap_err().to_string().contains("the peer has some"));
    }

    #[test]
    fn a_block_is_as_its_name_says() {
        assert_eq!(
            BLOCKS,
            format!("tinyot, blocks of {} ANDs and {} input bits of each party", BLOCK.triples, BLOCK.masks[0])
        );
    }

    #[test]
    fn what_breaks_off_costs_the_part_in_the_making() {
        /// A party that dies after so many ANDs.
        struct Dies(u64);
        impl Watch for Dies {
            fn and_gates(&mut self, done: u64) {
                assert!(done <= self.0, "killed");
            }
        }
        let dir = std::env::temp_dir().join(format!("comity-parts-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let open = |party: u32| {
            let path = dir.join(format!("key{party}"));
            let key = if path.exists() { Key::read(&path) } else { Key::create(&path, &mut SystemRng) }.unwrap();
            Store::open_or_create(&dir.join(format!("store{party}")), &key, &mut SystemRng).unwrap()
        };
        let session =
            |party: u32| Session::new(party).protocol("tinyot").params(Params::new(128, 5).unwrap()).store(open(party));
        let (a, b) = crate::memory::pair();
        std::thread::scope(|scope| {
            let dead = scope.spawn(|| {
                // The third block is the first one of the second part.
                session(1).over(b).deal_parts(5 * 8192, 2, 1 << 30, &mut Dies(2 * 8192))
            });
            let alive = session(0).over(a).deal_parts(5 * 8192, 2, 1 << 30, &mut ());
            assert!(dead.join().is_err() && matches!(alive, Err(Error { kind: Kind::Closed, .. })));
        });
        let left = [0, 1].map(|party| {
            let deals = open(party).deals().unwrap();
            deals.iter().map(|info| (info.meta.id.to_bytes(), info.next, info.blocks)).collect::<Vec<_>>()
        });
        assert!(left[0] == left[1] && left[0].len() == 1, "one part");
        assert_eq!((left[0][0].1, left[0][0].2), (0, 2), "of two blocks");
        let program = Program::from_circuit(comity_circuit::library::find("add8").unwrap()).unwrap();
        let number = |value: u8| Bits::from_bytes(&[value], 8);
        let (a, b) = crate::memory::pair();
        let sum = std::thread::scope(|scope| {
            let one = scope.spawn(|| session(1).over(b).run(&program, [(1, number(2))]).unwrap());
            let zero = session(0).over(a).run(&program, [(0, number(40))]).unwrap();
            assert_eq!(zero.outputs, one.join().unwrap().outputs);
            zero.outputs
        });
        assert_eq!(sum, [(0, number(42))]);
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_part_holds_whole_runs() {
        let of = |name: &str| Program::from_circuit(comity_circuit::library::find(name).unwrap()).unwrap();
        assert_eq!((blocks(&of("add8")), part(&of("add8"))), (1, PART));
        let many = Program::map(comity_circuit::library::find("aes128").unwrap(), 4, &[]).unwrap();
        let run = u64::from(blocks(&many));
        assert_eq!((run, part(&many)), (4, PART / 4 * 4));
        let large = Program::map(comity_circuit::library::find("aes128").unwrap(), 2000, &[]).unwrap();
        assert_eq!(part(&large), u64::from(blocks(&large)));
    }
}

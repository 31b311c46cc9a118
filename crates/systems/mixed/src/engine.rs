//! Programs on three forms of shares, call by call.

use comity_arith::{Lifted, OpenedWords, WordMachine, permute_bits};
use comity_channel::Mesh;
use comity_circuit::{Call, Engine, Lowered, Place, Program, Put, Shown};
use comity_core::{Bits, Block, Error, PartyId, Result};
use comity_gmw::{BitMachine, BitSharing};
use comity_share::ring::word_mask;
use comity_sharing::{BitRows, WireRows, run_calls};
use zeroize::Zeroizing;

use crate::cut::Held;
use crate::form::Form;
use crate::plans::{Plan, Plans, together};
use crate::stages::{BitAt, Moved, Opening, Runs, Stage, Stages, WordAt};

/// The two machines of a run.
pub(crate) struct Machines<'d> {
    pub(crate) words: WordMachine<'d>,
    pub(crate) bits: BitMachine<'d>,
}

/// Runs a program on machines.
pub(crate) struct MixedEngine<'a, 'n, 'd> {
    net: &'a mut Mesh<'n>,
    me: PartyId,
    machines: &'a mut Machines<'d>,
    plans: &'a Plans,
    words: Zeroizing<Vec<u128>>,
    bits: BitRows,
    labels: Zeroizing<Vec<Block>>,
    /// Labels of what is converted: memory that is kept.
    converted: Zeroizing<Vec<Block>>,
    /// Where the frames begin in the words, bits and labels.
    frames: [usize; 3],
    /// The wires of calls that run on shares of bits.
    slots: BitRows,
}

/// Calls that run side by side.
#[derive(Clone, Copy)]
struct Side<'c> {
    call: &'c Call<'c>,
    from: u64,
    copies: usize,
    frame: [usize; 3],
}

impl<'a, 'n, 'd> MixedEngine<'a, 'n, 'd> {
    pub(crate) fn new(
        net: &'a mut Mesh<'n>,
        me: PartyId,
        machines: &'a mut Machines<'d>,
        plans: &'a Plans,
    ) -> MixedEngine<'a, 'n, 'd> {
        let [bits, slots] = [(); 2].map(|()| BitRows::new(machines.bits.backend()));
        let (words, labels, converted) = Default::default();
        MixedEngine { net, me, machines, plans, words, bits, labels, converted, frames: [0; 3], slots }
    }

    /// What this party holds: words, bits, and labels.
    #[cfg(test)]
    pub(crate) fn held(&self) -> (&[u128], &[u8], &[Block]) {
        (&self.words, self.bits.wires(), &self.labels)
    }

    /// Where a bit is in the calls of a side: among the bits, or among the labels.
    fn place(&self, side: &Side<'_>, form: Form, at: BitAt) -> Place {
        match at {
            BitAt::Value { value, bit } => {
                let place = side.call.args[value];
                Place { start: place.at(side.from) + bit, stride: place.stride }
            }
            BitAt::Frame(at) => {
                let stride = side.frame[form as usize];
                Place { start: self.frames[form as usize] + at, stride: stride as isize }
            }
        }
    }

    /// Where a word is in call `t` of a side.
    fn word(&self, side: &Side<'_>, at: WordAt, t: usize) -> usize {
        match at {
            WordAt::Value { value, word } => {
                let (first, _) = self.plans.memory.word(side.call.args[value].at(side.from + t as u64));
                first + word
            }
            WordAt::Frame(at) => self.frames[0] + t * side.frame[0] + at,
        }
    }

    fn staged(&mut self, stages: &Stages, side: &Side<'_>) -> Result<()> {
        for stage in &stages.stages {
            self.convert(stage, side)?;
            for part in &stage.parts {
                self.part(part, side)?;
            }
        }
        self.machines.words.converting_if(self.net, |conversions, ch| conversions.end_gates(ch))?;
        self.store(stages, side);
        Ok(())
    }

    /// The conversions of a stage, those of a kind side by side.
    fn convert(&mut self, stage: &Stage, side: &Side<'_>) -> Result<()> {
        for (word, to) in &stage.lowest {
            let to = self.place(side, Form::Boolean, BitAt::Frame(*to));
            for t in 0..side.copies {
                self.bits.wires_mut()[to.at(t as u64)] = (self.words[self.word(side, *word, t)] & 1) as u8;
            }
        }
        if let Some(adder) = &stage.adder {
            self.add(stage, adder, side)?;
        }
        if !stage.openings.is_empty() {
            self.open(stage, side)?;
        }
        if !stage.joined.is_empty() {
            let (copies, wires) = (side.copies as u64, self.bits.wires());
            let places: Vec<Place> =
                stage.joined.iter().map(|(from, _)| self.place(side, Form::Boolean, *from)).collect();
            let own: Bits = (0..copies).flat_map(|t| places.iter().map(move |place| wires[place.at(t)] == 1)).collect();
            let converted = self.converted(&own)?;
            let (first, second) = converted[..2 * own.len()].split_at(own.len());
            let mut labels = first.iter().zip(second).map(|(x, y)| *x ^ *y);
            for t in 0..copies {
                for (_, to) in &stage.joined {
                    let to = self.place(side, Form::Yao, BitAt::Frame(*to)).at(t);
                    self.labels[to] = labels.next().expect("a label for each bit");
                }
            }
            self.converted = converted;
        }
        for (from, to) in &stage.split {
            let (from, to) = (self.place(side, Form::Yao, *from), self.place(side, Form::Boolean, BitAt::Frame(*to)));
            for t in 0..side.copies as u64 {
                self.bits.wires_mut()[to.at(t)] = self.labels[from.at(t)].lsb().into();
            }
        }
        self.close(stage, side)
    }

    /// Labels of bits of which either party has one: first those of party 0's bits, then those of party 1's; what comes
    /// behind them is of no use.
    fn converted(&mut self, own: &Bits) -> Result<Zeroizing<Vec<Block>>> {
        let mut labels = std::mem::take(&mut self.converted);
        if labels.len() < 2 * own.len() {
            labels = Zeroizing::new(vec![Block::ZERO; 2 * own.len()]);
        }
        let (first, second) = labels[..2 * own.len()].split_at_mut(own.len());
        let to = [first, second];
        self.machines.words.converting(self.net, |conversions, ch| conversions.labels_to(ch, own, to))?;
        Ok(labels)
    }

    /// Words become shares of their bits: a circuit adds what the parties have. The bits of a share are shared as they
    /// stand, by who has them and nobody else.
    fn add(&mut self, stage: &Stage, adder: &Lowered, side: &Side<'_>) -> Result<()> {
        let (mut args, mut outs) = (Vec::new(), Vec::new());
        for added in &stage.added {
            let bits = added.bits as usize;
            let shares = [added.to, added.to + bits].map(|at| self.place(side, Form::Boolean, BitAt::Frame(at)));
            let own = usize::from(self.me.0);
            for t in 0..side.copies {
                let share = self.words[self.word(side, added.word, t)];
                let [own, other] = [own, 1 - own].map(|party| shares[party].at(t as u64));
                let wires = self.bits.wires_mut();
                (0..bits).for_each(|bit| wires[own + bit] = (share >> bit & 1) as u8);
                wires[other..other + bits].fill(0);
            }
            args.extend(shares);
            outs.push(self.place(side, Form::Boolean, BitAt::Frame(added.sum())));
        }
        self.machines.words.converting_if(self.net, |conversions, ch| conversions.end_gates(ch))?;
        let times = side.copies as u64;
        self.share(&Call { index: usize::MAX, circuit: adder, times, args: &args, outs: &outs })
    }

    /// Words become labels of their bits by adders that were garbled ahead.
    fn open_ahead(&mut self, stage: &Stage, side: &Side<'_>) -> Result<()> {
        let shares = |opening: &Opening| {
            let share = |t: usize| self.words[self.word(side, opening.word, t)] & word_mask(opening.bits);
            OpenedWords { bits: opening.bits, shares: Zeroizing::new((0..side.copies).map(share).collect()) }
        };
        let words: Vec<OpenedWords> = stage.openings.iter().map(shares).collect();
        let bits = words.iter().map(|words| words.shares.len() * words.bits as usize).sum();
        let mut labels = std::mem::take(&mut self.converted);
        if labels.len() < bits {
            labels = Zeroizing::new(vec![Block::ZERO; bits]);
        }
        let to = &mut labels[..bits];
        self.machines.words.converting(self.net, |conversions, ch| conversions.opened(ch, &words, to))?;
        let mut from = 0;
        for opening in &stage.openings {
            let (bits, sum) = (opening.bits as usize, self.place(side, Form::Yao, BitAt::Frame(opening.sum())));
            for t in 0..side.copies as u64 {
                self.labels[sum.at(t)..][..bits].copy_from_slice(&labels[from..from + bits]);
                from += bits;
            }
        }
        self.converted = labels;
        Ok(())
    }

    /// Words become labels of their bits: a circuit adds the shares.
    fn open(&mut self, stage: &Stage, side: &Side<'_>) -> Result<()> {
        if self.machines.words.has_adders() {
            return self.open_ahead(stage, side);
        }
        let mut own = Bits::default();
        for t in 0..side.copies {
            for opening in &stage.openings {
                let share = self.words[self.word(side, opening.word, t)] & word_mask(opening.bits);
                own.extend_from(&Bits::from_u128(share, opening.bits as usize).expect("it is masked"));
            }
        }
        let converted = self.converted(&own)?;
        let (first, second) = converted[..2 * own.len()].split_at(own.len());
        let mut from = 0;
        for t in 0..side.copies as u64 {
            for opening in &stage.openings {
                let bits = opening.bits as usize;
                let to = self.place(side, Form::Yao, BitAt::Frame(opening.to)).at(t);
                self.labels[to..to + bits].copy_from_slice(&first[from..from + bits]);
                self.labels[to + bits..to + 2 * bits].copy_from_slice(&second[from..from + bits]);
                from += bits;
            }
        }
        self.converted = converted;
        for opening in &stage.openings {
            let place = |at: usize| self.place(side, Form::Yao, BitAt::Frame(at));
            let (args, outs) = ([place(opening.to), place(opening.to + opening.bits as usize)], [place(opening.sum())]);
            self.garble(&Call {
                index: usize::MAX,
                circuit: self.plans.adder(opening.bits),
                times: side.copies as u64,
                args: &args,
                outs: &outs,
            })?;
        }
        Ok(())
    }

    /// Bits become words.
    fn close(&mut self, stage: &Stage, side: &Side<'_>) -> Result<()> {
        let (mut lifted, mut places) = (Vec::new(), Vec::new());
        for closing in &stage.closings {
            let bits: Vec<Place> = closing.bits.iter().map(|at| self.place(side, Form::Boolean, *at)).collect();
            let wires = self.bits.wires();
            let word =
                |t: usize| (0..).zip(&bits).fold(0, |word, (i, at)| word | u128::from(wires[at.at(t as u64)]) << i);
            let shares = Zeroizing::new((0..side.copies).map(word).collect::<Vec<u128>>());
            if bits.len() == 1 {
                // Modulo two, a sum is an exclusive or.
                self.put(side, closing.to, &shares);
                continue;
            }
            let bits = bits.len() as u32;
            lifted.push(Lifted { bits, to: bits, shares });
            places.push(closing.to);
        }
        if lifted.is_empty() {
            return Ok(());
        }
        let words = self.machines.words.converting(self.net, |conversions, ch| conversions.words(ch, &lifted))?;
        places.iter().zip(&words).for_each(|(to, words)| self.put(side, *to, words));
        Ok(())
    }

    fn put(&mut self, side: &Side<'_>, to: usize, shares: &[u128]) {
        for (t, share) in shares.iter().enumerate() {
            let at = self.word(side, WordAt::Frame(to), t);
            self.words[at] = *share;
        }
    }

    fn garble(&mut self, call: &Call<'_>) -> Result<()> {
        let labels = &mut self.labels;
        self.machines.words.converting(self.net, |conversions, ch| conversions.garble(ch, call, labels))
    }

    fn share(&mut self, call: &Call<'_>) -> Result<()> {
        let mut sharing = BitSharing::new(self.net, &mut self.machines.bits);
        let most = at_once(call.circuit);
        for first in (0..call.times).step_by(most as usize) {
            let moved = |place: &Place| Place { start: place.at(first), ..*place };
            let [args, outs] = [call.args, call.outs].map(|places| places.iter().map(moved).collect::<Vec<_>>());
            let times = most.min(call.times - first);
            let some = Call { times, args: &args, outs: &outs, ..*call };
            run_calls(&mut sharing, &some, &mut self.bits, &mut self.slots)?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Runs, side: &Side<'_>) -> Result<()> {
        match part {
            Runs::Gates { form, circuit, ins, out } => {
                let args: Vec<Place> = ins.iter().map(|at| self.place(side, *form, *at)).collect();
                let outs = [self.place(side, *form, BitAt::Frame(*out))];
                let call = Call { index: usize::MAX, circuit, times: side.copies as u64, args: &args, outs: &outs };
                if *form == Form::Yao {
                    return self.garble(&call);
                }
                self.machines.words.converting_if(self.net, |conversions, ch| conversions.end_gates(ch))?;
                self.share(&call)
            }
            Runs::Words { circuit, ins, outs } => {
                let shares = |of: &Option<(WordAt, u32)>| {
                    let Some((at, bits)) = *of else { return Zeroizing::default() };
                    let share = |t: usize| self.words[self.word(side, at, t)] & word_mask(bits);
                    Zeroizing::new((0..side.copies).map(share).collect::<Vec<u128>>())
                };
                let ins: Vec<Zeroizing<Vec<u128>>> = ins.iter().map(shares).collect();
                self.machines.words.converting_if(self.net, |conversions, ch| conversions.end_gates(ch))?;
                let results = circuit.run(self.net, &mut self.machines.words, &ins, side.copies)?;
                outs.iter().zip(&results).for_each(|(to, words)| self.put(side, *to, words));
                Ok(())
            }
        }
    }

    /// Puts the results into the memory. Arguments may lie there, so those of a call are all read before.
    fn store(&mut self, stages: &Stages, side: &Side<'_>) {
        let one = self.machines.words.negation();
        let (mut labels, mut bits): (Zeroizing<Vec<Block>>, Zeroizing<Vec<u8>>) = Default::default();
        for t in 0..side.copies {
            labels.clear();
            bits.clear();
            for (_, form, moved) in &stages.bits {
                for moved in moved {
                    let (from, negated) = match *moved {
                        Moved::Constant(bit) => (None, bit),
                        Moved::From { at, negated } => (Some(self.place(side, *form, at).at(t as u64)), negated),
                    };
                    if *form == Form::Yao {
                        let label = from.map_or(Block::ZERO, |from| self.labels[from]);
                        labels.push(if negated { label ^ one } else { label });
                    } else {
                        let bit = from.map_or(0, |from| self.bits.wires()[from]);
                        bits.push(bit ^ u8::from(negated && self.machines.bits.one()));
                    }
                }
            }
            let (mut label, mut bit) = (0, 0);
            for (value, form, moved) in &stages.bits {
                let to = side.call.outs[*value].at(side.from + t as u64);
                let to = to..to + moved.len();
                if *form == Form::Yao {
                    self.labels[to].copy_from_slice(&labels[label..label + moved.len()]);
                    label += moved.len();
                } else {
                    self.bits.wires_mut()[to].copy_from_slice(&bits[bit..bit + moved.len()]);
                    bit += moved.len();
                }
            }
            for &(value, word, at) in &stages.words {
                let (first, _) = self.plans.memory.word(side.call.outs[value].at(side.from + t as u64));
                let share = self.words[self.word(side, WordAt::Frame(at), t)];
                self.words[first + word] = share;
            }
        }
    }

    /// The words of a value that lies in the memory as such: the first one, and the bits of each.
    fn words_of(&self, start: usize, bits: usize) -> (usize, Vec<u32>) {
        let (first, unit) = self.plans.memory.word(start);
        (first, vec![unit; bits / unit as usize])
    }
}

impl Engine for MixedEngine<'_, '_, '_> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        let wires = usize::try_from(program.wires()).unwrap_or(usize::MAX);
        let memory = &self.plans.memory;
        let of = |form| if memory.has(form) { wires } else { 0 };
        self.frames = [memory.words(), of(Form::Boolean), of(Form::Yao)];
        let all: Vec<usize> = self.frames.iter().zip(self.plans.room).map(|(memory, room)| memory + room).collect();
        let none = |wires: usize, bytes| comity_circuit::NoMemory { wires: wires as u64, bytes };
        self.words = Zeroizing::default();
        self.words.try_reserve_exact(all[0]).map_err(|_| none(all[0], 16))?;
        self.words.resize(all[0], 0);
        self.bits = BitRows::new(self.machines.bits.backend());
        self.bits.shape(all[1], 1)?;
        self.labels = Zeroizing::default();
        self.labels.try_reserve_exact(all[2]).map_err(|_| none(all[2], 16))?;
        self.labels.resize(all[2], Block::ZERO);
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        match self.plans.memory.held(put.start, put.bits) {
            Held::Words(_) => {
                let (first, widths) = self.words_of(put.start, put.bits);
                let value = value.map(|value| {
                    let word = |(i, bits): (usize, &u32)| {
                        let bits = *bits as usize;
                        value.slice(i * bits, bits).to_u128().expect("at most 128 bits")
                    };
                    Zeroizing::new(widths.iter().enumerate().map(word).collect::<Vec<u128>>())
                });
                let shares = self.machines.words.input(put.owner, value, &widths)?;
                self.words[first..first + shares.len()].copy_from_slice(&shares);
            }
            Held::Bits(Form::Boolean) => {
                let shares = self.machines.bits.input(put.owner, value, put.bits)?;
                self.bits.unpack(&shares, put.start);
            }
            Held::Bits(_) => {
                if value.is_some() != put.owner.includes(self.me) || put.owner.party().is_none_or(|party| party.0 > 1) {
                    let message = format!(
                        "only the owner of an input, {}, gives its value; this is party {}",
                        put.owner, self.me
                    );
                    return Err(Error::invalid_input(message));
                }
                let first = put.owner.party() == Some(PartyId(0));
                let labels = self.machines.words.converting(self.net, |conversions, ch| match first {
                    true => Ok(conversions.own_labels(value, put.bits)),
                    false => conversions.other_labels(ch, value, put.bits),
                })?;
                self.labels[put.wires()].copy_from_slice(&labels);
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let plans = self.plans;
        match plans.of_call(call) {
            Plan::Whole(form, lowered) => {
                let call = Call { index: usize::MAX, circuit: lowered.as_ref().unwrap_or(call.circuit), ..*call };
                if *form == Form::Yao { self.garble(&call) } else { self.share(&call) }
            }
            Plan::Staged(stages) => {
                let together = together(stages, call.times);
                let mut done = 0;
                while done < call.times {
                    let copies = together.min(call.times - done);
                    self.staged(stages, &Side { call, from: done, copies: copies as usize, frame: stages.frame })?;
                    done += copies;
                }
                Ok(())
            }
        }
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.machines.words.converting_if(self.net, |conversions, ch| conversions.end_gates(ch))?;
        match self.plans.memory.held(shown.start, shown.bits) {
            Held::Words(_) => {
                let (first, widths) = self.words_of(shown.start, shown.bits);
                let shares = &self.words[first..first + widths.len()];
                let revealed = self.machines.words.reveal(self.net, shown.to, shares, &widths)?;
                Ok(revealed.map(|revealed| {
                    let mut all = Bits::default();
                    for (&word, &bits) in revealed.iter().zip(&widths) {
                        all.extend_from(&Bits::from_u128(word, bits as usize).expect("a word of so many bits"));
                    }
                    all
                }))
            }
            Held::Bits(form) => {
                let shares = if form == Form::Boolean {
                    self.bits.pack(shown.wires())
                } else {
                    permute_bits(&self.labels[shown.wires()])
                };
                self.machines.bits.reveal(self.net, shown.to, &shares)
            }
        }
    }

    fn at_once(&self, call: &Call<'_>) -> u64 {
        match self.plans.of_call(call) {
            Plan::Whole(_, lowered) => at_once(lowered.as_ref().unwrap_or(call.circuit)),
            Plan::Staged(_) => call.times,
        }
    }
}

/// The most calls of a circuit that are made at once: as many as [`BitRows::messages`] says.
fn at_once(circuit: &Lowered) -> u64 {
    ((1 << 22) / (circuit.tape().ands().len() as u64).max(1)).max(1)
}

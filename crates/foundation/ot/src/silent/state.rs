//! What both sides do alike: the correlations of an iteration, and the stream of its outputs.

use std::convert::Infallible;

use comity_core::{Backend, Block, Error, HugeTable, Prg, Result, SessionId};
use zeroize::Zeroize;

use super::Parameters;
use super::code::{Code, HALVES};
use super::tree::Tree;

/// Trees whose leaves get the elements of one half of the secret before the other's: the second-level cache
/// is filled anew for each.
const PASS: usize = 128;

const STOPPED: &str = "this silent OT stopped at an earlier error; set up a new one";

/// Correlations that an iteration starts from. Secret.
struct Input {
    /// The secret of learning parity with noise (LPN).
    secret: HugeTable,
    /// One for each level of each tree, and 128 for the mask.
    levels: Vec<Block>,
}

impl Input {
    fn new(parameters: &Parameters) -> Input {
        Input {
            secret: HugeTable::zeroed(parameters.dimension),
            levels: vec![Block::ZERO; parameters.reserved() - parameters.dimension],
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.levels.zeroize();
    }
}

/// A function that grows a tree, from its number, key and correlations. Fails where it needs the channel.
pub(super) trait Grow<E>: FnMut(&mut Tree, usize, Block, &[Block]) -> Result<(), E> {}

impl<E, F: FnMut(&mut Tree, usize, Block, &[Block]) -> Result<(), E>> Grow<E> for F {}

/// The state of either side.
pub(super) struct State {
    pub(super) parameters: Parameters,
    pub(super) session: SessionId,
    pub(super) backend: Backend,
    /// The iteration under way; between two iterations, the next one.
    pub(super) iteration: u64,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
    input: Input,
    next: Input,
    /// Hash keys of the iteration's trees. Public.
    pub(super) keys: Vec<Block>,
    code: Code,
    pub(super) tree: Tree,
    /// The messages of the iteration's trees go over the channel as their leaves are needed, and not all before.
    pub(super) streamed: bool,
    /// The next tree whose leaves become outputs; the number of trees if no tree is left.
    next_tree: usize,
    /// Outputs of the last tree; those before `used` are gone. Secret.
    ahead: Vec<Block>,
    used: usize,
}

impl State {
    /// The state that starts from [`Parameters::reserved`] correlations with bit 0 as the protocol wants it.
    pub(super) fn new(parameters: Parameters, session: &SessionId, backend: Backend, base: &[Block]) -> State {
        let leaves = 1 << parameters.depth;
        let whole = parameters.dimension.is_power_of_two() && parameters.dimension >= HALVES.max(leaves);
        assert!(whole, "a secret of {} bits", parameters.dimension);
        let [mut input, next] = [(); 2].map(|()| Input::new(&parameters));
        let (secret, levels) = base.split_at(parameters.dimension);
        input.secret.copy_from_slice(secret);
        input.levels.copy_from_slice(levels);
        State {
            parameters,
            session: *session,
            backend,
            iteration: 0,
            broken: false,
            input,
            next,
            keys: vec![Block::ZERO; parameters.trees],
            code: Code::new(backend, session, 0),
            tree: Tree::new(backend, parameters.depth),
            streamed: false,
            next_tree: parameters.trees,
            ahead: vec![Block::ZERO; leaves],
            used: leaves,
        }
    }

    /// Starts a call, unless an earlier one failed: then the two sides no longer agree on their state.
    pub(super) fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::invalid_input(STOPPED));
        }
        Ok(())
    }

    /// Ends a call that succeeded.
    pub(super) fn end(&mut self) {
        self.broken = false;
    }

    /// A new iteration may start: the outputs of the last one are gone, and nothing failed.
    pub(super) fn all_taken(&self) -> Result<()> {
        match (self.broken, self.empty()) {
            (false, true) => Ok(()),
            (true, _) => Err(Error::invalid_input(STOPPED)),
            (_, false) => Err(Error::invalid_input("this silent OT still has outputs; use them up first")),
        }
    }

    /// Whether all outputs of the iteration are gone.
    fn empty(&self) -> bool {
        self.next_tree == self.parameters.trees && self.used == self.ahead.len()
    }

    /// The keys that a nonce names.
    pub(super) fn set_keys(&mut self, nonce: Block) {
        Prg::new(self.backend, nonce).fill_blocks(&mut self.keys);
    }

    /// The correlations of the levels of tree `i`.
    pub(super) fn levels(&self, i: usize) -> &[Block] {
        &self.input.levels[i * self.parameters.depth..][..self.parameters.depth]
    }

    /// The correlations that mask the check, in bit `i` of the mask the `i`-th.
    pub(super) fn masks(&self) -> &[Block] {
        &self.input.levels[self.parameters.trees * self.parameters.depth..]
    }

    /// Grows tree `i` with its key and correlations.
    pub(super) fn grow<E>(&mut self, i: usize, grow: &mut impl Grow<E>) -> Result<(), E> {
        let depth = self.parameters.depth;
        grow(&mut self.tree, i, self.keys[i], &self.input.levels[i * depth..(i + 1) * depth])
    }

    /// The trees are made, and checked if they must be, or are `streamed`: outputs may flow. The first ones
    /// are the next iteration's input.
    pub(super) fn open<E>(&mut self, streamed: bool, mut grow: impl Grow<E>) -> Result<(), E> {
        self.code = Code::new(self.backend, &self.session, self.iteration);
        self.streamed = streamed;
        self.next_tree = 0;
        let mut secret = std::mem::take(&mut self.next.secret);
        let result = self.encode(&mut secret, &mut grow);
        self.next.secret = secret;
        result?;
        let mut at = 0;
        while at < self.next.levels.len() {
            self.draw(&mut grow)?;
            let count = self.ahead.len().min(self.next.levels.len() - at);
            self.next.levels[at..at + count].copy_from_slice(&self.ahead[..count]);
            self.used = count;
            at += count;
        }
        Ok(())
    }

    /// Writes the next outputs; returns how many there were.
    pub(super) fn take<E>(&mut self, out: &mut [Block], mut grow: impl Grow<E>) -> Result<usize, E> {
        let mut done = 0;
        while done < out.len() && !self.empty() {
            let out = &mut out[done..];
            if self.used < self.ahead.len() {
                done += self.take_ahead(out);
            } else if out.len() >= self.ahead.len() {
                let trees = (out.len() / self.ahead.len()).min(self.parameters.trees - self.next_tree);
                let count = trees * self.ahead.len();
                self.encode(&mut out[..count], &mut grow)?;
                done += count;
            } else {
                self.draw(&mut grow)?;
            }
        }
        self.took(done);
        Ok(done)
    }

    /// Writes the next outputs that need no message; returns how many there were.
    pub(super) fn take_local(&mut self, out: &mut [Block], grow: impl Grow<Infallible>) -> usize {
        if !self.streamed {
            let Ok(done) = self.take(out, grow);
            return done;
        }
        let done = self.take_ahead(out);
        self.took(done);
        done
    }

    /// Goes on to the next iteration, if these outputs were the last ones.
    fn took(&mut self, outputs: usize) {
        if outputs > 0 && self.empty() {
            std::mem::swap(&mut self.input, &mut self.next);
            self.iteration += 1;
        }
    }

    /// Writes the remaining outputs of the last tree. Returns their number.
    fn take_ahead(&mut self, out: &mut [Block]) -> usize {
        let count = out.len().min(self.ahead.len() - self.used);
        out[..count].copy_from_slice(&self.ahead[self.used..self.used + count]);
        self.used += count;
        count
    }

    /// The outputs of the next tree.
    fn draw<E>(&mut self, grow: &mut impl Grow<E>) -> Result<(), E> {
        let mut ahead = std::mem::take(&mut self.ahead);
        let result = self.encode(&mut ahead, grow);
        self.ahead = ahead;
        self.used = 0;
        result
    }

    /// Writes the outputs of the next trees, as many as there is room for.
    fn encode<E>(&mut self, out: &mut [Block], grow: &mut impl Grow<E>) -> Result<(), E> {
        let leaves = 1 << self.parameters.depth;
        for pass in out.chunks_mut(PASS * leaves) {
            for out in pass.chunks_exact_mut(leaves) {
                self.grow(self.next_tree, grow)?;
                self.next_tree += 1;
                out.copy_from_slice(self.tree.leaves());
                self.code.add(0, &self.input.secret, out);
            }
            for half in 1..HALVES {
                self.code.add(half, &self.input.secret, pass);
            }
        }
        Ok(())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.ahead.zeroize();
    }
}

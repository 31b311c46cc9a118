//! `Statement`: what is proved.

use comity_circuit::{Input, Observer, Output, Owner, Plain, Program, Step, run};
use comity_core::{Bits, Error, PartyId, Result, SessionId, declassify};

/// The prover's place among the owners of a program's inputs: its values are secret, those of others are public.
pub const PROVER: PartyId = PartyId(0);

/// The most bits of secret input, of pinned output, and the most AND gates of a statement that is proved in a file.
const FILE_LIMIT: u64 = 1 << 20;

/// A statement: "I know values for the inputs of party 0, so that this program, with these public values for
/// all other inputs, computes these outputs".
///
/// An output is *pinned* if a value is expected of it. An output that is called `accept` and has a single bit
/// is pinned to one unless another value is expected. Only the pinned outputs are proved: for other outputs
/// there is no share, label or MAC.
pub struct Statement {
    /// The program with its pinned outputs.
    program: Program,
    /// The public values, each at its input.
    public: Vec<Option<Bits>>,
    /// The expected values of the pinned outputs.
    expected: Vec<Bits>,
    unpinned: Vec<String>,
    digest: [u8; 32],
}

impl Statement {
    /// The statement of this program: `public` has the value of each public input, `expected` the value of
    /// each pinned output. `context` binds proofs to a purpose: a proof for one purpose is not valid for
    /// another.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if values are missing, too many or of another width, if there is
    /// no secret input, or if nothing is pinned.
    pub fn new(
        program: &Program,
        public: &[Option<Bits>],
        expected: &[Option<Bits>],
        context: &[u8],
    ) -> Result<Statement> {
        program.check_plain()?;
        let name = program.name();
        check_public(program, public)?;
        if !program.inputs().iter().any(|input| is_secret(input) && input.bits > 0) {
            return Err(Error::invalid_input(format!(
                "`{name}` has no secret input, so there is nothing to prove: party 0, the prover, gives the secret ones"
            )));
        }
        let pinned = pin(program.outputs(), expected)?;
        let unpinned: Vec<String> =
            of_kind(program.outputs(), &pinned, false).map(|output| output.name.clone()).collect();
        if pinned.iter().all(Option::is_none) {
            return Err(Error::invalid_input(format!(
                "no output of `{name}` has an expected value, so any inputs would prove it: expect a value of an output \
                 (`--expect NAME=VALUE`), or give the program an output `accept` of one bit (its outputs are: {})",
                unpinned.join(", ")
            )));
        }
        let digest = digest(program, public, &pinned, context);
        let mut index = 0;
        let steps = program.steps().iter().filter(|step| {
            let Step::Reveal { .. } = step else { return true };
            index += 1;
            pinned[index - 1].is_some()
        });
        let circuits = program.circuits().to_vec();
        let program = Program::new(name, program.wires(), circuits, steps.cloned().collect())
            .map_err(|e| Error::invalid_input(e.to_string()))?;
        let expected = pinned.into_iter().flatten().collect();
        Ok(Statement { program, public: public.to_vec(), expected, unpinned, digest })
    }

    /// The names of the outputs that may have any value: the statement says nothing about them.
    pub fn unpinned(&self) -> &[String] {
        &self.unpinned
    }

    /// The hash of the whole statement: program, public values, expected outputs and which ones these are,
    /// context.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The number of AND gates of the program.
    pub fn and_gates(&self) -> u64 {
        self.program.and_gates()
    }

    /// The program with its pinned outputs.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The public values, each at its input.
    pub(crate) fn public(&self) -> &[Option<Bits>] {
        &self.public
    }

    /// All pinned outputs, one after another.
    pub(crate) fn outputs(&self) -> Bits {
        let mut all = Bits::default();
        self.expected.iter().for_each(|value| all.extend_from(value));
        all
    }

    /// The secret ones of these input values, one after another.
    pub(crate) fn secret(&self, inputs: &[Option<Bits>]) -> Bits {
        let mut secret = Bits::default();
        for (value, public) in inputs.iter().zip(&self.public) {
            value.iter().filter(|_| public.is_none()).for_each(|value| secret.extend_from(value));
        }
        secret
    }

    /// The number of secret bits.
    pub(crate) fn secret_bits(&self) -> usize {
        self.program.inputs().iter().filter(|input| is_secret(input)).map(|input| input.bits).sum()
    }

    /// All input values, the witness's among them, after a run in the clear that says whether they make the
    /// statement true.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if values are missing, too many or of another width, or if the
    /// statement is not true of them.
    pub(crate) fn with_witness(&self, witness: &[Option<Bits>]) -> Result<Vec<Option<Bits>>> {
        self.program.check_inputs(Some(PROVER), witness)?;
        let all: Vec<_> =
            self.public.iter().zip(witness).map(|(public, secret)| public.clone().or(secret.clone())).collect();
        let mut seen = Seen(vec![None; self.expected.len()]);
        run(&self.program, &mut Plain::new(), &all, &mut seen)?;
        let differs = |(is, want): (&Option<Bits>, &Bits)| {
            declassify(is.as_ref() != Some(want), "nothing is proved of a statement that is not true")
        };
        let wrong = seen.0.iter().zip(&self.expected).position(differs);
        match wrong {
            None => Ok(all),
            Some(index) => Err(Error::invalid_input(format!(
                "the statement is false for these secret values: output `{}` is not as expected",
                self.program.outputs()[index].name
            ))),
        }
    }

    /// Whether a proof in a file can be of this statement: such a proof grows with each gate.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says what is too large.
    pub(crate) fn fits_a_file(&self) -> Result<()> {
        let sizes = [
            ("AND gates", self.and_gates()),
            ("secret input bits", self.secret_bits() as u64),
            ("pinned output bits", self.expected.iter().map(|value| value.len() as u64).sum()),
        ];
        match sizes.iter().find(|(_, size)| *size > FILE_LIMIT) {
            None => Ok(()),
            Some((what, size)) => Err(Error::invalid_input(format!(
                "`{}` has {size} {what}, and this system takes {FILE_LIMIT}: prove it in conversation, by MACs on wires or a garbled circuit",
                self.program.name()
            ))),
        }
    }
}

/// Whether an input is the prover's alone.
pub(crate) fn is_secret(input: &Input) -> bool {
    input.owner == Owner::Party(PROVER)
}

/// Whether these are exactly the values of the public inputs.
fn check_public(program: &Program, public: &[Option<Bits>]) -> Result<()> {
    let (given, takes) = (public.len(), program.inputs().len());
    if given != takes {
        return Err(Error::invalid_input(format!("{given} public values are given where there are {takes} inputs")));
    }
    for (input, value) in program.inputs().iter().zip(public) {
        let why = match value {
            Some(_) if is_secret(input) => "is the prover's, and a public value is given".to_owned(),
            None if !is_secret(input) && input.bits > 0 => "is public, and its value is missing".to_owned(),
            Some(value) if value.len() != input.bits => {
                format!("has {} bits; the value given has {}", input.bits, value.len())
            }
            _ => continue,
        };
        return Err(Error::invalid_input(format!("input `{}` {why}", input.name)));
    }
    Ok(())
}

/// The value that each output must have, where it must have one.
fn pin(outputs: &[Output], expected: &[Option<Bits>]) -> Result<Vec<Option<Bits>>> {
    let (given, there) = (expected.len(), outputs.len());
    if given != there {
        return Err(Error::invalid_input(format!("{given} expected values are given where there are {there} outputs")));
    }
    let one = |output: &Output, value: &Option<Bits>| match value {
        Some(value) if value.len() != output.bits => Err(Error::invalid_input(format!(
            "output `{}` has {} bits; the value expected has {}",
            output.name,
            output.bits,
            value.len()
        ))),
        None if output.name == "accept" && output.bits == 1 => Ok(Some(Bits::from_bytes(&[1], 1))),
        // A value without bits says nothing.
        value => Ok(value.clone().filter(|value| !value.is_empty())),
    };
    outputs.iter().zip(expected).map(|(output, value)| one(output, value)).collect()
}

/// The outputs that are pinned, or those that are not.
fn of_kind<'a>(outputs: &'a [Output], pinned: &'a [Option<Bits>], wanted: bool) -> impl Iterator<Item = &'a Output> {
    outputs.iter().zip(pinned).filter(move |(_, value)| value.is_some() == wanted).map(|(output, _)| output)
}

/// The digest of a statement. The program's own says goal, lowering, owners and recipients, and has no names:
/// which outputs are pinned is therefore said by their places.
fn digest(program: &Program, public: &[Option<Bits>], pinned: &[Option<Bits>], context: &[u8]) -> [u8; 32] {
    let value = |value: &Option<Bits>| match value {
        None => Vec::new(),
        Some(bits) => [&[1], &(bits.len() as u64).to_le_bytes()[..], &bits.to_bytes()].concat(),
    };
    let mut parts = vec![program.digest().to_vec(), context.to_vec(), (public.len() as u64).to_le_bytes().to_vec()];
    parts.extend(public.iter().map(value));
    parts.extend(pinned.iter().map(value));
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    SessionId::derive("comity zk statement v1", &parts).to_bytes()
}

/// An observer of the outputs.
struct Seen(Vec<Option<Bits>>);

impl Observer for Seen {
    fn output(&mut self, index: usize, value: Bits) {
        self.0[index] = Some(value);
    }
}

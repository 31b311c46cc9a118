//! A circuit on words by itself, for a protocol that shares other values otherwise: [`WordCircuit`].

use comity_channel::Mesh;
use comity_circuit::Circuit;
use comity_core::{Error, Result};
use comity_share::ring::{MatrixProduct, WordProduct};
use zeroize::Zeroizing;

use crate::costs::WordMessages;
use crate::lanes::{Lanes, together};
use crate::machine::WordMachine;
use crate::plan::WordPlan;
use crate::words::Port;

/// A circuit each of whose values is a word, and whose notes say what it computes of these.
pub struct WordCircuit {
    plan: WordPlan,
}

impl WordCircuit {
    /// The plan of a circuit.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it computes on something else than words of at most 128 bits.
    pub fn new(circuit: &Circuit) -> Result<WordCircuit> {
        let words = |groups: &[comity_circuit::Group]| {
            let port =
                |(value, group): (usize, &comity_circuit::Group)| Port { value, offset: 0, skip: 0, bits: group.bits };
            groups.iter().enumerate().map(port).collect::<Vec<_>>()
        };
        let plan = WordPlan::new(circuit, words(circuit.inputs()), words(circuit.outputs()));
        let plan = plan.map_err(|refusal| Error::invalid_input(format!("a circuit on words {}", refusal.what)))?;
        Ok(WordCircuit { plan })
    }

    /// The bits that are read of each input word: the lowest ones.
    pub fn needs(&self) -> &[u32] {
        &self.plan.needs
    }

    /// The products of one call.
    pub fn products(&self) -> impl Iterator<Item = WordProduct> + '_ {
        self.plan.products()
    }

    /// The products of matrices of one call.
    pub fn matrices(&self) -> impl Iterator<Item = MatrixProduct> + '_ {
        self.plan.matrices()
    }

    /// How many of `times` calls run side by side.
    pub fn together(&self, times: u64) -> u64 {
        together(&self.plan, times)
    }

    /// The messages of each layer that sends something.
    pub fn messages(&self) -> impl Iterator<Item = WordMessages> + '_ {
        crate::costs::messages(&self.plan)
    }

    /// Runs `copies` calls side by side: takes the shares of each input word, of all calls, and returns those
    /// of the output words. The shares of an input that is never read may be left out.
    ///
    /// # Errors
    /// Errors of the dealer, of the OTs and of the channel; not enough memory.
    ///
    /// # Panics
    /// If the number of shares is another one.
    pub fn run(
        &self,
        net: &mut Mesh<'_>,
        machine: &mut WordMachine<'_>,
        ins: &[Zeroizing<Vec<u128>>],
        copies: usize,
    ) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        assert_eq!(ins.len(), self.plan.ins.len(), "the shares of each input word");
        let mut lanes = Lanes::default();
        lanes.begin(&self.plan, copies, machine.is_first())?;
        for (slot, shares) in ins.iter().enumerate().filter(|(_, shares)| !shares.is_empty()) {
            assert_eq!(shares.len(), copies, "a share of a word in each call");
            lanes.put(slot, shares);
        }
        lanes.run(&self.plan, net, machine)?;
        Ok(self.plan.outs.iter().map(|(_, term)| lanes.row(term)).collect())
    }
}

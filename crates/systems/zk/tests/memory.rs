//! Memory of a conversation, which does not grow with the statement.

use comity_channel::memory;
use comity_circuit::{Program, eval_many};
use comity_core::{Bits, PartyId, Prg, SessionId};
use comity_protocol::Here;
use comity_testing::peak_memory;
use comity_zk::{Conversation, Statement, prove_to, verify_from};
use rand_core::SeedableRng;

/// Proves the outputs of at least `ands` AND gates on 256 secret bits: AES of AES of AES. Returns the most
/// memory that this process, with prover and verifier, ever had, in KiB.
fn peak(way: Conversation, ands: u64) -> Option<u64> {
    let aes = comity_library::find("aes128").expect("it is built in");
    let blocks = ands.div_ceil(Program::from_circuit(aes.clone()).unwrap().and_gates());
    let program = Program::iterate(aes, blocks, &[(0, 1)]).and_then(|program| program.with_owner(1, 0)).unwrap();
    assert!(program.and_gates() >= ands);
    let values = vec![Bits::zeros(128); 2];
    let outputs = eval_many(&program, std::slice::from_ref(&values)).unwrap().remove(0);
    let expected: Vec<_> = outputs.into_iter().map(Some).collect();
    let statement = Statement::new(&program, &[None, None], &expected, b"").unwrap();
    let witness: Vec<_> = values.into_iter().map(Some).collect();
    let here = |me| Here::new(PartyId(me), 2, SessionId::new([1; 32]));
    let (mut ours, mut theirs) = memory::pair();
    std::thread::scope(|scope| {
        let (statement, witness, mut rng) = (&statement, &witness, Prg::from_seed([1; 16]));
        let prover = scope.spawn(move || prove_to(&mut ours, here(0), statement, witness, way, &mut rng).unwrap());
        verify_from(&mut theirs, here(1), statement, way, &mut Prg::from_seed([2; 16])).unwrap();
        prover.join().expect("the prover's thread");
    });
    peak_memory()
}

/// Both parties together.
const MOST: u64 = 128 << 10;

/// Checks that both kinds of conversation take no more memory for the larger number of AND gates than for the
/// smaller one: not even a bit for each further gate, which is more than what the allocator adds from run to
/// run.
fn stays(few: u64, many: u64) {
    for way in [Conversation::Garbled, Conversation::Vole] {
        // Twice, since the second run finds what the first gave back to the allocator, and not always where
        // it wants it.
        let Some(first) = peak(way, few) else { return };
        let [short, long] = [few, many].map(|ands| peak(way, ands).expect("as before"));
        let bits = (many - few) / (8 << 10);
        assert!(
            long < MOST && long < short + bits,
            "{way:?}: {first} and {short} KiB for {few} AND gates, {long} for {many}"
        );
    }
}

/// 10^8 AND gates, whose tables would be 1.6 GB, or as many as the environment says in `COMITY_ZK_ANDS`.
#[test]
#[ignore = "minutes; part of make test-long"]
fn a_statement_far_larger_than_memory_is_proved_in_little() {
    let many = std::env::var("COMITY_ZK_ANDS").map_or(100_000_000, |ands| ands.parse().expect("a number of AND gates"));
    stays(10_000_000, many);
}

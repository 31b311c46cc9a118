//! The services: queries and answers, common items, proofs.

use comity_channel::{Channel, Mesh};
use comity_circuit::{Builder, Program, Recipients};
use comity_core::{Bits, Params, PartyId, Result, SessionId, declassify_all};
use comity_nisc::Copies;
use comity_protocol::{Adversary, Here, Party};
use comity_psi::{Item, Method, Set, Terms, receive, send};
use comity_testing::Pair;
use comity_zk::{Conversation, Soundness, Statement, System, prove, prove_to, verify_from};

use crate::Case;
use crate::protocols::{Deaf, program};
use crate::secret::{SecretRng, Wire, backend, bits};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("nisc", || nisc(Copies::all(3))),
        Case::new("nisc, coded", || nisc(Copies::coded(3, 2))),
        Case::new("zk in conversation, vole", || converse(Conversation::Vole)),
        Case::new("zk in conversation, gc", || converse(Conversation::Garbled)),
    ];
    let level = Soundness::Bits40;
    for system in System::ALL {
        let name = system.name();
        // This one is for files only.
        if system != System::VoleInTheHead {
            cases.push(Case::new(format!("zk in conversation, {name}"), move || {
                converse(Conversation::ThreeMoves(system, level));
            }));
        }
        cases.push(Case::new(format!("zk in a file, {name}"), move || {
            prove(backend(), &statement(), &witness(), system, &mut SecretRng::new(1)).expect("the statement is true");
        }));
    }
    for method in Method::ALL {
        let card = method.card();
        let over = card.over.then(|| comity::named("yao").expect("it is one"));
        for &adversary in
            card.adversaries.iter().filter(|&&adversary| over.is_none_or(|_| adversary == Adversary::SemiHonest))
        {
            // More than a hash of a tag takes.
            for payload in [0, 40].into_iter().filter(|&bytes| bytes == 0 || card.payload) {
                let terms = Terms { payload, over, ..Terms::new(method, adversary) };
                let name = format!("psi {}, {}, payload of {payload}", card.name, adversary.name());
                cases.push(Case::new(name, move || common_items(&terms)));
            }
        }
    }
    cases
}

fn nisc(copies: Result<Copies>) {
    let program = program().with_recipients(0, Recipients::only(0)).expect("one of two");
    let owned = |party: u16| -> Vec<Option<Bits>> {
        let of = |input: &comity_circuit::Input| input.owner.party() == Some(PartyId(party));
        program.inputs().iter().map(|input| of(input).then(|| bits(input.bits))).collect()
    };
    let copies = copies.expect("there is a copy");
    let (query, secret) =
        comity_nisc::publish(backend(), &program, &owned(0), copies, &mut SecretRng::new(1)).expect("it fits");
    let mut query = query.to_bytes();
    declassify_all(&mut query, "a query is published");
    let query = comity_nisc::Query::from_bytes(&query).expect("an honest query");
    let mut answer = Vec::new();
    comity_nisc::respond(backend(), &query, &[7; 32], &program, &owned(1), &mut SecretRng::new(2), &mut answer)
        .expect("an honest query");
    declassify_all(&mut answer, "an answer is sent");
    comity_nisc::open(backend(), &secret, &[7; 32], &program, &mut &answer[..]).expect("an honest answer");
}

/// The statement that of six secret bits the AND of the first and the last is zero, or they are all as
/// `witness` has them.
fn statement() -> Statement {
    let mut b = Builder::new();
    let x = b.input("x", 6);
    let (first, last) = (b.and(x[0], x[5]), b.and(x[1], x[2]));
    let both = b.and(first, last);
    let not = b.not(both);
    b.output("accept", &[not]);
    let program = Program::from_circuit(b.finish()).expect("a circuit is a program");
    Statement::new(&program, &[None], &[None], b"").expect("a statement")
}

/// A witness with a zero among the bits that are joined.
fn witness() -> Vec<Option<Bits>> {
    vec![Some(bits(6))]
}

fn here(party: u16) -> Here {
    let (session, params) = (SessionId::new([9; 32]), Params::default());
    Here { me: PartyId(party), parties: 2, session, params, backend: backend() }
}

fn converse(way: Conversation) {
    let prover = |ch: &mut dyn Channel| -> Result<()> {
        prove_to(ch, here(0), &statement(), &witness(), way, &mut SecretRng::new(1))
    };
    let verifier = |ch: &mut dyn Channel| -> Result<()> {
        verify_from(ch, here(1), &statement(), way, &mut SecretRng::new(2)).map(|_| ())
    };
    let (proved, verified) = Pair::run(|ch| prover(&mut Wire(ch)), |ch| verifier(&mut Wire(ch)));
    proved.and(verified).expect("honest parties");
}

/// The items themselves are public here: which items are common is what a receiver learns, and sorting and
/// hashing into bins depend on them in its own memory. Secret are the keys and masks that are drawn, and the
/// payload.
fn common_items(terms: &Terms) {
    let items = |party: u8| -> Vec<Item> { (3 * party..3 * party + 5).map(|n| Item([n; 32])).collect() };
    let (sent, received) = Pair::run(
        |ch| {
            let (mut net, mut rng) = (Mesh::of_two(PartyId(0), Wire(ch)), SecretRng::new(1));
            let mut me = Party { net: &mut net, here: here(0), rng: &mut rng, observer: &mut Deaf };
            let payload = bits(8 * 5 * terms.payload).to_bytes();
            send(&mut me, terms, &Set { items: &items(0), payload: &payload, ..Set::default() }).map(|_| ())
        },
        |ch| {
            let (mut net, mut rng) = (Mesh::of_two(PartyId(1), Wire(ch)), SecretRng::new(2));
            let mut me = Party { net: &mut net, here: here(1), rng: &mut rng, observer: &mut Deaf };
            receive(&mut me, terms, &Set { items: &items(1), ..Set::default() }).map(|found| found.matched.len())
        },
    );
    sent.expect("honest parties");
    assert_eq!(received.expect("honest parties"), 2);
}

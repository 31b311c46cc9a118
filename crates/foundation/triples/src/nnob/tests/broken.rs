//! What is left of a dealer after an error: nothing.

use comity_core::Kind;

use super::*;

use crate::checks;

/// Checks that each call is refused, and before anything is sent: the channel leads nowhere.
fn refuses(dealer: &mut Nnob<Lie>) {
    let (mut ch, _) = comity_channel::memory::pair();
    let ends = [
        dealer.triples(&mut ch, 1).map(drop),
        dealer.shares(&mut ch, &mut [Share::default()]),
        dealer.bits(&mut ch, PartyId(1), &mut [Share::default()]),
        dealer.triples(&mut ch, 0).map(drop),
    ];
    for end in ends {
        assert!(
            matches!(&end, Err(Error { kind: Kind::InvalidInput(why), .. }) if why.contains("earlier error")),
            "{end:?}"
        );
    }
}

#[test]
fn after_an_error_a_dealer_deals_nothing() {
    for honest_one in [0, 1] {
        let party = |party: u16| {
            move |ch: &mut MemoryChannel| {
                let conduct = lie(move |act| {
                    if let Act::Sums(sums) = act
                        && party != honest_one
                    {
                        sums[1] ^= 4;
                    }
                });
                let more = Budget::known(16, 4, 1, 16).unwrap();
                // Base OTs, so that what would come next is seeds from a stock that is not there.
                let mut dealer =
                    Nnob::with(context(party, 50, Backend::detect(), conduct), ABits::new(SMALL, None), more);
                let end = dealer.triples(ch, 1).map(drop);
                if party == honest_one {
                    assert!(matches!(end, Err(Error { kind: Kind::Misbehaved(checks::LEAKY_BIT), .. })), "{end:?}");
                    refuses(&mut dealer);
                }
            }
        };
        Pair::run(party(0), party(1));
    }
}

/// The stock by itself, without the dealer's guard: no chunk starts from one that was not made whole.
#[test]
fn a_chunk_that_failed_feeds_none() {
    let (mut ch, other) = comity_channel::memory::pair();
    drop(other);
    let mut context = context(0, 51, Backend::detect(), honest());
    let mut bits = bits(SMALL, 0, 51);
    let mut draw = || bits.draw(&mut context, &mut ch, &mut [Block::ZERO], &mut [Block::ZERO]);
    assert!(matches!(draw(), Err(Error { kind: Kind::Closed, .. })));
    let end = draw();
    assert!(
        matches!(&end, Err(Error { kind: Kind::InvalidInput(why), .. }) if why.contains("earlier error")),
        "{end:?}"
    );
}

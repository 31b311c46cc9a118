//! `comity relay`: the place where two parties meet if neither can be called.

use clap::Args;
use comity::Stop;
use comity_net::{Limits, Now, PAIRS, Relay, RelayEvent, Tally};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};

use crate::interrupt;

/// The help: what a relay does, and what it learns.
pub(crate) const ABOUT: &str = "\
Parties behind routers, which nobody can call, all call the relay:
  relay$ comity relay --listen :7431
  alice$ comity run PROGRAM --party 0 --tls keys --relay relay.example:7431 ..
  bob$   comity run PROGRAM --party 1 --tls keys --relay relay.example:7431 ..
More than two share a --group; a group's file and a job may name the relay, before
the parties (relay = \"relay.example:7431\", `comity group add --relay`), and those
whose address is - meet there.

A relay needs no key and is not trusted: what goes through it is the parties' own
TLS, each with the other's key pinned. It learns addresses, times, sizes and a hash
of each group and pair, and can cut a line. It carries TLS records only, keeps
nothing, and is bounded: 64 connections that have said nothing, for 10 s; 256 that
wait for their other side, for 5 minutes; --pairs that are carried, as long as
something comes within 5 minutes, and within 20 s where others want the room. One
address has a quarter of each at most. Of two connections that claim the same place
of a pair, the later one gets it.

A signal (Ctrl-C, SIGTERM) ends all connections, in order.";

#[derive(Args, Debug)]
pub(crate) struct RelayArgs {
    /// Wait for the parties at this address
    ///
    /// :PORT is every address of this machine.
    #[arg(long, value_name = "ADDR")]
    listen: String,
    /// The most pairs that are carried at once: each takes two threads and 128 KiB
    #[arg(long, value_name = "N", default_value_t = PAIRS)]
    pairs: usize,
    /// Name every pair, and every caller that is turned away, on standard error
    #[arg(long, short)]
    verbose: bool,
}

/// The command.
pub(crate) fn run(args: &RelayArgs) -> Outcome {
    if args.pairs == 0 {
        return Err(Failure::input("--pairs 0: write 1 or more, or the relay would carry nobody"));
    }
    interrupt::on();
    let relay = Relay::bind(&args.listen, args.pairs)?;
    note(&format!("relay at {}", relay.place()));
    let tell = &mut |event: RelayEvent| {
        if args.verbose {
            note(&match event {
                RelayEvent::Paired { peers: [one, other], room } => {
                    let room: String = room[..8].iter().map(|byte| format!("{byte:02x}")).collect();
                    format!("paired in {room}: {one} and {other}")
                }
                RelayEvent::TurnedAway(why) => format!("turned away: {why}"),
            });
        }
    };
    let stop: &Stop = interrupt::stop();
    let Tally { paired, turned_away } = relay.run(&Limits::new(Now::default(), stop.clone()), tell)?;
    note(&format!("the relay ends: {paired} paired, {turned_away} turned away"));
    Ok(())
}

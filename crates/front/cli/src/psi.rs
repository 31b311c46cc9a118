//! `comity psi`: the rows that two tables have in common.

pub(crate) mod args;
mod base;
mod desk;
mod join;
mod plan;
mod query;
mod report;
mod table;
mod watch;

use comity::psi::{Method, Terms};
use comity::{Adversary, Columns, Intersected, Intersection, PartyGroup, Recipients, Session};
use comity_core::PartyId;
use comity_terminal::failure::{Ending, Failure, Outcome};

use crate::args::NetworkArgs;
use crate::backend::backend;
use crate::flags::Learners;
use crate::interrupt;
use crate::list::List;
use crate::parties::{self, Names};
use crate::session::{self, Ours, within};
use args::{AdversaryArg, MethodArgs, OutArgs, PsiArgs, PsiCommand};
use join::{Learnt, Out};
use report::Report;
use table::Table;
use watch::Watcher;

/// The command.
pub(crate) fn run(args: &PsiArgs, list: List) -> Outcome {
    match &args.command {
        Some(PsiCommand::Plan(args)) => return plan::run(args),
        Some(PsiCommand::Publish(args)) => return base::publish(args),
        Some(PsiCommand::Update(args)) => return base::update(args),
        Some(PsiCommand::Serve(args)) => return base::serve(args, list),
        Some(PsiCommand::Query(args)) => return query::query(args, list),
        Some(PsiCommand::Prepare(args)) => return query::prepare(args),
        None => {}
    }
    let group = args.network.group.as_deref().map(parties::group).transpose()?;
    let names = parties::names(None, group.as_ref())?;
    one(args, list, &names, group.as_ref()).map_err(|failure| names.explain(failure))
}

/// One party of the intersection.
fn one(args: &PsiArgs, list: List, names: &Names, group: Option<&PartyGroup>) -> Outcome {
    args.table.path()?;
    if let Some(other) = &args.other {
        return Err(Failure::input(format!(
            "psi takes one table, your own: the other side runs psi on {} at its place, and the two meet (--listen \
                ADDR, --connect ADDR)",
            other.display()
        )));
    }
    let me = PartyId(party(&args.network, names, group)?);
    let terms = Terms { most: args.most.0, ..terms(&args.method, list)? };
    let to = recipients(&args.result, me, names)?;
    // From here on there may be a file that has begun.
    interrupt::on();
    // All that can be wrong on this side is wrong before the other one is bothered.
    let session = Session::new(me.0).timeout(args.timeout).stopped_by(interrupt::stop()).backend(backend()?);
    let session = within(session, args.deadline);
    let Ours { session, place, .. } = session::placed(session, me.0, names, group, &args.network)?;
    let out = match &args.result.out {
        Some(path) => Some(Out::begin(&args.result, path)?),
        None => None,
    };
    let table = Table::read(&args.table)?;
    out.as_ref().map_or(Ok(()), |out| out.fits(&table))?;
    let widths: Vec<usize> = table.payload.iter().flat_map(|packed| &packed.cells).map(|(_, width)| *width).collect();
    let payload = table.payload.as_ref().map(|packed| Columns { widths: &widths, header: &packed.header });
    let pad_to = args.pad_to.map_or(0, |count| count.0);
    let (encoding, hashed, sets) = (&table.encoding(), table.hashed(), &table.sets(pad_to));
    let wanted = Intersection { terms, encoding, hashed: hashed.as_deref(), to, sets, payload };
    let mut watch = Watcher::new(names.title(me.0), args.timeout, args.verbose);
    let done = session.intersect(&wanted, &mut watch).map_err(|error| advised(place.failure(error)))?;
    watch.finish();

    let mut report = Report::new((terms.method.name(), terms.adversary), to, me, &table, pad_to, &done);
    report.reach(&terms);
    let Intersected { runs, payload, .. } = done;
    let matches: Option<Vec<_>> = runs.into_iter().map(|learnt| learnt.matches).collect();
    if let (Some(out), Some(matches)) = (out, matches) {
        report.common(&matches);
        report.written(&out.write(&table, &Learnt { matches, payload })?, &args.result);
    }
    report.show(names, args.result.json, args.verbose)
}

/// The failure, with advice where the two sides do not agree on who learns, or on what is compared.
fn advised(failure: Failure) -> Failure {
    let about = |what: &str| failure.kind == Ending::Mismatch && failure.message.contains(what);
    if about("on the recipients") {
        failure.and("One side says --out and learns the rows, the other one does not; `--output-to all` is for both, and both say --out then")
    } else if about("on the keys") {
        failure.and(
            "Both sides must name the same number of key columns, with the same steps (--key COLUMN:STEPS); `as-is` \
                means a column without steps",
        )
    } else if about("on the hashed-keys") {
        failure.and(
            "Both sides hash their keys (sha256), after other steps: name the same steps before it, or leave sha256 \
                out on both sides",
        )
    } else {
        failure
    }
}

/// The party that the flags name, or that has the key; else the one that listens is party 0.
fn party(network: &NetworkArgs, names: &Names, group: Option<&PartyGroup>) -> Outcome<u16> {
    let keyed = group.is_some() && network.tls.is_some();
    let alone = network.listen.is_none() && network.connect.is_none() && network.relay.is_none();
    if alone && network.party.is_none() && network.peer.is_empty() && group.is_none() {
        return Err(Failure::input(
            "where do the two sides meet? One adds --listen ADDR, and the other one --connect ADDR",
        ));
    }
    match (&network.party, &network.listen, &network.connect) {
        (None, Some(_), None) if !keyed && network.peer.is_empty() && group.is_none() => Ok(0),
        (None, None, Some(_)) if !keyed => Ok(1),
        _ => session::party(network, names, group),
    }
}

/// The method that the flags ask for.
fn terms(args: &MethodArgs, list: List) -> Outcome<Terms> {
    let over = args.protocol.as_deref().map(|name| comity::among(list.0, name)).transpose()?;
    let said = args.adversary.map(|adversary| match adversary {
        AdversaryArg::SemiHonest => Adversary::SemiHonest,
        AdversaryArg::Malicious => Adversary::Malicious,
    });
    let method = match (args.method.as_str(), said) {
        ("auto", said) => preferred(said.unwrap_or(Adversary::Malicious))?,
        (name, _) => Method::named(name)?,
    };
    // The strongest adversary that a method can withstand.
    let most = || match over {
        Some(over) => over.card().adversary,
        None if method.card().adversaries.contains(&Adversary::Malicious) => Adversary::Malicious,
        None => Adversary::SemiHonest,
    };
    if method.card().over && over.is_none() {
        return Err(Failure::input(format!(
            "--method {} compares under a general protocol: --protocol yao, say",
            method.name()
        )));
    }
    let terms = Terms { over, ..Terms::new(method, said.unwrap_or_else(most)) };
    terms.check()?;
    Ok(terms)
}

/// The first method that withstands this adversary and needs no protocol below it.
fn preferred(adversary: Adversary) -> Outcome<Method> {
    let can = |method: &Method| method.card().adversaries.contains(&adversary) && !method.card().over;
    let found = Method::ALL.into_iter().find(can);
    found.ok_or_else(|| {
        Failure::input(format!("no method withstands a {adversary} peer by itself: name one (--method)"))
    })
}

/// Who learns the common rows: as the flag says, or whoever has a file for them. The hello compares it.
fn recipients(args: &OutArgs, me: PartyId, names: &Names) -> Outcome<Recipients> {
    let learns = args.out.is_some();
    if args.json && args.out.as_deref() == Some(std::path::Path::new("-")) {
        return Err(Failure::new(Ending::Usage, "--json and --out - both want standard output: name a file"));
    }
    let Some(said) = &args.output_to else {
        return Ok(Recipients::only(if learns { me } else { me.other() }));
    };
    if let Some(output) = &said.output {
        return Err(Failure::input(format!(
            "--output-to {output}=..: an intersection has one output: leave its name out, and say only who learns it"
        )));
    }
    let to = match &said.to {
        Learners::All => Recipients::All,
        Learners::Shared => {
            return Err(Failure::input(
                "--output-to shared: psi cannot leave the common rows shared; name who learns them",
            ));
        }
        Learners::Parties(who) => {
            let parties = who.iter().map(|who| names.find(who)).collect::<Outcome<Vec<_>>>()?;
            if let Some(party) = parties.iter().find(|party| party.0 > 1) {
                return Err(Failure::input(format!(
                    "an intersection has the parties 0 and 1; there is no party {party}"
                )));
            }
            match parties.contains(&PartyId(0)) && parties.contains(&PartyId(1)) {
                true => Recipients::All,
                false => Recipients::only(parties[0]),
            }
        }
    };
    match (to.includes(me), learns) {
        (true, false) => Err(Failure::input("this party learns the common rows: add --out FILE, where they go")),
        (false, true) => Err(Failure::input(
            "--out: this party does not learn the common rows; leave it out, or name this party with --output-to",
        )),
        _ => Ok(to),
    }
}

//! How a function is hidden: by which method and circuit, and in which shape.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use comity::Protocol;
use comity::pfe::{Arity, Construction, PFE_LINEAR, PFE_OT, Shape};
use comity_terminal::failure::{Ending, Failure, Outcome};

use crate::source;

/// The way in which a function becomes an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Method {
    /// A universal circuit, which any protocol computes
    Uc,
    /// An extended permutation by OT (Mohassel, Sadeghian 2013), against curious parties; gates need no copies
    Ot,
    /// The same by group elements (Katz, Malka 2011): the fewest bytes, and the most work
    Linear,
}

impl Method {
    /// The name of the flag's value.
    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Uc => "uc",
            Method::Ot => "ot",
            Method::Linear => "linear",
        }
    }
}

/// What is public of how often wires are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Readers {
    /// Nothing
    Hidden,
    /// How often each wire is read: a smaller circuit, which shows much of the function
    Public,
}

/// What the owner of a function hears who shows how often its wires are read.
pub(super) const SHOWN: &str = "\
--arity public shows the other side, and whoever else sees the shape, how often each input and gate of the function is read, in order. From
that alone one can often tell which known circuit it is, or which parts of it add, compare or copy; --round-up hides little of it. Take it for
functions that may be known but for the kinds of their gates and which wire each gate reads";

/// What the program is that all know, beside its shape.
#[derive(Args, Debug)]
pub(super) struct WayArgs {
    /// How the function is hidden
    #[arg(long, value_enum, default_value = "uc")]
    pub(super) method: Method,
    /// The universal circuit: `liu` is the smallest, the others are here for comparison
    #[arg(long, value_name = "NAME", default_value = "liu", value_parser = PossibleValuesParser::new(Construction::ALL.map(Construction::name)))]
    pub(super) construction: String,
    /// Whether the other side learns how often each wire of the function is read
    ///
    /// With `public` the circuit is about a tenth smaller, the shape is a file, and the other side sees much of the
    /// function.
    #[arg(long, value_enum, default_value = "hidden")]
    pub(super) arity: Readers,
}

/// The program that all know.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Universal(Construction),
    /// A universal circuit that shows how often wires are read.
    Arity,
    /// Run by a protocol of its own.
    Direct(Method),
}

impl WayArgs {
    pub(super) fn way(&self) -> Outcome<Way> {
        let construction = Construction::ALL.into_iter().find(|known| known.name() == self.construction);
        match (self.method, construction.unwrap_or(Construction::Liu)) {
            (Method::Uc, Construction::Liu) if self.arity == Readers::Public => Ok(Way::Arity),
            _ if self.arity == Readers::Public => {
                let why = "--arity public is a universal circuit of its own: leave --method and --construction out";
                Err(Failure::new(Ending::Usage, why))
            }
            (Method::Uc, construction) => Ok(Way::Universal(construction)),
            (method, Construction::Liu) => Ok(Way::Direct(method)),
            (method, _) => {
                let method = method.name();
                let why = format!(
                    "--construction chooses a universal circuit, and --method {method} uses none: leave it out"
                );
                Err(Failure::new(Ending::Usage, &why))
            }
        }
    }
}

impl Way {
    /// The shape that both sides say.
    pub(super) fn known(self, shape: &ShapeArg) -> Outcome<Known> {
        match (self, shape) {
            (Way::Arity, ShapeArg::File(path)) => {
                let arity = source::arity(path)?;
                Ok(Known { shape: arity.shape(), program: path.display().to_string(), arity: Some(arity) })
            }
            (Way::Arity, ShapeArg::Shape(_)) => Err(Failure::new(
                Ending::Usage,
                "with --arity public a shape has a number for each wire: write what `comity pfe shape --arity public` prints to a \
                 file, as in credit.shape, and say --shape @credit.shape",
            )),
            (_, ShapeArg::File(path)) => {
                let why = format!(
                    "--shape @{}: a shape in a file shows how often each wire of the function is read; if that is wanted, say \
                     --arity public",
                    path.display()
                );
                Err(Failure::new(Ending::Usage, &why))
            }
            (Way::Universal(construction), &ShapeArg::Shape(shape)) => {
                Ok(Known { shape, program: construction.program_name(shape), arity: None })
            }
            (Way::Direct(_), &ShapeArg::Shape(shape)) => {
                let Shape { inputs, outputs, gates } = shape;
                Ok(Known { shape, program: format!("direct{inputs}x{outputs}x{gates}"), arity: None })
            }
        }
    }

    /// The protocol for private functions that runs in place of what was asked for, if one does: by `yao` the
    /// owner of the function garbles, since it knows all switches.
    pub(super) fn protocol(self, named: Option<&str>) -> Outcome<Option<&'static dyn Protocol>> {
        match (self, named) {
            (Way::Universal(Construction::Liu) | Way::Arity, Some(named)) => Ok(comity::in_place_of(named)),
            (Way::Universal(_) | Way::Arity, _) => Ok(None),
            (Way::Direct(Method::Linear), None) => Ok(Some(&PFE_LINEAR)),
            (Way::Direct(_), None) => Ok(Some(&PFE_OT)),
            (Way::Direct(method), Some(named)) => {
                let method = method.name();
                let why = format!(
                    "--method {method} is a protocol of its own and runs under no other: leave --protocol {named} out"
                );
                Err(Failure::new(Ending::Usage, &why))
            }
        }
    }
}

/// `u=96,v=1,gates=640`, or the file of a shape with public numbers of readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShapeArg {
    Shape(Shape),
    File(PathBuf),
}

/// What both sides know.
pub(super) struct Known {
    pub(super) shape: Shape,
    /// The name of the program.
    pub(super) program: String,
    /// How often each wire is read, if that is public.
    pub(super) arity: Option<Arity>,
}

impl FromStr for ShapeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<ShapeArg, String> {
        if let Some(path) = text.strip_prefix('@') {
            return Ok(ShapeArg::File(path.into()));
        }
        let mut numbers = [None; 3];
        for part in text.split(',') {
            let (name, number) = part.split_once('=').ok_or("a shape is written as u=96,v=1,gates=640")?;
            let place = ["u", "v", "gates"].iter().position(|known| *known == name);
            let place = place.ok_or_else(|| format!("a shape has no part `{name}`: its parts are u, v and gates"))?;
            let range = 1..=Shape::MAX;
            let number = number.parse().ok().filter(|number| range.contains(number));
            let number = number.ok_or_else(|| format!("{name} is a number from 1 to {}", Shape::MAX))?;
            if numbers[place].replace(number).is_some() {
                return Err(format!("{name} is given twice"));
            }
        }
        match numbers {
            [Some(inputs), Some(outputs), Some(gates)] => Ok(ShapeArg::Shape(Shape { inputs, outputs, gates })),
            _ => Err("a shape needs all of u, v and gates, as in u=96,v=1,gates=640".to_owned()),
        }
    }
}

/// A shape as it is written.
pub(super) fn written(Shape { inputs, outputs, gates }: Shape) -> String {
    format!("u={inputs},v={outputs},gates={gates}")
}

//! What a circuit is built for.

/// The goal that the circuits of a program were chosen for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Few AND gates, as garbling wants them.
    #[default]
    Size,
    /// Few AND gates one behind another, as secret sharing wants them.
    Depth,
}

impl Goal {
    /// The goal's name: `size` or `depth`.
    pub const fn name(self) -> &'static str {
        match self {
            Goal::Size => "size",
            Goal::Depth => "depth",
        }
    }
}

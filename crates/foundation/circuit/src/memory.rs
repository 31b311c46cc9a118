//! The memory of an engine: what it holds for each wire of a program.

use core::ops::{Deref, DerefMut};

use comity_core::Error;

use crate::program::Program;

/// There is not enough memory for a program's wires. Nothing was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program's {wires} wires of {bytes} bytes each do not fit the memory of this machine")]
pub struct NoMemory {
    /// The number of wires.
    pub wires: u64,
    /// The size of a wire of the engine, in bytes.
    pub bytes: usize,
}

impl From<NoMemory> for Error {
    fn from(error: NoMemory) -> Error {
        Error::invalid_input(error.to_string())
    }
}

/// The memory of an engine that holds one `W` for a wire, or a row of some. `Default` is the constant zero.
#[derive(Default)]
pub struct Memory<W>(Vec<W>);

impl<W: Copy + Default> Memory<W> {
    /// The wires of a program, one `W` each.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn of(program: &Program) -> Result<Memory<W>, NoMemory> {
        Memory::rows(program, 1)
    }

    /// The wires of a program, a row of `width` items each, wire after wire.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn rows(program: &Program, width: usize) -> Result<Memory<W>, NoMemory> {
        let all = usize::try_from(program.wires()).unwrap_or(usize::MAX).saturating_mul(width);
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(all)
            .map_err(|_| NoMemory { wires: program.wires(), bytes: width.saturating_mul(size_of::<W>()) })?;
        memory.resize(all, W::default());
        Ok(Memory(memory))
    }
}

impl<W> Deref for Memory<W> {
    type Target = [W];

    fn deref(&self) -> &[W] {
        &self.0
    }
}

impl<W> DerefMut for Memory<W> {
    fn deref_mut(&mut self) -> &mut [W] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Kind;

    use super::*;

    #[test]
    fn wires_are_zero_and_what_does_not_fit_is_said() {
        let program = Program::new("p", 60, Vec::new(), Vec::new()).unwrap();
        assert!(Memory::<bool>::of(&program).unwrap()[..] == [false; 60]);
        assert!(Memory::<u16>::rows(&program, 3).unwrap()[..] == [0; 180]);
        let width = usize::MAX >> 4;
        let error = Memory::<u16>::rows(&program, width).err().unwrap();
        let words = format!("the program's 60 wires of {} bytes each do not fit the memory of this machine", 2 * width);
        assert_eq!(error.to_string(), words);
        let error = Error::from(error);
        assert!(matches!(&error.kind, Kind::InvalidInput(_)) && error.to_string() == words);
    }
}

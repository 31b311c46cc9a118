//! Writes the seeds that are not text: what honest parties send and write. Run it after a format has changed:
//!
//! ```text
//! cargo run -p comity-fuzz --example seeds
//! ```
//!
//! The seeds that are text are made by hand, as are those whose names say what is wrong with them.

use std::fs;
use std::path::Path;

use comity_fuzz::seeds;

fn main() -> std::io::Result<()> {
    for (target, name, bytes) in seeds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

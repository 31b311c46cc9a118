//! Writes what libFuzzer found into files that are committed, and back into folders that libFuzzer reads:
//!
//! ```text
//! cargo run -p comity-fuzz --example found pack FOLDER
//! cargo run -p comity-fuzz --example found unpack FOLDER
//! ```
//!
//! `FOLDER` has a folder for each target. Minimize it before it is packed (`-merge=1 -set_cover_merge=1`).

use std::path::Path;
use std::{env, fs, io};

use comity_fuzz::{TARGETS, found};

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [what, folder] = &args[..] else {
        return Err(io::Error::other("what is to be done: pack FOLDER, or unpack FOLDER"));
    };
    for (target, _) in TARGETS {
        let folder = Path::new(folder).join(target);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("found").join(target);
        match &what[..] {
            "pack" if folder.is_dir() => {
                let mut paths =
                    fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
                paths.sort();
                let inputs = paths.iter().map(fs::read).collect::<io::Result<Vec<_>>>()?;
                fs::write(file, found::pack(&inputs))?;
            }
            "unpack" if file.exists() => {
                fs::create_dir_all(&folder)?;
                for (number, input) in found::unpack(&fs::read(file)?).iter().enumerate() {
                    fs::write(folder.join(format!("found-{number}")), input)?;
                }
            }
            "pack" | "unpack" => {}
            other => return Err(io::Error::other(format!("{other}: neither pack nor unpack"))),
        }
    }
    Ok(())
}

//! `tune init`: an empty index, so that the macro finds its tables and notices later ones, and what git must know
//! of a folder of tables.

use std::path::Path;
use std::process::ExitCode;

use kiln_spec::baked::{GITATTRIBUTES, INDEX_FILE, Index};

use super::output::{checked, print};
use crate::cli::InitArgs;
use crate::exit::Failure;
use crate::project::Project;
use crate::table_files::{read_index, write_if_changed};

pub(super) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let mut folders: Vec<_> = Project::read(&args.package)?
        .kernels
        .into_iter()
        .map(|kernel| kernel.tuned)
        .collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        prepare(&folder)?;
    }
    Ok(checked(true))
}

/// Writes what the folder lacks; what is there already is left as it is.
fn prepare(folder: &Path) -> Result<(), Failure> {
    let indexed = read_index(folder)?.is_some();
    std::fs::create_dir_all(folder).map_err(Failure::file("make the folder", folder))?;
    let attributes = folder.join(".gitattributes");
    if !attributes.exists() {
        write_if_changed(&attributes, GITATTRIBUTES)?;
        print(&format!("wrote {}\n", attributes.display()));
    }
    let index = folder.join(INDEX_FILE);
    if indexed {
        print(&format!("{} is there already\n", index.display()));
    } else {
        write_if_changed(&index, Index::new().to_text())?;
        print(&format!("wrote {}\n", index.display()));
    }
    Ok(())
}

//! `tune init`: an empty index, so that the macro finds its tables and notices later ones.

use std::process::ExitCode;

use kiln_spec::baked::{GITATTRIBUTES, INDEX_FILE, Index};

use super::{checked, print};
use crate::bake::{read_index, write_if_changed};
use crate::cli::InitArgs;
use crate::exit::Failure;
use crate::project::Project;

pub(super) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let mut folders: Vec<_> = Project::read(&args.package)?
        .kernels
        .into_iter()
        .map(|kernel| kernel.tuned)
        .collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        let path = folder.join(INDEX_FILE);
        if read_index(&folder)?.is_some() {
            print(&format!("{} is there already\n", path.display()));
            continue;
        }
        std::fs::create_dir_all(&folder).map_err(Failure::file("make the folder", &folder))?;
        write_if_changed(&folder.join(".gitattributes"), GITATTRIBUTES)?;
        write_if_changed(&path, &Index::new().to_text())?;
        print(&format!("wrote {}\n", path.display()));
    }
    Ok(checked(true))
}

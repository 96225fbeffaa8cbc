//! `tune init`: creates the folder of baked tables with its index and a `.gitattributes` file. The index lists the
//! tables for the macro. It is created even if there are no tables yet, because only a build that found an index
//! notices a table that is added later.

use std::path::Path;
use std::process::ExitCode;

use kiln_spec::baked::{GITATTRIBUTES, INDEX_FILE, Index};

use super::output::{checked, print, read_project};
use crate::cli::InitArgs;
use crate::error::Failure;
use crate::own;
use crate::tables::TableError;
use crate::tables::files::{mark_as_changed, read_index, read_table, unlisted, write_if_changed};

pub(super) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let project = read_project(&args.package)?;
    let mut folders: Vec<_> = project
        .kernels
        .iter()
        .map(|kernel| kernel.tuned.clone())
        .collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        prepare(&folder)?;
    }
    // A build that found no index must run again, for example after a colleague has committed one.
    for kernel in &project.kernels {
        mark_as_changed(&kernel.file);
    }
    if args.own {
        own::write(&project, &args.package.features, &print)?;
    }
    Ok(checked(true))
}

/// Creates the missing files of the folder. Existing files are not changed.
fn prepare(folder: &Path) -> Result<(), Failure> {
    let indexed = read_index(folder)?;
    std::fs::create_dir_all(folder).map_err(Failure::file("make the folder", folder))?;
    let attributes = folder.join(".gitattributes");
    if !attributes.exists() {
        write_if_changed(&attributes, GITATTRIBUTES)?;
        print(&format!("wrote {}\n", attributes.display()));
    }
    let index = folder.join(INDEX_FILE);
    match &indexed {
        Some(_) => print(&format!("{} is there already\n", index.display())),
        None => {
            write_if_changed(&index, Index::new().to_text())?;
            print(&format!("wrote {}\n", index.display()));
        }
    }
    list_lost(folder, indexed.unwrap_or_default())
}

/// Adds the tables in the folder that are missing from the index, for example after a merge that lost a line.
fn list_lost(folder: &Path, mut index: Index) -> Result<(), Failure> {
    let lost = unlisted(folder, &index)?;
    if lost.is_empty() {
        return Ok(());
    }
    for (name, path) in lost {
        let kernel = read_table(&path)?.map(|table| table.kernel().to_owned());
        if kernel.as_deref() != Some(&name) {
            print(&format!(
                "{} is not listed: it is not a table of the kernel `{name}`\n",
                path.display()
            ));
            continue;
        }
        index.insert(&name).map_err(TableError::Name)?;
        print(&format!("listed {} in {INDEX_FILE}\n", path.display()));
    }
    write_if_changed(&folder.join(INDEX_FILE), index.to_text())?;
    Ok(())
}

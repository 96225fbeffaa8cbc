//! `tune init`: creates the folder of baked tables with its index and a `.gitattributes` file. The index lists the
//! tables for the macro. The index is created even if there are no tables yet, because cargo does not watch missing
//! files: a build that found no index does not notice a table that is added later.

use std::process::ExitCode;

use kiln_spec::baked::{INDEX_FILE, Index};

use super::output::{checked, print, read_project};
use crate::cli::InitArgs;
use crate::error::Failure;
use crate::own;
use kiln_project::{TableFileError, TableFolder};

pub(super) fn run(args: &InitArgs) -> Result<ExitCode, Failure> {
    let project = read_project(&args.package)?;
    for folder in project.table_folders() {
        prepare(folder)?;
    }
    // If a colleague committed the index, an earlier build did not find it, so cargo must build the readers again.
    for folder in project.table_folders() {
        folder.mark_readers_as_changed();
    }
    if args.own {
        own::write(&project, &args.package.features, &print)?;
    }
    Ok(checked(true))
}

/// Creates the missing files of the folder. Existing files are not changed.
fn prepare(folder: &TableFolder) -> Result<(), Failure> {
    if let Some(attributes) = folder.create()? {
        print(&format!("wrote {}\n", attributes.display()));
    }
    let _lock = folder.lock()?;
    let indexed = folder.index()?;
    let index = folder.index_path();
    match &indexed {
        Some(_) => print(&format!("{} is there already\n", index.display())),
        None => {
            folder.write_index(&Index::new())?;
            print(&format!("wrote {}\n", index.display()));
        }
    }
    list_lost(folder, indexed.unwrap_or_default())
}

/// Adds the tables in the folder that are missing from the index, for example after a merge that lost a line.
fn list_lost(folder: &TableFolder, mut index: Index) -> Result<(), Failure> {
    let lost = folder.unlisted(&index)?;
    if lost.is_empty() {
        return Ok(());
    }
    for (name, path) in lost {
        let kernel = folder.table(&name)?.map(|table| table.kernel().to_owned());
        if kernel.as_deref() != Some(&name) {
            print(&format!(
                "{} is not listed: it is not a table of the kernel `{name}`\n",
                path.display()
            ));
            continue;
        }
        index
            .insert(&name)
            .map_err(TableFileError::of_kernel(&name))?;
        print(&format!("listed {} in {INDEX_FILE}\n", path.display()));
    }
    Ok(folder.write_index(&index)?)
}

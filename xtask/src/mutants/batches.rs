//! Decides which mutations (lines of the product that are broken on purpose) share a build.
//!
//! A test must fail because of its own mutation and not because of another one. Two mutations therefore share a build
//! only if they are in different files, have different tests, and cannot affect each other's test. The latter is
//! assumed if neither mutation is in a package from which the other one's test is built, or if the list puts both into
//! one group. `--alone` builds each mutation separately, which shows whether a group is valid.

use super::list::Mutation;
use super::packages::Packages;

/// Splits the mutations into batches that share a build. Mutations keep the order of the list within a batch.
pub fn of<'m>(mutations: &[&'m Mutation], packages: &Packages) -> Vec<Vec<&'m Mutation>> {
    let mut batches: Vec<Vec<&Mutation>> = Vec::new();
    for &mutation in mutations {
        let fits = |batch: &&mut Vec<&Mutation>| {
            let mut others = batch.iter();
            others.all(|other| fit(mutation, other, packages))
        };
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(mutation),
            None => batches.push(vec![mutation]),
        }
    }
    batches
}

/// Whether two mutations may share a build.
fn fit(a: &Mutation, b: &Mutation, packages: &Packages) -> bool {
    if a.file == b.file || a.test == b.test {
        return false;
    }
    let vouched = a.group.is_some() && a.group == b.group;
    let reaches = |a: &Mutation, b: &Mutation| packages.is_built_from(&b.test.package, a.folder());
    vouched || !reaches(a, b) && !reaches(b, a)
}

#[cfg(test)]
mod tests {
    use super::super::list::Test;
    use super::*;
    use crate::step::root;

    fn mutation(file: &str, package: &str, group: Option<&str>) -> Mutation {
        Mutation {
            name: format!("{file} is wrong"),
            file: file.into(),
            from: "a".into(),
            to: "b".into(),
            test: Test {
                package: package.into(),
                binary: "lib".into(),
                name: format!("test of {file}"),
                tune: false,
            },
            group: group.map(str::to_owned),
        }
    }

    #[test]
    fn a_build_has_no_two_mutations_that_reach_each_others_tests() {
        let packages = Packages::read(&root()).unwrap();
        let spec = mutation("spec/src/a.rs", "kiln-spec", None);
        let prelude = mutation("spec/prelude/c.h", "kiln-gpu", None);
        let runtime = mutation("runtime/src/d.rs", "kiln-gpu", None);
        let cache = mutation("cache/src/e.rs", "kiln-trials", None);
        let of_both = mutation("runtime/src/f.rs", "kiln-tests", None);
        let batches = of(&[&spec, &prelude, &runtime, &cache, &of_both], &packages);
        let files: Vec<Vec<&str>> = batches
            .iter()
            .map(|batch| batch.iter().map(|m| m.file.as_str()).collect())
            .collect();
        assert_eq!(
            files,
            [
                vec!["spec/src/a.rs"],
                vec!["spec/prelude/c.h"],
                vec!["runtime/src/d.rs", "cache/src/e.rs"],
                vec!["runtime/src/f.rs"],
            ]
        );
    }

    #[test]
    fn a_group_shares_a_build_but_not_a_file() {
        let packages = Packages::read(&root()).unwrap();
        let one = mutation("kernels/src/a.cu", "kiln-tests", Some("kernels"));
        let two = mutation("kernels/src/b.cu", "kiln-tests", Some("kernels"));
        assert_eq!(of(&[&one, &two], &packages).len(), 1);
        assert_eq!(of(&[&one, &two, &one], &packages).len(), 2);
    }
}

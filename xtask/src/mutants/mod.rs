//! `cargo xtask mutants`: tests the tests. Each mutation in the list breaks one line of the product, and the test
//! that the list names for it must fail.
//!
//! Mutations are applied in a copy of the work tree and never in the tree itself. Several mutations share a build if
//! none of them can make the test of another mutation fail; see `batches.rs`.

mod batches;
mod build;
mod list;
mod options;
mod packages;
mod tree;
mod trial;
mod verdict;

use std::collections::BTreeMap;

use self::build::{Built, Programs};
use self::list::{Mutation, Test};
pub use self::options::Options;
use self::packages::Packages;
use self::tree::Tree;
use self::verdict::Verdict;
use crate::step;

/// Runs the selected mutations.
///
/// # Errors
/// If no mutation is selected, if the copy or the tests cannot be built, or if a mutation is not caught.
pub fn run(options: &Options) -> Result<(), String> {
    let root = step::root();
    let mutations = list::load(&root)?;
    let chosen: Vec<&Mutation> = mutations.iter().filter(|m| options.chooses(m)).collect();
    if chosen.is_empty() {
        return Err(
            "no mutation has such a name\nhelp: `cargo xtask mutants --list` prints them".into(),
        );
    }
    if options.list {
        chosen.iter().for_each(|mutation| println!("{mutation}"));
        return Ok(());
    }
    let bench = Bench {
        tree: Tree::prepare(&root)?,
        mutations: &chosen,
    };
    bench.judge(options.alone)
}

/// The copy of the work tree, and the mutations to try in it.
struct Bench<'m> {
    tree: Tree,
    mutations: &'m [&'m Mutation],
}

impl Bench<'_> {
    fn judge(&self, alone: bool) -> Result<(), String> {
        let unfit = self.unfit()?;
        let mut caught = 0;
        let mut say = |mutation: &Mutation, verdict: &Verdict| {
            println!("{}: {verdict}", mutation.name);
            caught += usize::from(verdict.is_caught());
        };
        let mut fit = Vec::new();
        for mutation in self.mutations {
            match unfit.get(mutation.name.as_str()) {
                Some(verdict) => say(mutation, verdict),
                None => fit.push(*mutation),
            }
        }
        let batches = match alone {
            true => fit.into_iter().map(|mutation| vec![mutation]).collect(),
            false => batches::of(&fit, &Packages::read(self.tree.folder())?),
        };
        for (batch, number) in batches.iter().zip(1..) {
            eprintln!(
                "xtask: build {number} of {}, with {} mutations",
                batches.len(),
                batch.len()
            );
            for (mutation, verdict) in self.judge_batch(batch)? {
                say(mutation, &verdict);
            }
        }
        let all = self.mutations.len();
        println!("{caught} of {all} caught");
        if caught == all {
            return Ok(());
        }
        let output = self.tree.output();
        Err(format!(
            "{} of {all} mutations were not caught\nhelp: a test is missing, or the list is out of date; what the tests said \
             is in {}",
            all - caught,
            output.display()
        ))
    }

    /// The mutations that cannot be judged, each with the reason: the mutation cannot be applied, or its test does not
    /// pass without the mutation.
    fn unfit(&self) -> Result<BTreeMap<&str, Verdict>, String> {
        let mut unfit = BTreeMap::new();
        eprintln!("xtask: building the tests without any mutation, then running them");
        let programs = match self.build(self.mutations)? {
            Built::Programs(programs) => programs,
            Built::Failed(error) => {
                return Err(format!("the tests do not build as they are:\n{error}"));
            }
        };
        let mut passes: BTreeMap<&Test, Option<Verdict>> = BTreeMap::new();
        for mutation in self.mutations {
            let name = mutation.name.as_str();
            if let Err(why) = mutation.edit(self.tree.folder()) {
                unfit.insert(name, Verdict::DoesNotApply(why));
                continue;
            }
            let test = &mutation.test;
            let tried = match passes.get(test) {
                Some(known) => known.clone(),
                None => {
                    let tried = trial::run(&self.tree, &programs, test, None)?;
                    Verdict::without(tried)
                }
            };
            passes.insert(test, tried.clone());
            if let Some(verdict) = tried {
                unfit.insert(name, verdict);
            }
        }
        Ok(unfit)
    }

    /// Builds mutations together and runs the test of each. If they do not build together, each is built separately.
    fn judge_batch<'b>(
        &self,
        batch: &[&'b Mutation],
    ) -> Result<Vec<(&'b Mutation, Verdict)>, String> {
        let applied = batch
            .iter()
            .map(|mutation| self.tree.apply(mutation))
            .collect::<Result<Vec<_>, _>>()?;
        match self.build(batch)? {
            Built::Programs(programs) => batch
                .iter()
                .map(|mutation| Ok((*mutation, self.judge_one(&programs, mutation)?)))
                .collect(),
            Built::Failed(error) if batch.len() == 1 => {
                Ok(vec![(batch[0], Verdict::DoesNotBuild(error))])
            }
            Built::Failed(_) => {
                drop(applied);
                let alone = batch.iter().map(|mutation| self.judge_batch(&[mutation]));
                Ok(alone.collect::<Result<Vec<_>, _>>()?.concat())
            }
        }
    }

    fn judge_one(&self, programs: &Programs, mutation: &Mutation) -> Result<Verdict, String> {
        let tried = trial::run(&self.tree, programs, &mutation.test, Some(mutation))?;
        Ok(Verdict::with(tried, &mutation.test))
    }

    fn build(&self, mutations: &[&Mutation]) -> Result<Built, String> {
        build::build(&self.tree, mutations.iter().map(|m| &m.test))
    }
}

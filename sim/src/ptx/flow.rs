//! Computes where divergent lanes join again: at the immediate post-dominator of their branch (Cooper, Harvey and
//! Kennedy, "A simple, fast dominance algorithm", 2001).

use super::code::{Inst, Op};

/// Stands for no instruction. If the join of a branch is `NOWHERE`, its lanes do not join again before they end.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Computes the `join` of every branch.
pub(super) fn fill_joins(insts: &mut [Inst]) {
    let blocks = Blocks::of(insts);
    let join = blocks.post_dominators();
    for (block, &start) in blocks.starts.iter().enumerate() {
        let last = blocks.end(block, insts.len()) - 1;
        debug_assert!(last >= start as usize);
        let at = match join[block] {
            Some(join) if join < blocks.starts.len() => blocks.starts[join],
            _ => NOWHERE,
        };
        match &mut insts[last].op {
            Op::Branch { join, .. } | Op::Switch { join, .. } => *join = at,
            _ => {}
        }
    }
}

struct Blocks {
    starts: Vec<u32>,
    /// The successors of each block. An index equal to the number of blocks stands for the end of the kernel.
    next: Vec<Vec<usize>>,
}

impl Blocks {
    fn of(insts: &[Inst]) -> Blocks {
        let mut leader = vec![false; insts.len() + 1];
        leader[0] = true;
        for (pc, inst) in insts.iter().enumerate() {
            match &inst.op {
                Op::Branch { target, .. } => leader[*target as usize] = true,
                Op::Switch { targets, .. } => targets
                    .iter()
                    .for_each(|&target| leader[target as usize] = true),
                Op::Exit | Op::Trap => {}
                _ => continue,
            }
            leader[pc + 1] = true;
        }
        let starts: Vec<u32> = (0..insts.len())
            .filter(|&pc| leader[pc])
            .map(|pc| pc as u32)
            .collect();
        let count = starts.len();
        let block_at = |pc: u32| starts.binary_search(&pc).unwrap_or(count);
        let mut next = Vec::with_capacity(count);
        for block in 0..count {
            let end = starts
                .get(block + 1)
                .map_or(insts.len(), |&start| start as usize);
            let last = &insts[end - 1];
            let always = last.guard == 0 && !last.negated;
            let mut to: Vec<usize> = match &last.op {
                Op::Branch { target, .. } => vec![block_at(*target)],
                Op::Switch { targets, .. } => {
                    targets.iter().map(|&target| block_at(target)).collect()
                }
                Op::Exit | Op::Trap => vec![count],
                _ => Vec::new(),
            };
            let leaves = matches!(
                last.op,
                Op::Branch { .. } | Op::Switch { .. } | Op::Exit | Op::Trap
            );
            if !(leaves && always) {
                to.push(block_at(end as u32));
            }
            next.push(to);
        }
        Blocks { starts, next }
    }

    fn end(&self, block: usize, insts: usize) -> usize {
        self.starts
            .get(block + 1)
            .map_or(insts, |&start| start as usize)
    }

    /// The immediate post-dominator of each block, or `None` if the end of the kernel is unreachable from the block.
    fn post_dominators(&self) -> Vec<Option<usize>> {
        let end = self.starts.len();
        let order = self.reversed_order();
        let mut rank = vec![usize::MAX; end + 1];
        for (at, &block) in order.iter().enumerate() {
            rank[block] = at;
        }
        let mut found: Vec<Option<usize>> = vec![None; end + 1];
        found[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &order[1..] {
                let known = self.next[block]
                    .iter()
                    .copied()
                    .filter(|&to| found[to].is_some());
                let new = known.reduce(|a, b| common(a, b, &found, &rank));
                if new.is_some() && found[block] != new {
                    found[block] = new;
                    changed = true;
                }
            }
        }
        found.truncate(end);
        found
    }

    /// The reverse postorder of the reversed graph, from the end.
    fn reversed_order(&self) -> Vec<usize> {
        let end = self.starts.len();
        let mut before = vec![Vec::new(); end + 1];
        for (block, next) in self.next.iter().enumerate() {
            for &to in next {
                before[to].push(block);
            }
        }
        let mut seen = vec![false; end + 1];
        let mut done = Vec::new();
        let mut stack = vec![(end, 0)];
        seen[end] = true;
        while let Some((block, at)) = stack.last_mut() {
            match before[*block].get(*at) {
                Some(&from) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[from], true) {
                        stack.push((from, 0));
                    }
                }
                None => {
                    done.push(*block);
                    stack.pop();
                }
            }
        }
        done.reverse();
        done
    }
}

fn common(mut a: usize, mut b: usize, found: &[Option<usize>], rank: &[usize]) -> usize {
    while a != b {
        while rank[a] > rank[b] {
            a = found[a].unwrap_or(a);
        }
        while rank[b] > rank[a] {
            b = found[b].unwrap_or(b);
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(target: u32, guard: u32) -> Inst {
        let op = Op::Branch { target, join: 0 };
        Inst {
            op,
            guard,
            negated: false,
        }
    }

    fn plain(op: Op) -> Inst {
        Inst {
            op,
            guard: 0,
            negated: false,
        }
    }

    fn join(inst: &Inst) -> u32 {
        match inst.op {
            Op::Branch { join, .. } => join,
            _ => panic!("not a branch"),
        }
    }

    #[test]
    fn both_sides_of_a_condition_join_behind_it() {
        let mut insts = vec![
            branch(3, 1),
            plain(Op::Fence),
            branch(4, 0),
            plain(Op::Fence),
            plain(Op::Exit),
        ];
        fill_joins(&mut insts);
        assert_eq!(join(&insts[0]), 4);
    }

    #[test]
    fn lanes_that_leave_a_loop_join_at_its_exit() {
        let mut insts = vec![
            plain(Op::Fence),
            branch(3, 1),
            branch(0, 0),
            plain(Op::Fence),
            plain(Op::Exit),
        ];
        fill_joins(&mut insts);
        assert_eq!(join(&insts[1]), 3);
    }

    #[test]
    fn an_early_exit_joins_nowhere() {
        let mut insts = vec![
            branch(2, 1),
            plain(Op::Exit),
            plain(Op::Fence),
            plain(Op::Exit),
        ];
        fill_joins(&mut insts);
        assert_eq!(join(&insts[0]), NOWHERE);
    }
}

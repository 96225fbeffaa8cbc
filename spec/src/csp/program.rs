//! The program of one level. For a given state, it computes registers for all values of the level's variable at once,
//! drops the values that fail a check, and builds the next states.

use super::function::Function;
use super::lower::Lowered;
use super::register::{Code, Reg, RegisterSource, Repr};
use super::semantics::Semantics;

/// The place where the value of an operand is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Const(i64),
    /// In the state, at this index.
    State(usize),
    /// In this table, which has one element for each value of the level's variable.
    Table(usize),
    /// In the results of an earlier step, which has one result for each value.
    Lane(usize),
}

/// One step of a program.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Code {
        code: Code,
        x: Operand,
        y: Operand,
        lane: usize,
    },
    General {
        function: Function,
        arguments: Vec<(Operand, Repr)>,
        lane: usize,
        repr: Repr,
    },
    /// Keeps only the values of the level's variable for which `x` has the bits `truth`.
    Check { x: Operand, truth: i64 },
}

/// The steps of one level.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) semantics: Semantics,
    /// The places (indices) of the values that pass those checks that depend on the level's variable alone.
    pub(super) places: Vec<u32>,
    /// The tables, each with one element for each of `places`.
    pub(super) tables: Vec<i64>,
    pub(super) lanes: usize,
    pub(super) steps: Vec<Step>,
    /// Where the values of the next state are stored.
    pub(super) next: Vec<Operand>,
}

/// The programs of all levels. `places` is the number of values of each level's variable.
pub(super) fn programs(lowered: &mut Lowered, places: &[usize]) -> Vec<Program> {
    let carried: Vec<Vec<Reg>> = (0..=places.len()).map(|at| carried(lowered, at)).collect();
    let mut programs = Vec::with_capacity(places.len());
    for (level, count) in places.iter().enumerate() {
        let planner = Planner {
            level,
            state: &carried[level],
            operands: vec![None; lowered.registers.len()],
            full: Vec::new(),
            program: Program {
                semantics: lowered.semantics,
                places: Vec::new(),
                tables: Vec::new(),
                lanes: 0,
                steps: Vec::new(),
                next: Vec::new(),
            },
        };
        programs.push(planner.plan(lowered, *count, &carried[level + 1]));
    }
    programs
}

/// The registers that are known before a level and are read at this level or later.
fn carried(lowered: &Lowered, level: usize) -> Vec<Reg> {
    let is_known = |reg: &Reg| lowered.register(*reg).level.is_some_and(|at| at < level);
    let mut carried: Vec<Reg> = Vec::new();
    for (number, register) in lowered.registers.iter().enumerate() {
        if register.level.is_some_and(|at| at >= level) {
            let operands = lowered.operands(Reg(number as u32));
            carried.extend(operands.iter().filter(|reg| is_known(reg)));
        }
    }
    carried.sort_unstable();
    carried.dedup();
    carried
}

struct Planner<'a> {
    level: usize,
    state: &'a [Reg],
    /// For each register, the place where this level has stored it; `None` if it has not stored it yet.
    operands: Vec<Option<Operand>>,
    /// The tables, each with one element for every value of the level's variable.
    full: Vec<Vec<i64>>,
    program: Program,
}

impl Planner<'_> {
    fn plan(mut self, lowered: &mut Lowered, places: usize, next: &[Reg]) -> Program {
        let truth = lowered.truth();
        let mut kept: Vec<u32> = (0..places as u32).collect();
        for check in lowered.checks.clone() {
            let register = lowered.register(check);
            let truth = if register.repr == Repr::Any { truth } else { 1 };
            if let (RegisterSource::Table(bits), true) =
                (&register.source, register.level == Some(self.level))
            {
                kept.retain(|place| bits[*place as usize] == truth);
            } else if register.level == Some(self.level) {
                let x = self.operand(lowered, check);
                self.program.steps.push(Step::Check { x, truth });
            }
        }
        self.program.next = next.iter().map(|reg| self.operand(lowered, *reg)).collect();
        for table in &self.full {
            let bits = kept.iter().map(|place| table[*place as usize]);
            self.program.tables.extend(bits);
        }
        self.program.places = kept;
        self.program
    }

    /// The place where a register is stored. If this level has not used the register yet, adds the steps that compute
    /// it.
    fn operand(&mut self, lowered: &Lowered, reg: Reg) -> Operand {
        if let Some(operand) = self.operands[reg.0 as usize] {
            return operand;
        }
        let register = lowered.register(reg);
        let operand = match &register.source {
            RegisterSource::Const(bits) => Operand::Const(*bits),
            _ if register.level != Some(self.level) => {
                Operand::State(self.state.binary_search(&reg).unwrap_or(0))
            }
            RegisterSource::Table(bits) => {
                self.full.push(bits.clone());
                Operand::Table(self.full.len() - 1)
            }
            RegisterSource::Code(code, [x, y]) => {
                let (x, y) = (self.operand(lowered, *x), self.operand(lowered, *y));
                let lane = self.lane();
                let code = *code;
                self.program.steps.push(Step::Code { code, x, y, lane });
                Operand::Lane(lane)
            }
            RegisterSource::General(function, arguments) => {
                let of = |reg: &Reg| (self.operand(lowered, *reg), lowered.register(*reg).repr);
                let arguments = arguments.iter().map(of).collect();
                let lane = self.lane();
                self.program.steps.push(Step::General {
                    function: *function,
                    arguments,
                    lane,
                    repr: register.repr,
                });
                Operand::Lane(lane)
            }
        };
        self.operands[reg.0 as usize] = Some(operand);
        operand
    }

    fn lane(&mut self) -> usize {
        self.program.lanes += 1;
        self.program.lanes - 1
    }
}

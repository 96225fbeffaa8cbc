//! Writes a kernel as a T1 file: its search space for one problem on one device, with constraints and limits in Python.

use std::path::Path;

use kiln_spec::csp::LayerBudget;
use kiln_spec::expr::{BinaryOp, evaluate_int};
use kiln_spec::model::{
    Access, ArgSpec, ElemType, Passing, ScalarArg, ScalarType, ScalarValue, SliceArg,
};
use kiln_spec::plan::LaunchScope;
use kiln_spec::space::SearchSpace;
use kiln_spec::{Config, DeviceLimits, Expr, KernelSpec, ParamValue, Problem, ProblemValue};
use serde_json::{Map, Value, json};

use super::error::T1Error;
use super::write;
use crate::definition::{DefinedConstraint, Definition, DefinitionError, Literal, Param};
use crate::python;
use crate::python::write::{condition, integer};

/// Largest number of configs that are looked up in the written space to check that it is the kernel's space.
const LOOKED_UP: usize = 100_000;

/// The text of a T1 file. `source` is the path of the kernel's source that the file will contain.
///
/// # Errors
/// Python or T1 cannot express the kernel with the same meaning.
pub fn kernel_as_t1(
    kernel: &KernelSpec,
    problem: &Problem,
    limits: &DeviceLimits,
    device: &str,
    source: &Path,
) -> Result<String, T1Error> {
    let config = Config::default();
    let scope = LaunchScope {
        config: &config,
        problem,
        limits: Some(limits),
        spec: kernel,
    };
    let definition = definition(&scope)?;
    is_the_same(&definition, &scope, limits)?;
    let sizes = problem.iter().filter_map(|(_, value)| match value {
        ProblemValue::Size(size) => Some(size),
        ProblemValue::Type(_) => None,
    });
    let arguments = kernel
        .passed()
        .map(|(_, argument)| self::argument(argument, &scope));
    let file = json!({
        "General": {"BenchmarkName": kernel.name, "FormatVersion": 1, "OutputFormat": "JSON"},
        "ConfigurationSpace": write::configuration_space(&definition)?,
        "KernelSpecification": {
            "Language": "CUDA",
            "KernelName": kernel.entry,
            "KernelFile": source,
            "Device": {"Name": device},
            "GlobalSizeType": "CUDA",
            "GlobalSize": extents(&kernel.geometry.grid, &scope)?,
            "LocalSize": extents(&kernel.geometry.block, &scope)?,
            "ProblemSize": sizes.collect::<Vec<i64>>(),
            "Arguments": arguments.collect::<Result<Vec<_>, _>>()?,
        },
        "Search": {"Name": "brute_force"},
    });
    Ok(write::pretty(&file))
}

/// The search space of the kernel, with the device's limits as constraints.
fn definition(scope: &LaunchScope<'_>) -> Result<Definition, T1Error> {
    let literal = |value: &ParamValue| match value {
        ParamValue::Bool(x) => Literal::Bool(*x),
        ParamValue::Int(x) => Literal::Int((*x).into()),
        ParamValue::Choice(x) => Literal::Text(x.to_string()),
    };
    let params = scope.spec.params.iter().map(|param| Param {
        name: param.name.to_string(),
        values: param.values.iter().map(literal).collect(),
    });
    let declared = scope
        .spec
        .constraints
        .iter()
        .map(|constraint| &constraint.expr);
    let limits = limits(scope);
    let mut constraints: Vec<DefinedConstraint> = Vec::new();
    for expr in declared.chain(&limits) {
        let piece = condition(expr, scope).map_err(|error| T1Error::Constraint {
            expr: expr.to_string(),
            error,
        })?;
        if piece.truth == Some(true) || !depends(expr, scope) {
            continue;
        }
        if constraints.iter().any(|known| known.text == piece.text) {
            continue;
        }
        let parsed = python::parse(&piece.text);
        let parsed = parsed.map_err(|error| T1Error::NotReadable {
            text: piece.text.clone(),
            error,
        })?;
        constraints.push(DefinedConstraint {
            text: piece.text,
            expr: parsed,
        });
    }
    Ok(Definition {
        name: scope.spec.name.clone(),
        params: params.collect(),
        constraints,
    })
}

/// Whether an expression depends on a tunable parameter. A constraint without parameters is not written, because it
/// holds for every kernel that has a config.
fn depends(expr: &Expr, scope: &LaunchScope<'_>) -> bool {
    let names = expr.names();
    let params = &scope.spec.params;
    params.iter().any(|param| names.contains(&*param.name))
}

/// The device's limits on a launch, as constraints.
fn limits(scope: &LaunchScope<'_>) -> Vec<Expr> {
    let Some(limits) = scope.limits else {
        return Vec::new();
    };
    let compare =
        |op, x: &Expr, y: u32| Expr::Binary(op, Box::new(x.clone()), Box::new(Expr::Int(y.into())));
    let geometry = &scope.spec.geometry;
    let grid = geometry.grid.iter().zip(limits.max_grid);
    let block = geometry.block.iter().zip(limits.max_block);
    let mut all = Vec::new();
    for (extent, most) in grid.chain(block) {
        all.push(compare(BinaryOp::Ge, extent, 1));
        all.push(compare(BinaryOp::Le, extent, most));
    }
    let product = |x: Expr, y: &Expr| Expr::Binary(BinaryOp::Mul, Box::new(x), Box::new(y.clone()));
    if let Some((first, rest)) = geometry.block.split_first() {
        let threads = rest.iter().fold(first.clone(), product);
        all.push(compare(
            BinaryOp::Le,
            &threads,
            limits.max_threads_per_block,
        ));
    }
    if let Some(bytes) = &geometry.shared_bytes {
        all.push(compare(BinaryOp::Ge, bytes, 0));
        all.push(compare(BinaryOp::Le, bytes, limits.shared_bytes_per_block));
    }
    all
}

/// Checks that the written space contains the configs of the kernel's space. At most [`LOOKED_UP`] of them are looked
/// up. If both numbers of configs are known, also checks that they are equal.
fn is_the_same(
    definition: &Definition,
    scope: &LaunchScope<'_>,
    limits: &DeviceLimits,
) -> Result<(), T1Error> {
    let space = SearchSpace::build(scope.spec, scope.problem, limits)?;
    let relaxed = definition.model()?.relaxed(LayerBudget::default());
    let written = relaxed.map_err(DefinitionError::from)?;
    let is_exact = written.is_exact() && space.sampled().is_none();
    if is_exact && written.set().len() != space.len() as u128 {
        return Err(T1Error::ConfigCount {
            written: written.set().len(),
            declared: space.len(),
        });
    }
    let step = space.len().div_ceil(LOOKED_UP).max(1);
    let stranger = (0..space.len()).step_by(step).find(|index| {
        let places: Option<Vec<u32>> = space
            .ordinals(*index)
            .into_iter()
            .map(|place| u32::try_from(place).ok())
            .collect();
        places.is_none_or(|places| !written.is_valid(&places))
    });
    match stranger {
        None => Ok(()),
        Some(index) => Err(T1Error::MissingConfig {
            config: space.config(index),
        }),
    }
}

fn extents(axes: &[Expr], scope: &LaunchScope<'_>) -> Result<Value, T1Error> {
    let mut extents = Map::new();
    for (axis, expr) in ["X", "Y", "Z"].into_iter().zip(axes) {
        extents.insert(axis.into(), integer(expr, scope)?.into());
    }
    Ok(extents.into())
}

fn argument(argument: &ArgSpec, scope: &LaunchScope<'_>) -> Result<Value, T1Error> {
    match argument {
        ArgSpec::Slice(SliceArg {
            name,
            constant: Some(variable),
            ..
        }) => Err(T1Error::ConstantVariable {
            name: name.clone(),
            variable: variable.clone(),
        }),
        ArgSpec::Slice(slice) => vector(slice, scope),
        ArgSpec::Plain(plain) => Err(T1Error::PlainArgument {
            name: plain.name.clone(),
        }),
        ArgSpec::Typed(typed) => {
            let ty = scope.spec.type_of(&typed.ty, scope.problem);
            let name = typed.name.clone();
            let ty = ty.ok_or(T1Error::NoType { name })?;
            let value = match typed.value {
                ScalarValue::Int(x) => json!(x),
                ScalarValue::Float(x) => json!(x),
            };
            Ok(with_type_size(
                ty,
                json!({
                    "Name": typed.name,
                    "Type": type_name(ty),
                    "MemoryType": "Scalar",
                    "AccessType": "ReadOnly",
                    "FillType": "Constant",
                    "FillValue": value,
                }),
            ))
        }
        ArgSpec::Scalar(scalar) => {
            let value = match (&scalar.passing, scalar.value) {
                (Passing::Computed(expr), _) => computed(scalar, expr, scope)?,
                (_, Some(ScalarValue::Int(x))) => json!(x),
                (_, Some(ScalarValue::Float(x))) => json!(x),
                (_, None) => match scope.problem.size(&scalar.name) {
                    Some(size) => json!(size),
                    None => {
                        let name = scalar.name.clone();
                        return Err(T1Error::NoScalarValue { name });
                    }
                },
            };
            Ok(json!({
                "Name": scalar.name,
                "Type": scalar_type(scalar.ty, &value),
                "MemoryType": "Scalar",
                "AccessType": "ReadOnly",
                "FillType": "Constant",
                "FillValue": value,
            }))
        }
    }
}

/// The value of a computed argument. T1 can express it only if the value is the same for all configs.
fn computed(scalar: &ScalarArg, expr: &Expr, scope: &LaunchScope<'_>) -> Result<Value, T1Error> {
    let (name, spec) = (&scalar.name, scope.spec);
    if depends(expr, scope) {
        let name = name.clone();
        return Err(T1Error::DependsOnParams { name });
    }
    let value = spec.computed(scalar, expr, scope.config, scope.problem)?;
    Ok(value.into())
}

/// The name of a scalar's type in T1. Unsigned values that fit into `int32` are written with this type, because Kernel
/// Tuner only reads `int32` and `float`, and the kernel gets the same bits.
fn scalar_type(ty: ScalarType, value: &Value) -> &'static str {
    match ty {
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
        ScalarType::I32 => "int32",
        ScalarType::U32 if value.as_i64().is_some_and(|x| i32::try_from(x).is_ok()) => "int32",
        ScalarType::U32 => "uint32",
        ScalarType::I64 => "int64",
        ScalarType::U64 => "uint64",
        ScalarType::I16 => "int16",
        ScalarType::U16 => "uint16",
        ScalarType::I8 => "int8",
        ScalarType::U8 => "uint8",
    }
}

fn vector(slice: &SliceArg, scope: &LaunchScope<'_>) -> Result<Value, T1Error> {
    let name = || slice.name.clone();
    let length = evaluate_int(&slice.len, scope)?;
    let length = i64::try_from(length).map_err(|_| T1Error::TooLong { name: name() })?;
    let ty = scope.spec.elem_type(slice, scope.problem);
    let ty = ty.ok_or_else(|| T1Error::NoType { name: name() })?;
    let access = match slice.access {
        Access::In => "ReadOnly",
        Access::Out => "WriteOnly",
        Access::InOut => "ReadWrite",
    };
    Ok(with_type_size(
        ty,
        json!({
            "Name": slice.name,
            "Type": type_name(ty),
            "MemoryType": "Vector",
            "AccessType": access,
            "Size": length,
            "FillType": "Random",
        }),
    ))
}

/// The name of an element type in T1.
fn type_name(ty: ElemType) -> &'static str {
    match ty {
        ElemType::F64 => "double",
        ElemType::F32 => "float",
        ElemType::F16 => "half",
        // T1 has no name for this type.
        ElemType::Bf16 => "custom",
        ElemType::I64 => "int64",
        ElemType::U64 => "uint64",
        ElemType::I32 => "int32",
        ElemType::U32 => "uint32",
        ElemType::I16 => "int16",
        ElemType::U16 => "uint16",
        ElemType::I8 => "int8",
        ElemType::U8 => "uint8",
    }
}

/// Adds the size of the type to an argument if T1 has no name for the type.
fn with_type_size(ty: ElemType, mut argument: Value) -> Value {
    if let (ElemType::Bf16, Some(fields)) = (ty, argument.as_object_mut()) {
        fields.insert("TypeSize".into(), ElemType::Bf16.bytes().into());
    }
    argument
}

//! The baked table of one kernel: one section per device, with one line per row.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::error::BakedError;
use super::image::Image;
use super::quoted::quoted;
use super::reader::{FORMAT, Field, Fields, Text};
use super::row::{self, Hashes, Row, Speedup};
use crate::device::DeviceKey;
use crate::model::Evidence;
use crate::plan::LaunchPlan;
use crate::text::shorten;

const ROW_KEYS: &[&str] = &[
    "device",
    "problem",
    "entry",
    "config",
    "evidence",
    "speedup_ppm",
    "baseline",
    "symbol",
    "grid",
    "block",
    "shared_bytes",
    "spec",
    "source",
    "prelude",
    "flags",
    "image",
];

/// The committed rows of one kernel, sorted by device and problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BakedTable {
    kernel: String,
    /// For each device, its rows by problem. The key of a device is its text. The key of a problem sorts sizes as
    /// numbers.
    sections: BTreeMap<String, BTreeMap<SortKey, Row>>,
}

/// The sizes and types of a problem, as a sort key that compares sizes as numbers.
type SortKey = Vec<(String, SortValue)>;

/// One size or type of a problem, as part of a sort key. Sizes come before types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SortValue {
    Size(i64),
    Type(String),
}

fn sort_key(problem: &str) -> SortKey {
    let pieces = problem.split(',').map(|piece| {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let size = value.parse().map(SortValue::Size);
        let value = size.unwrap_or_else(|_| SortValue::Type(value.to_string()));
        (name.to_string(), value)
    });
    pieces.collect()
}

impl BakedTable {
    /// A table without rows for the kernel with this name.
    pub fn new(kernel: impl Into<String>) -> BakedTable {
        BakedTable {
            kernel: kernel.into(),
            sections: BTreeMap::new(),
        }
    }

    /// Reads a table.
    ///
    /// # Errors
    /// If the file contains anything that `tune` would not have written. The order of the rows and the white space may
    /// differ.
    pub fn parse(bytes: &[u8]) -> Result<BakedTable, BakedError> {
        let text = Text::new(bytes)?;
        let table = text.parse()?;
        let root = Fields::root(text, &table)?;
        root.only(&["format", "kernel", "devices"])?;
        let kernel = root.get("kernel")?;
        let name = kernel.str("kernel")?;
        if !row::is_symbol(name) {
            return Err(kernel.value("kernel", name, "a C identifier"));
        }
        let mut baked = BakedTable::new(name);
        if let Some(devices) = root.find("devices") {
            for (section, rows) in devices.fields("devices")?.entries() {
                baked.read_section(section, rows)?;
            }
        }
        Ok(baked)
    }

    /// Reads the table of the kernel with this name.
    ///
    /// # Errors
    /// The errors of [`Self::parse`], and an error if the table belongs to another kernel.
    pub fn parse_for(bytes: &[u8], kernel: &str) -> Result<BakedTable, BakedError> {
        let table = BakedTable::parse(bytes)?;
        if table.kernel == kernel {
            Ok(table)
        } else {
            Err(BakedError::Kernel {
                found: shorten(&table.kernel),
                expected: kernel.into(),
            })
        }
    }

    /// Recovers the rows of a damaged table, such as one that contains the lines of two branches after a merge. Keeps
    /// every row that is complete on its line. If several rows have the same device and problem, keeps the first one
    /// for which `prefer` returns `true` or, if there is none, the first one. Also returns the numbers of the lines
    /// whose rows cannot be read.
    ///
    /// # Errors
    /// If the file is not UTF-8 text, is too large, or a newer version of Kiln wrote it.
    pub fn recover(
        bytes: &[u8],
        kernel: &str,
        prefer: &dyn Fn(&Row) -> bool,
    ) -> Result<(BakedTable, Vec<usize>), BakedError> {
        let text = Text::new(bytes)?;
        if let Err(newer @ BakedError::Newer { .. }) = BakedTable::parse(bytes) {
            return Err(newer);
        }
        let mut table = BakedTable::new(kernel);
        let mut lost = Vec::new();
        let lines = text.0.lines().zip(1..);
        for (line, number) in lines.filter(|(line, _)| line.trim_start().starts_with('{')) {
            match read_line(line) {
                Ok(row) => table.insert_preferred(row, prefer),
                Err(_) => lost.push(number),
            }
        }
        Ok((table, lost))
    }

    fn insert_preferred(&mut self, row: Row, prefer: &dyn Fn(&Row) -> bool) {
        let section = self.sections.entry(row.device.to_string()).or_default();
        let key = sort_key(&row.problem);
        let replaces = |old: &Row| !prefer(old) && prefer(&row);
        if section.get(&key).is_none_or(replaces) {
            section.insert(key, row);
        }
    }

    fn read_section(&mut self, section: &str, rows: Field<'_, '_>) -> Result<(), BakedError> {
        let expected = "a printable `backend/arch/name`";
        if !row::is_plain(section) || section.parse::<DeviceKey>().is_err() {
            return Err(rows.value("devices", section, expected));
        }
        for field in rows.array("devices")? {
            let row = read_row(field.fields("devices")?)?;
            if row.device.to_string() != section {
                return Err(BakedError::Section {
                    line: field.line(),
                    device: row.device.to_string(),
                    section: shorten(section),
                });
            }
            row.check(0).map_err(|error| error.at(field.line()))?;
            self.insert(row, || field.line())?;
        }
        Ok(())
    }

    fn insert(&mut self, row: Row, line: impl Fn() -> usize) -> Result<(), BakedError> {
        let section = self.sections.entry(row.device.to_string()).or_default();
        let key = sort_key(&row.problem);
        if section.contains_key(&key) {
            return Err(BakedError::Duplicate {
                line: line(),
                device: row.device.to_string(),
                problem: row.problem,
            });
        }
        section.insert(key, row);
        Ok(())
    }

    /// The name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Moves the rows to a table for another kernel name. After a kernel is renamed, its old rows are stale.
    #[must_use]
    pub fn renamed(self, kernel: &str) -> BakedTable {
        BakedTable {
            kernel: kernel.into(),
            ..self
        }
    }

    /// Every row, sorted by device and then by problem.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.values().flat_map(BTreeMap::values)
    }

    /// The rows of one device, sorted by problem.
    pub fn device_rows(&self, device: &DeviceKey) -> impl Iterator<Item = &Row> {
        let section = self.sections.get(&device.to_string());
        section.into_iter().flat_map(BTreeMap::values)
    }

    /// Replaces the rows of a device with `rows`. Without rows, removes the device's section.
    ///
    /// # Errors
    /// If a row belongs to another device, occurs twice, or could not be read back.
    pub fn replace_device(
        &mut self,
        device: &DeviceKey,
        rows: impl IntoIterator<Item = Row>,
    ) -> Result<(), BakedError> {
        let mut replaced = self.clone();
        replaced.sections.remove(&device.to_string());
        for row in rows {
            if row.device != *device {
                return Err(BakedError::Section {
                    line: 0,
                    device: row.device.to_string(),
                    section: device.to_string(),
                });
            }
            row.check(0)?;
            replaced.insert(row, || 0)?;
        }
        *self = replaced;
        Ok(())
    }

    /// The text of the table. It does not depend on the order in which rows were added.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "# Written by `tune bake`. One line a row; sections of different devices merge line by line.\n\
             format = {FORMAT}\nkernel = {}\n\n[devices]\n",
            quoted(&self.kernel)
        );
        for (device, rows) in &self.sections {
            // The last line of a section also names the device. Two sections therefore have no line in common.
            let _ = writeln!(text, "{} = [", quoted(device));
            for row in rows.values() {
                let _ = writeln!(text, "  {{ {} }},", row_text(row));
            }
            let _ = writeln!(text, "] # {device}");
        }
        text
    }
}

impl BakedError {
    /// Returns the error with `at` as its line.
    fn at(mut self, at: usize) -> BakedError {
        if let BakedError::Value { line, .. } | BakedError::Speedup { line, .. } = &mut self {
            *line = at;
        }
        self
    }
}

/// Reads a row from its line alone, without the rest of the table.
fn read_line(line: &str) -> Result<Row, BakedError> {
    let line = line.trim().trim_end_matches(',');
    let file = format!("format = {FORMAT}\nrow = {line}\n");
    let text = Text::new(file.as_bytes())?;
    let table = text.parse()?;
    let row = read_row(Fields::root(text, &table)?.get("row")?.fields("row")?)?;
    row.check(0)?;
    Ok(row)
}

fn read_row(fields: Fields<'_, '_>) -> Result<Row, BakedError> {
    fields.only(ROW_KEYS)?;
    let text = |key| fields.get(key)?.str(key).map(str::to_string);
    let hash = "a hash of 32 hexadecimal digits";
    let evidence = fields.get("evidence")?;
    let grade = evidence.str("evidence")?;
    let known = Evidence::ALL.into_iter().find(|e| e.name() == grade);
    Ok(Row {
        device: fields
            .get("device")?
            .parsed("device", "a printable `backend/arch/name`")?,
        problem: text("problem")?,
        entry: text("entry")?,
        config: text("config")?,
        evidence: known.ok_or_else(|| {
            evidence.value("evidence", grade, "`proven`, `replayed` or `predicted`")
        })?,
        speedup: fields.find("speedup_ppm").map(speedup).transpose()?,
        baseline: text("baseline")?,
        symbol: text("symbol")?,
        plan: LaunchPlan {
            grid: fields.get("grid")?.ints("grid")?,
            block: fields.get("block")?.ints("block")?,
            shared_bytes: fields.get("shared_bytes")?.int("shared_bytes")?,
        },
        hashes: Hashes {
            spec: fields.get("spec")?.parsed("spec", hash)?,
            source: fields.get("source")?.parsed("source", hash)?,
            prelude: fields.get("prelude")?.parsed("prelude", hash)?,
            flags: fields.get("flags")?.parsed("flags", hash)?,
        },
        image: fields.find("image").map(image).transpose()?,
    })
}

fn speedup(field: Field<'_, '_>) -> Result<Speedup, BakedError> {
    let [low_ppm, speedup_ppm, high_ppm] = field.ints("speedup_ppm")?;
    Ok(Speedup {
        low_ppm,
        speedup_ppm,
        high_ppm,
    })
}

fn image(field: Field<'_, '_>) -> Result<Image, BakedError> {
    let fields = field.fields("image")?;
    fields.only(&["file", "target", "hash"])?;
    Ok(Image {
        file: fields.get("file")?.str("file")?.into(),
        target: fields.get("target")?.str("target")?.into(),
        hash: fields
            .get("hash")?
            .parsed("hash", "a hash of 32 hexadecimal digits")?,
    })
}

fn row_text(row: &Row) -> String {
    let mut text = String::new();
    let mut field = |key: &str, value: String| {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{key} = {value}");
    };
    let ints = |ints: &[u32; 3]| format!("{ints:?}");
    field("device", quoted(&row.device.to_string()));
    field("problem", quoted(&row.problem));
    field("entry", quoted(&row.entry));
    field("config", quoted(&row.config));
    field("evidence", quoted(row.evidence.name()));
    if let Some(s) = &row.speedup {
        let interval = [s.low_ppm, s.speedup_ppm, s.high_ppm];
        field("speedup_ppm", format!("{interval:?}"));
    }
    field("baseline", quoted(&row.baseline));
    field("symbol", quoted(&row.symbol));
    field("grid", ints(&row.plan.grid));
    field("block", ints(&row.plan.block));
    field("shared_bytes", row.plan.shared_bytes.to_string());
    field("spec", quoted(&row.hashes.spec.to_string()));
    field("source", quoted(&row.hashes.source.to_string()));
    field("prelude", quoted(&row.hashes.prelude.to_string()));
    field("flags", quoted(&row.hashes.flags.to_string()));
    if let Some(image) = &row.image {
        let (file, target) = (quoted(&image.file), quoted(&image.target));
        let hash = quoted(&image.hash.to_string());
        field(
            "image",
            format!("{{ file = {file}, target = {target}, hash = {hash} }}"),
        );
    }
    text
}

//! Receipts. A receipt is the record that the device itself writes about one launch. Comparing it with the expected
//! record shows whether the intended kernel ran with the intended launch plan.

use std::fmt;

use kiln_spec::LaunchPlan;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Size in bytes of the record that a receipt entry writes (a receipt entry is the kernel plus code that writes a
/// receipt).
pub const RECEIPT_BYTES: usize = 96;

/// The version of the record's layout.
pub const RECEIPT_ABI: u64 = 1;

/// The record that the device wrote about one launch.
///
/// Thread 0 of block 0 writes every field except the thread count. *Every* thread increments the thread count, so a
/// launch that ran only part of its grid is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The nonce that the host chose for this launch and the device copied.
    pub nonce: u64,
    /// The hash in the symbol of the kernel that ran.
    pub symbol_hash: u64,
    /// Hash of the config with which the entry was compiled.
    pub config_hash: u64,
    /// Number of threads that ran, over all blocks.
    pub threads: u64,
    /// Threads per block along each axis (x, y, z).
    pub block: [u32; 3],
    /// Blocks along each axis (x, y, z).
    pub grid: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Threads per warp.
    pub warp_size: u32,
    /// Version of the record's layout.
    pub abi_version: u64,
}

impl Receipt {
    /// The content of a record before its launch: all zero except for the nonce.
    pub fn blank(nonce: u64) -> [u8; RECEIPT_BYTES] {
        let mut record = [0; RECEIPT_BYTES];
        record[..8].copy_from_slice(&nonce.to_le_bytes());
        record
    }

    /// Decodes a record.
    pub fn decode(record: &[u8; RECEIPT_BYTES]) -> Receipt {
        let mut fields = ReceiptFields(&record[8..]);
        Receipt {
            nonce: fields.u64(),
            symbol_hash: fields.u64(),
            config_hash: fields.u64(),
            threads: fields.u64(),
            block: [fields.u32(), fields.u32(), fields.u32()],
            grid: [fields.u32(), fields.u32(), fields.u32()],
            dynamic_shared_bytes: fields.u32(),
            warp_size: fields.u32(),
            abi_version: fields.u64(),
        }
    }

    /// Encodes this receipt as the device would write it into a record that the host had initialised with `nonce_in`.
    /// This is the inverse of [`Self::decode`].
    pub fn encode(&self, nonce_in: u64) -> [u8; RECEIPT_BYTES] {
        let mut bytes = Vec::with_capacity(RECEIPT_BYTES);
        for value in [
            nonce_in,
            self.nonce,
            self.symbol_hash,
            self.config_hash,
            self.threads,
        ] {
            bytes.extend(value.to_le_bytes());
        }
        let words = self.block.iter().chain(&self.grid);
        for value in words.chain([&self.dynamic_shared_bytes, &self.warp_size]) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(self.abi_version.to_le_bytes());
        bytes.resize(RECEIPT_BYTES, 0);
        let mut record = [0; RECEIPT_BYTES];
        record.copy_from_slice(&bytes);
        record
    }

    /// Compares this receipt with the expected one.
    ///
    /// # Errors
    /// [`ReceiptMismatch`], with every field that differs.
    pub fn check(&self, expected: &ExpectedReceipt) -> Result<(), ReceiptMismatch> {
        let differences: Vec<Difference> = self
            .fields(expected)
            .into_iter()
            .filter(|field| field.expected != field.found)
            .collect();
        if differences.is_empty() {
            return Ok(());
        }
        Err(ReceiptMismatch {
            nothing_written: *self == Receipt::default(),
            differences,
        })
    }

    /// Every field with its expected and found value, as text.
    fn fields(&self, expected: &ExpectedReceipt) -> [Difference; 8] {
        let plan = &expected.plan;
        let threads = plan.blocks().saturating_mul(plan.threads_per_block());
        let texts = |field, expected: String, found: String| Difference {
            field,
            expected,
            found,
        };
        let hex = |field, a: u64, b: u64| texts(field, format!("{a:016x}"), format!("{b:016x}"));
        let number = |field, a: u64, b: u64| texts(field, a.to_string(), b.to_string());
        let three = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
        [
            hex("nonce", expected.nonce, self.nonce),
            hex("symbol hash", expected.symbol_hash, self.symbol_hash),
            hex("config hash", expected.config_hash, self.config_hash),
            texts("block", three(plan.block), three(self.block)),
            texts("grid", three(plan.grid), three(self.grid)),
            number(
                "dynamic shared bytes",
                plan.shared_bytes.into(),
                self.dynamic_shared_bytes.into(),
            ),
            number("threads", threads, self.threads),
            number("receipt version", RECEIPT_ABI, self.abi_version),
        ]
    }
}

/// Reads little-endian fields one after another.
struct ReceiptFields<'a>(&'a [u8]);

impl ReceiptFields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self
            .0
            .split_first_chunk::<N>()
            .expect("a receipt record should be as long as its fields");
        self.0 = rest;
        *field
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
}

/// The record that the intended launch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedReceipt {
    /// The nonce that the host chose.
    pub nonce: u64,
    /// The hash in the symbol of the intended kernel.
    pub symbol_hash: u64,
    /// Hash of the intended config.
    pub config_hash: u64,
    /// The plan of the intended launch, which determines grid, block, shared memory and the thread count.
    pub plan: LaunchPlan,
}

/// One field of a receipt whose value differs from the expected value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The name of the field.
    pub field: &'static str,
    /// The expected value.
    pub expected: String,
    /// The value that the device wrote.
    pub found: String,
}

/// The error of a launch that was not the intended one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ReceiptMismatch {
    /// Whether the record is unchanged, which means that no thread of a receipt entry ran.
    pub nothing_written: bool,
    /// The fields that differ.
    pub differences: Vec<Difference>,
}

impl fmt::Display for ReceiptMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nothing_written {
            return f.write_str("the device wrote no receipt: the intended entry did not run");
        }
        f.write_str("the receipt is not that of the intended launch")?;
        for difference in &self.differences {
            write!(
                f,
                "\n  {}: expected {}, but the device reports {}",
                difference.field, difference.expected, difference.found
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> ExpectedReceipt {
        ExpectedReceipt {
            nonce: 0x0102_0304_0506_0708,
            symbol_hash: 11,
            config_hash: 12,
            plan: LaunchPlan {
                grid: [4, 2, 1],
                block: [384, 1, 1],
                shared_bytes: 1024,
            },
        }
    }

    fn honest(expected: &ExpectedReceipt) -> Receipt {
        Receipt {
            nonce: expected.nonce,
            symbol_hash: expected.symbol_hash,
            config_hash: expected.config_hash,
            threads: 8 * 384,
            block: expected.plan.block,
            grid: expected.plan.grid,
            dynamic_shared_bytes: expected.plan.shared_bytes,
            warp_size: 32,
            abi_version: RECEIPT_ABI,
        }
    }

    #[test]
    fn a_record_reads_back_as_the_receipt_that_wrote_it() {
        let receipt = honest(&expected());
        assert_eq!(Receipt::decode(&receipt.encode(7)), receipt);
        assert_eq!(receipt.encode(7)[..8], 7u64.to_le_bytes());
    }

    #[test]
    fn every_field_alone_makes_a_mismatch_that_names_it() {
        let expected = expected();
        assert_eq!(honest(&expected).check(&expected), Ok(()));
        type Change = fn(&mut Receipt);
        let changes: [(&str, Change); 8] = [
            ("nonce", |r| r.nonce += 1),
            ("symbol hash", |r| r.symbol_hash += 1),
            ("config hash", |r| r.config_hash += 1),
            ("block", |r| r.block = [128, 1, 1]),
            ("grid", |r| r.grid = [2, 4, 1]),
            ("dynamic shared bytes", |r| r.dynamic_shared_bytes = 0),
            ("threads", |r| r.threads -= 1),
            ("receipt version", |r| r.abi_version = 2),
        ];
        for (field, change) in changes {
            let mut receipt = honest(&expected);
            change(&mut receipt);
            let mismatch = receipt.check(&expected).unwrap_err();
            let fields: Vec<_> = mismatch.differences.iter().map(|d| d.field).collect();
            assert_eq!(fields, [field]);
            assert!(mismatch.to_string().contains(field), "{mismatch}");
        }
    }

    #[test]
    fn an_untouched_record_says_that_nothing_ran() {
        let record = Receipt::blank(expected().nonce);
        let mismatch = Receipt::decode(&record).check(&expected()).unwrap_err();
        assert!(mismatch.nothing_written);
    }
}

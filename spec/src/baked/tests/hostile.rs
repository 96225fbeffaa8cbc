//! Tests that invalid tables are rejected.

use super::*;

/// For each invalid table: a description of its mistake, its text, and a part of the expected message.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn hostile_tables() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let good = one_row();
    let line = good
        .lines()
        .find(|l| l.contains("problem ="))
        .unwrap()
        .to_string();
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from} is not in {good}");
        good.replacen(from, to, 1).into_bytes()
    };
    let symbol = good.split("symbol = \"").nth(1).unwrap()[..21].to_string();
    let grid = "grid = [8, 8, 1]";
    vec![
        (
            "unknown key in a row",
            with("entry =", "entri ="),
            "line 7: unknown key `entri`\nhelp: did you mean `entry`?",
        ),
        (
            "unknown key at the top",
            with("format = 1", "format = 1\nspeed = 3"),
            "unknown key `speed`",
        ),
        (
            "missing key",
            with("shared_bytes = 0, ", ""),
            "line 7: no `shared_bytes`",
        ),
        ("missing format", with("format = 1\n", ""), "no `format`"),
        (
            "newer format",
            with("format = 1", "format = 2\nshiny = true"),
            "has format 2, but this Kiln reads up to 1",
        ),
        (
            "format zero",
            with("format = 1", "format = 0"),
            "`format` is `0`",
        ),
        (
            "format as text",
            with("format = 1", "format = \"1\""),
            "`format` takes an integer",
        ),
        (
            "duplicate row",
            with(&line, &format!("{line}\n{line}")),
            "line 8: a second row of",
        ),
        (
            "duplicate section",
            with("] # cuda", &format!("]\n\"{L4}\" = [\n] # cuda")),
            "line 9: duplicate key",
        ),
        (
            "wrong kind",
            with("problem = \"m=512,n=512,k=512\"", "problem = 512"),
            "`problem` takes a string",
        ),
        (
            "section that is not an array",
            with(
                &format!("\"{L4}\" = [\n{line}\n]"),
                &format!("\"{L4}\" = 1"),
            ),
            "`devices` takes an array",
        ),
        (
            "row that is not a table",
            with(&line, "  3,"),
            "`devices` takes a table",
        ),
        (
            "grid of two",
            with(grid, "grid = [8, 8]"),
            "`grid` takes three integers",
        ),
        (
            "grid of zero",
            with(grid, "grid = [0, 8, 1]"),
            "`grid` is `grid=(0,8,1)",
        ),
        (
            "negative grid",
            with(grid, "grid = [-8, 8, 1]"),
            "`grid` is `-8`",
        ),
        (
            "huge int",
            with(
                grid,
                "grid = [99999999999999999999999999999999999999999, 8, 1]",
            ),
            "`grid` is `9999",
        ),
        (
            "hexadecimal int",
            with(grid, "grid = [0x8, 8, 1]"),
            "`grid` is `8`, which is not a decimal integer",
        ),
        (
            "float in place of int",
            with("shared_bytes = 0", "shared_bytes = 0.0"),
            "`shared_bytes` takes an integer",
        ),
        (
            "not a number",
            with("shared_bytes = 0", "shared_bytes = nan"),
            "`shared_bytes` takes an integer",
        ),
        (
            "shared memory beyond 32 bits",
            with("shared_bytes = 0", "shared_bytes = 4294967296"),
            "`shared_bytes` is `4294967296`",
        ),
        (
            "symbol with a quote",
            with(&symbol, "gemm\\\"; system(1); //"),
            "`symbol` is `gemm\"; system(1); //`",
        ),
        (
            "symbol that starts with a digit",
            with(&symbol, "1gemm"),
            "`symbol` is `1gemm`, which is not a C identifier",
        ),
        ("empty symbol", with(&symbol, ""), "`symbol` is ``"),
        (
            "config with a quote",
            with("THREADS=256\", evidence", "THREADS=256\\\"\", evidence"),
            "`config` is",
        ),
        (
            "problem with a newline",
            with("m=512,n=512,k=512", "m=512,\\nn=512,k=512"),
            "`problem` is",
        ),
        (
            "unknown evidence",
            with("\"proven\"", "\"measured\""),
            "`evidence` is `measured`, which is not `proven`, `replayed` or `predicted`",
        ),
        (
            "row of another device",
            with(
                &format!("device = \"{L4}\""),
                &format!("device = \"{RTX}\""),
            ),
            "line 7: the row is for `cuda/sm_86/NVIDIA GeForce RTX 3090`, but it is in the section of `cuda/sm_89/NVIDIA L4`",
        ),
        (
            "device of an unknown backend",
            with(&format!("device = \"{L4}\""), "device = \"metal/m1/Apple\""),
            "`device` is `metal/m1/Apple`",
        ),
        (
            "device that turns the text around",
            with(&format!("\"{L4}\" = ["), "\"cuda/sm_89/\u{202e}4L\" = ["),
            "`devices` is",
        ),
        (
            "hash too short",
            with("spec = \"", "spec = \"0"),
            "`spec` is `0",
        ),
        (
            "hash in capitals",
            good.split("flags = \"")
                .collect::<Vec<_>>()
                .join("flags = \"A")
                .into_bytes(),
            "not a hash of 32 hexadecimal digits",
        ),
        (
            "proven without a speed-up",
            with("speedup_ppm = [1200000, 1250000, 1300000], ", ""),
            "a proven row without `speedup_ppm`",
        ),
        (
            "proven though it may be slower",
            with("[1200000,", "[999999,"),
            "nothing is proven",
        ),
        (
            "interval the wrong way round",
            with("[1200000, 1250000, 1300000]", "[1300000, 1250000, 1200000]"),
            "is not [low, estimate, high]",
        ),
        (
            "speed-up beyond belief",
            with("1300000]", "9000000000000000000]"),
            "beyond a million",
        ),
        (
            "speed-up of a predicted row",
            with("\"proven\"", "\"predicted\""),
            "in a row that is not proven",
        ),
        (
            "image outside the folder",
            with(
                " },\n]",
                ", image = { file = \"../x.cubin\", target = \"sm_89\", hash = \"00000000000000000000000000000000\" } },\n]",
            ),
            "`image` is `../x.cubin`, which is not a plain file name",
        ),
        (
            "kernel that is a path",
            with("kernel = \"gemm\"", "kernel = \"../gemm\""),
            "`kernel` is `../gemm`",
        ),
        (
            "conflict markers",
            with(
                &line,
                &format!("<<<<<<< HEAD\n{line}\n=======\n>>>>>>> theirs"),
            ),
            "line ",
        ),
        (
            "cut off",
            good.as_bytes()[..good.len() / 2].to_vec(),
            "line ",
        ),
        (
            "too large",
            vec![b'#'; MAX_TABLE_BYTES + 1],
            "has 16777217 bytes, but the maximum is 16777216",
        ),
        (
            "no UTF-8",
            [good.as_bytes(), b"# \xff\n"].concat(),
            "line 9: not UTF-8 text",
        ),
        ("a NUL byte", with("[devices]", "[devices]\0"), "line "),
        (
            "deep nesting",
            format!(
                "format = 1\nkernel = {}1{}\n",
                "[".repeat(200_000),
                "]".repeat(200_000)
            )
            .into_bytes(),
            "line ",
        ),
        ("empty file", Vec::new(), "no `format`"),
    ]
}

#[test]
fn every_hostile_table_is_refused_with_a_message_that_says_why() {
    for (what, bytes, message) in hostile_tables() {
        let error = match BakedTable::parse(&bytes) {
            Ok(_) => panic!("{what}: should be refused"),
            Err(error) => error.to_string(),
        };
        assert!(
            error.contains(message),
            "{what}: {error}\nshould contain: {message}"
        );
        assert!(
            error.len() < 500,
            "{what}: a message echoes the file: {error}"
        );
    }
}

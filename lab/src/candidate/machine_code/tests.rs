use super::*;

/// The listing of an entry whose main loop, with two matrix instructions, is inside a loop over tiles. Another, longer
/// loop only copies. A second entry follows.
const LISTING: &str = "
	.target	sm_86
//--------------------- .text.k_receipt --------------------------
	.section	.text.k_receipt,\"ax\",@progbits
k_receipt:
.text.k_receipt:
.L_x_0:
        /*0000*/                   FFMA R1, R1, R1, R1 ;
        /*0010*/                   BRA `(.L_x_0) ;
	.section	.text.k,\"ax\",@progbits
	.sectioninfo	@\"SHI_REGISTERS=40\"
k:
.text.k:
        /*0000*/                   BSSY B0, `(.L_x_4) ;
.L_x_1:
        /*0010*/              @!P1 LDG.E.64 R6, [R4.64+-0x20] ;
        /*0020*/                   STS.128 [R6], R4 ;
        /*0030*/                   IADD3 R6, R6, 0x1, RZ ;
        /*0040*/                   UIADD3 UR4, UR4, 0x1, URZ ;
        /*0050*/               @P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0060*/                   LDGSTS.E.BYPASS.LTC128B.128 [R2], [R8.64] ;
.L_x_3:
        /*0070*/                   LDSM.16.M88.4 R4, [R2] ;
        /*0080*/                   HMMA.16816.F32 R4, R4, R8, R4 ;
        /*0090*/                   HMMA.16816.F32 R8, R4, R8, R8 ;
        /*00a0*/              @!PT NOP ;
        /*00b0*/               @P2 BRA `(.L_x_3) ;
        /*00c0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00d0*/               @P3 BRA `(.L_x_2) ;
.L_x_4:
        /*00e0*/                   EXIT ;
.L_x_5:
        /*00f0*/                   BRA `(.L_x_5);
	.section	.nv.constant0.k,\"a\",@progbits
";

fn counted(entry: &str) -> MachineCode {
    count(&listing::entry(LISTING, entry).unwrap(), "a listing".into())
}

#[test]
fn the_main_loop_is_the_innermost_with_most_of_the_matrix_instructions() {
    let code = counted("k");
    assert_eq!(code.instructions, 16);
    let main = code.main_loop.unwrap();
    assert_eq!((main.instructions, main.inner_loops), (5, 0));
    let classes: Vec<_> = main
        .by_class
        .iter()
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    assert_eq!(classes, [("flow", 2), ("matrix", 2), ("shared memory", 1)]);
    assert!((main.matrix_per_100 - 40.0).abs() < 1e-9);
}

#[test]
fn an_entry_ends_where_the_next_section_begins() {
    let code = counted("k_receipt");
    assert_eq!(code.instructions, 2);
    assert_eq!(
        code.to_string(),
        "2 instructions, 1 multiply-add, 1 flow (of 2, a listing)"
    );
    assert!(listing::entry(LISTING, "k_rec").is_none());
}

#[test]
fn code_without_a_loop_says_so() {
    let straight = "\t.section\t.text.k,\"ax\"\n        /*0000*/                   EXIT ;\n\
                    .L_x_0:\n        /*0010*/                   BRA `(.L_x_0);\n";
    let code = count(&listing::entry(straight, "k").unwrap(), "a listing".into());
    assert_eq!(code.to_string(), "no loop (2 instructions, a listing)");
}

//! Precompiled images. A program that embeds them launches on a machine without a compiler. An image that is damaged or
//! built for another target is never loaded.
mod deployed;
mod first_use;

use std::fs;

use deployed::{Deployed, Ran, TABLE, devices, here};
use kiln::backend::hip::HipCompiler;
use kiln::image;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout};
use kiln_tests::script::write_script;

/// The compilers that build images for all four devices.
const COMPILERS: [Need; 3] = [Need::HostCompiler, Need::Nvrtc, Need::AmdClang];

/// `e_machine` in the ELF header of an image: x86-64, NVIDIA, AMD.
const MACHINES: [(&str, u16); 3] = [("cpu", 62), ("cuda", 190), ("hip", 224)];

#[test]
fn a_program_with_images_launches_where_no_compiler_is() {
    let name = "a_program_with_images_launches_where_no_compiler_is";
    if !have(name, &COMPILERS) {
        return;
    }
    let deployed = Deployed::new().with_images();
    let ran = deployed.build().run_bare();
    println!("{}{}", ran.out, ran.err);
    assert!(ran.succeeded, "{ran:?}");
    for line in [
        "output: [42.0, 42.0]",
        "this device and problem",
        "from: its image",
        "launched as intended, grid=(3,1,1) block=(384,1,1)",
        "of its bound against the reference; not checked for races and bounds: a C++ compiler was not found",
    ] {
        assert!(ran.out.contains(line), "no `{line}` in {ran:?}");
    }
}

#[test]
fn each_image_is_for_its_rows_device_and_baking_again_gives_the_same_bytes() {
    let name = "each_image_is_for_its_rows_device_and_baking_again_gives_the_same_bytes";
    if !have(name, &COMPILERS) {
        return;
    }
    let deployed = Deployed::new().with_images();
    let says = [
        "sm_89 (CUDA ",
        "sm_86 (CUDA ",
        "gfx1151 (code object version 5)",
        "x86-64 processors",
    ];
    for (device, says) in devices().iter().zip(says) {
        let path = deployed.path_of(&deployed.image_of(device));
        let bytes = fs::read(&path).expect("the image should be read");
        let machine = MACHINES
            .iter()
            .find(|(backend, _)| *backend == device.backend.name());
        assert_eq!(
            Some(u16::from_le_bytes([bytes[18], bytes[19]])),
            machine.map(|(_, number)| *number)
        );
        let described = image::describe(&bytes).expect("the image should be read");
        assert!(described.starts_with(says), "{described}");
        println!("{device}: {described}, {} bytes", bytes.len());
    }
    deployed.tune("bake --check --images", 0);
    let first = deployed.folder();
    assert_eq!(
        first.len(),
        7,
        "index, table, .gitattributes and four images: {:?}",
        first.keys()
    );
    deployed.tune("bake --images", 0);
    assert_eq!(first, deployed.folder(), "from the cache");
    fs::remove_dir_all(deployed.crate_.path().join("cache")).expect("the cache should be removed");
    let said = deployed.tune("bake --images --target sm_89 gfx1151", 0);
    assert!(said.contains("2 of 2 rows have an image"), "{said}");
    deployed.tune("bake --images", 0);
    assert_eq!(first, deployed.folder(), "compiled anew");
}

#[test]
fn rows_that_change_while_images_are_compiled_stay_as_they_were_written() {
    let name = "rows_that_change_while_images_are_compiled_stay_as_they_were_written";
    if !have(name, &COMPILERS) {
        return;
    }
    let deployed = Deployed::new();
    // A compiler that first replaces the table by one without the first device's row, as another `tune` could do
    // meanwhile.
    let mut changed = deployed.table();
    let [l4, _, strix_halo, _] = devices();
    let emptied = changed.replace_device(&l4, vec![]);
    emptied.expect("a device may have no rows");
    deployed.crate_.write("changed.toml", &changed.to_text());
    let clang = HipCompiler::new("gfx1151").expect("clang should be found");
    let script = format!(
        "cp '{root}/changed.toml' '{root}/{TABLE}'\nexec '{clang}' \"$@\"",
        root = deployed.crate_.path().display(),
        clang = clang.program().display(),
    );
    let wrapper = write_script(&deployed.crate_.path().join("clang++"), &script);
    let mut tune = deployed.crate_.tune("bake --images");
    let said = stdout(&expect_code(tune.env("KILN_HIP_CLANG", &wrapper), 0));
    assert!(said.contains("the row has changed meanwhile"), "{said}");
    assert!(said.contains("3 of 4 rows have an image"), "{said}");
    assert_eq!(deployed.table().device_rows(&l4).count(), 0);
    assert!(deployed.path_of(&deployed.image_of(&strix_halo)).exists());
}

#[test]
fn images_that_no_row_names_any_more_are_removed() {
    let name = "images_that_no_row_names_any_more_are_removed";
    if !have(name, &COMPILERS) {
        return;
    }
    let deployed = Deployed::new().with_images();
    let old = deployed.image_of(&here());
    deployed.name_image(&here(), None);
    let said = deployed.tune("bake --check", 0);
    assert!(
        said.contains(&old.file) && said.contains("no row names this image"),
        "{said}"
    );
    let said = deployed.tune("bake --check --images", 1);
    assert!(
        said.contains("has no image; run `tune bake --images`"),
        "{said}"
    );
    // A file of the user, and a file of a kernel with a longer name, must not be removed.
    for file in [
        "tuned/notes.txt",
        "tuned/shift_2-sm_89-0123456789abcdef.cubin",
    ] {
        deployed.crate_.write(file, "");
    }
    let said = deployed.tune("bake --images --target gfx1151", 0);
    assert!(
        said.contains("removed ") && said.contains(&old.file),
        "{said}"
    );
    assert!(!deployed.path_of(&old).exists());
    assert_eq!(deployed.folder().len(), 8);
    let said = deployed.tune("bake --images --target sm_75", 2);
    assert!(
        said.contains("no row is baked for it (rows are baked for: "),
        "{said}"
    );
}

#[test]
fn a_flipped_or_missing_image_ends_the_check_and_the_build() {
    let name = "a_flipped_or_missing_image_ends_the_check_and_the_build";
    if !have(name, &COMPILERS) {
        return;
    }
    let deployed = Deployed::new().with_images();
    for device in devices() {
        let image = deployed.image_of(&device);
        let path = deployed.path_of(&image);
        let whole = fs::read(&path).expect("the image should be read");
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        let cut = whole[..whole.len() - 1].to_vec();
        for damaged in [flipped, cut] {
            fs::write(&path, damaged).expect("the image should be written");
            let said = deployed.tune("bake --check", 1);
            assert!(
                said.contains("its hash is ") && said.contains(&image.file),
                "{said}"
            );
        }
        let error = deployed.build_error();
        assert!(
            error.contains(&format!("its row says {}", image.hash)),
            "{error}"
        );
        fs::remove_file(&path).expect("the image should be removed");
        let said = deployed.tune("bake --check", 1);
        assert!(said.contains("it cannot be read"), "{said}");
        // The help mentions the command that writes images, and this command works.
        assert!(
            said.contains("not up to date\nhelp: run `tune bake --images`"),
            "{said}"
        );
        assert!(!said.contains("help: run `tune bake`"), "{said}");
        deployed.tune("bake --images", 0);
        deployed.tune("bake --check", 0);
        fs::write(&path, whole).expect("the image should be written");
    }
    deployed.tune("bake --check", 0);
}

/// Checks that a run without compilers failed with a clear message, and returns the message.
fn refused(ran: &Ran) -> &str {
    assert!(!ran.succeeded && ran.out.is_empty(), "{ran:?}");
    println!("{}", ran.err.trim());
    assert!(
        ran.err.contains("an embedded image that is refused"),
        "{ran:?}"
    );
    assert!(ran.err.contains("a C++ compiler was not found"), "{ran:?}");
    assert!(
        ran.err
            .contains("help: run `tune bake --images` and build the program again"),
        "{ran:?}"
    );
    &ran.err
}

#[test]
fn an_image_that_is_flipped_cut_off_or_foreign_is_refused_with_the_reason() {
    let name = "an_image_that_is_flipped_cut_off_or_foreign_is_refused_with_the_reason";
    if !have(name, &COMPILERS) {
        return;
    }
    let deployed = Deployed::new().with_images();
    let image = deployed.image_of(&here());
    let whole = fs::read(deployed.path_of(&image)).expect("the image should be read");
    flip_in_the_program(&deployed, &whole);
    // In the cases below, the row has the hash of the changed image, so the image is taken for the baked one.
    let mut code = whole.clone();
    code[18] = 243;
    let of = |device: usize| {
        let path = deployed.path_of(&deployed.image_of(&devices()[device]));
        fs::read(path).expect("the image should be read")
    };
    let cases: [(&[u8], &str, &str); 5] = [
        (
            &whole[..whole.len() - 1],
            "the image is cut off: its section table ends at byte ",
            "is cut off",
        ),
        (
            &whole[..20],
            "the image is cut off: its header ends at byte 64, but it has 20 bytes",
            "is cut off",
        ),
        (
            &code,
            "the image is for machines of the ELF number 243, not for x86-64 processors",
            "ELF number 243",
        ),
        (
            &of(0),
            "the image is for NVIDIA GPUs, not for x86-64 processors",
            "NVIDIA GPUs",
        ),
        (
            &of(2),
            "the image is for AMD GPUs, not for x86-64 processors",
            "AMD GPUs",
        ),
    ];
    for (bytes, reason, found_by_check) in cases {
        deployed.pretend_baked(bytes);
        let said = deployed.tune("bake --check", 1);
        assert!(said.contains(found_by_check), "{said}");
        let ran = deployed.build().run_bare();
        assert!(
            refused(&ran).contains(reason),
            "no `{reason}` in {}",
            ran.err
        );
    }
}

/// Builds the program, and flips one bit of the image inside it.
fn flip_in_the_program(deployed: &Deployed, image: &[u8]) {
    let program = deployed.build();
    let mut bytes = fs::read(program.path()).expect("the program should be read");
    let at = bytes.windows(image.len()).position(|part| part == image);
    let at = at.expect("the image should be in the program");
    bytes[at + image.len() / 2] ^= 4;
    fs::write(program.path(), bytes).expect("the program should be written");
    let ran = program.run_bare();
    let said = refused(&ran);
    assert!(
        said.contains("the image has hash ") && said.contains("but the one that was baked has "),
        "{said}"
    );
}

#[test]
fn an_image_of_another_device_in_a_row_ends_the_build() {
    let name = "an_image_of_another_device_in_a_row_ends_the_build";
    if !have(name, &COMPILERS) {
        return;
    }
    let deployed = Deployed::new().with_images();
    let [l4, rtx, ..] = devices();
    deployed.name_image(&l4, deployed.image_of(&rtx));
    let said = deployed.tune("bake --check", 1);
    assert!(
        said.contains("it is for sm_86, not for the row's device"),
        "{said}"
    );
    let error = deployed.build_error();
    assert!(
        error
            .contains("is for sm_86, which is not the target of images for `cuda/sm_89/NVIDIA L4`"),
        "{error}"
    );
}

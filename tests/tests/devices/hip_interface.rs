//! Checks that the hip backend's declarations of the vendor's interface agree with the vendor's headers.
use std::fmt::Write as _;
use std::process::Command;

use kiln::backend::hip::{ARCH_NAME_OFFSETS, Interface, interface};
use kiln_tests::capability::{Need, have};

/// A C file that compiles only if the headers agree. It is C because some functions have overloads in C++.
fn assertions(interface: &Interface) -> String {
    let mut text = String::from(
        "#define __HIP_PLATFORM_AMD__ 1\n#include <stddef.h>\n#include <hip/hip_runtime_api.h>\n",
    );
    let mut line = |condition: String| {
        let _ = writeln!(text, "_Static_assert({condition}, \"\");");
    };
    for function in &interface.functions {
        let parameters = if function.parameters.is_empty() {
            "void".to_owned()
        } else {
            function.parameters.join(", ")
        };
        let (name, result) = (function.name, &function.result);
        line(format!(
            "__builtin_types_compatible_p(__typeof__({name}), {result}({parameters}))"
        ));
    }
    for (name, bytes) in &interface.sizes {
        line(format!("sizeof({name}) == {bytes}"));
    }
    for (name, number) in &interface.numbers {
        line(format!("{name} == {number}"));
    }
    let [before_6, since_6] = ARCH_NAME_OFFSETS;
    text += "#if HIP_VERSION_MAJOR < 6\n#define ARCH_NAME ";
    let _ = writeln!(
        text,
        "{before_6}\n#else\n#define ARCH_NAME {since_6}\n#endif"
    );
    text += "_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == ARCH_NAME, \"\");\n\
             _Static_assert(sizeof(hipDeviceProp_t) <= 8192, \"\");\n\
             _Static_assert(sizeof(((hipDeviceProp_t*)0)->gcnArchName) == 256, \"\");\n";
    text
}

/// The errors of gcc for a C file. The text is empty if the file compiles.
fn compile(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let file = folder.path().join("interface.c");
    std::fs::write(&file, text).expect("the file should be written");
    let output = Command::new("g++")
        .args(["-x", "c", "-std=c11", "-fsyntax-only", "-w"])
        .arg(&file)
        .output()
        .expect("g++ should start");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}

#[test]
fn every_function_type_and_number_is_as_the_headers_declare_it() {
    if !have(
        "every_function_type_and_number_is_as_the_headers_declare_it",
        &[Need::HipHeaders],
    ) {
        return;
    }
    let interface = interface();
    assert!(interface.functions.len() >= 35 && interface.numbers.len() >= 40);
    let said = compile(&assertions(&interface));
    assert!(said.is_empty(), "{said}");
}

#[test]
fn a_declaration_number_or_size_that_differs_does_not_compile() {
    if !have(
        "a_declaration_number_or_size_that_differs_does_not_compile",
        &[Need::HipHeaders],
    ) {
        return;
    }
    type Change = fn(&mut Interface);
    let changes: [(&str, Change); 6] = [
        ("an argument more", |interface| {
            interface.functions[3].parameters.push("int".into());
        }),
        ("an argument of another size", |interface| {
            let parameters = &mut interface
                .functions
                .iter_mut()
                .find(|f| f.name == "hipMalloc");
            let parameters = &mut parameters.as_mut().expect("it is used").parameters;
            parameters[1] = "unsigned int".into();
        }),
        ("another handle", |interface| {
            let event = interface
                .functions
                .iter_mut()
                .find(|f| f.name == "hipEventRecord");
            event.expect("it is used").parameters.swap(0, 1);
        }),
        ("another number", |interface| interface.numbers[7].1 += 1),
        ("a name that is not there", |interface| {
            interface.numbers[7].0 = "hipErrorOfKiln"
        }),
        ("another size", |interface| interface.sizes[0].1 += 4),
    ];
    for (what, change) in changes {
        let mut interface = interface();
        change(&mut interface);
        assert!(!compile(&assertions(&interface)).is_empty(), "{what}");
    }
}

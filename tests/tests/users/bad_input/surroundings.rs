//! Unsuitable environment variables, compilers and folders.

use super::case::{Case, case};

pub fn cases() -> Vec<Case> {
    let mut all = variables();
    all.extend(compilers());
    all.extend(places());
    all
}

fn variables() -> Vec<Case> {
    vec![
        case("a relative cache folder")
            .runs("KILN_CACHE=rel/path $TUNE run --device cpu")
            .says("error: KILN_CACHE is \"rel/path\", which is a relative path"),
        case("an empty cache folder")
            .runs("KILN_CACHE= $TUNE run --device cpu")
            .says("error: KILN_CACHE is \"\", which is empty"),
        case("nothing that says where the cache is")
            .runs("env -u KILN_CACHE -u HOME $TUNE cache path")
            .says("error: none of KILN_CACHE, XDG_CACHE_HOME and HOME is set"),
        case("a bound of the artifacts that is not a number")
            .runs("KILN_CACHE_BYTES=2GiB $TUNE run --device cpu")
            .says("error: KILN_CACHE_BYTES is \"2GiB\", which is not a number of bytes"),
        case("a limit of compiles that is not a number of seconds")
            .runs("KILN_COMPILE_LIMIT_S=2m $TUNE run --device cpu")
            .says("error: KILN_COMPILE_LIMIT_S is \"2m\", which is not a number of seconds from 1 to 86400"),
        case("no threads")
            .runs("KILN_CPU_THREADS=0 $TUNE run --device cpu")
            .says("error: KILN_CPU_THREADS is \"0\", not a number from 1 to 1024"),
        case("threads that are not a number")
            .runs("KILN_CPU_THREADS=many $TUNE run --device cpu")
            .says("error: KILN_CPU_THREADS is \"many\", not a number from 1 to 1024"),
    ]
}

fn compilers() -> Vec<Case> {
    vec![
        case("a compiler that is not there")
            .runs("KILN_CXX=/nonexistent/g++ $TUNE run --device cpu")
            .says("error: the C++ compiler `/nonexistent/g++` was not found (it does not run)"),
        case("a compiler that is none")
            .runs("KILN_CXX=/bin/true $TUNE run --device cpu")
            .says("error: the C++ compiler `/bin/true` was not found (it is neither clang++ nor g++)"),
        case("a compiler that is a folder")
            .runs("KILN_CXX=$ROOT $TUNE run --device cpu")
            .says("error: the C++ compiler `<root>` was not found (it does not run)"),
        case("a compiler that fails")
            .prepare(
                "printf '#!/bin/sh\\nif [ \"$1\" = --version ]; then echo Debian clang version 19.1.7; exit 0; fi\\n\
                 echo boom >&2; exit 7\\n' > cxx; chmod +x cxx",
            )
            .runs("KILN_CXX=$ROOT/cxx $TUNE run --device cpu")
            .says("tune: scale (n=10000): the baseline does not work: compile failed: `scale_<hash>` does not compile: boom"),
        case("a compiler that is too old")
            .prepare(
                "printf '#!/bin/sh\\necho Ubuntu clang version 16.0.6\\n' > cxx; chmod +x cxx",
            )
            .runs("KILN_CXX=$ROOT/cxx $TUNE run --device cpu")
            .says("error: a usable version of the C++ compiler `<root>/cxx` was not found (it is clang++ 16.0.6)"),
        case("a compiler with arguments")
            .runs("KILN_CXX='g++ -m32' $TUNE run --device cpu")
            .says(
                "error: the C++ compiler `g++ -m32` was not found (it does not run)\n\
                 help: set KILN_CXX to clang++ or g++, as one program without arguments",
            ),
        case("a memory limit that is lower than that of compilers")
            .runs("ulimit -v 3900000; $TUNE devices | grep -q 'no compiler' && echo none || echo found")
            .prints("found"),
        case("no compiler")
            .prepare("mkdir bin; ln -s \"$(command -v cargo)\" \"$(command -v rustc)\" bin/")
            .runs("PATH=$ROOT/bin $TUNE run --device cpu")
            .says("error: a C++ compiler was not found (clang++ 19 or newer, g++ 12 or newer, on PATH)"),
        case("no cargo")
            .runs("env -u CARGO PATH=/nonexistent $TUNE list")
            .says("error: cannot start cargo: No such file or directory (os error 2)"),
    ]
}

fn places() -> Vec<Case> {
    vec![
        case("a cache that is a file")
            .runs("KILN_CACHE=$ROOT/Cargo.toml $TUNE run --device cpu")
            .says("error: cannot use the cache folder <root>/Cargo.toml: File exists (os error 17)"),
        case("a cache below a file")
            .runs("KILN_CACHE=$ROOT/Cargo.toml/cache $TUNE run --device cpu")
            .says("error: cannot use the cache folder <root>/Cargo.toml/cache: Not a directory (os error 20)"),
        case("a cache where nothing can be written")
            .runs("KILN_CACHE=/proc/kiln $TUNE run --device cpu")
            .says("error: cannot use the cache folder /proc/kiln: No such file or directory (os error 2)"),
        case("a cache that anybody may write to")
            .prepare("mkdir -m 777 cache")
            .runs("$TUNE run --device cpu")
            .says("error: the cache folder <root>/cache has mode 777: anybody may change it"),
        case("no folder for what is temporary")
            .baked()
            .runs("TMPDIR=$ROOT/none $TUNE smoke --device cpu")
            .says("error: cannot create a folder for temporary files in <root>/none: No such file or directory (os error 2)"),
        case("a build folder that is a file")
            .prepare("touch target")
            .runs("$TUNE run --device cpu --trials 1")
            .says("error: cannot write tables into <root>/target/kiln/tuned/tiny: Not a directory (os error 20)\nhelp: make <root>/target a writable folder; nothing was measured yet"),
        case("a full standard output")
            .runs("$TUNE list > /dev/full")
            .says("error: cannot write to standard output: No space left on device (os error 28)"),
    ]
}

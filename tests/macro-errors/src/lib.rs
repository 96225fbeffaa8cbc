//! A package for the test of the macro's error messages. trybuild builds the dependencies of the tested package again,
//! with that package's features, so this package has few dependencies and features.
#![forbid(unsafe_code)]

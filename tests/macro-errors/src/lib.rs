//! A package for one test. trybuild builds the dependencies of the package that it tests once more, with its features: here
//! there are few of both.
#![forbid(unsafe_code)]

//! The messages between the parent and a compile server.

use std::path::PathBuf;
use std::sync::Arc;

use kiln::compiler::{CompileError, CompileRequest};
use kiln::recipe::Recipe;
use serde::{Deserialize, Serialize};

/// The first source that a server compiles. Compiling it loads the library and unpacks the headers before the first
/// request.
pub(super) const FIRST: &str = "extern \"C\" __attribute__((global)) void kiln_first() {}\n";

/// The compiler that a server opens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompilerJob {
    /// The version of the worker protocol.
    pub protocol: u32,
    /// The path of the compiler library.
    pub library: PathBuf,
    /// The target architecture.
    pub arch: String,
    /// The identity string of the compiler in the parent. If the library at `library` has another identity, opening it
    /// is an error.
    pub identity: String,
}

/// A request to compile one source text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompileJob {
    /// The source text.
    pub source: String,
    /// The name of the source in messages.
    pub name: String,
    /// Options that follow the compiler's own options.
    pub options: Vec<String>,
    /// Saved headers and flags, which replace the compiler's own; `None` to use the compiler's own.
    #[serde(default)]
    pub recipe: Option<SentRecipe>,
    /// Limit of the server's address space in bytes; 0 for no limit.
    pub memory_bytes: u64,
}

/// A [`Recipe`] (saved headers and flags), in the form in which it is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SentRecipe {
    flags: Option<Vec<String>>,
    headers: Vec<(String, String)>,
}

impl SentRecipe {
    pub(super) fn of(recipe: &Recipe) -> SentRecipe {
        SentRecipe {
            flags: recipe.flags.clone(),
            headers: recipe.headers().to_vec(),
        }
    }

    pub(super) fn into_recipe(self) -> Result<Arc<Recipe>, CompileError> {
        let recipe = Recipe::new(self.headers, self.flags).map(Arc::new);
        recipe.map_err(|outside| CompileError::io("taking a header", outside))
    }
}

/// The result of a compile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum JobOutcome {
    /// The source compiled.
    Done {
        /// The compiled image.
        image: Vec<u8>,
        /// The compiler's log.
        log: String,
    },
    /// The compile failed, for this reason.
    Refused(Refused),
}

/// A [`CompileError`], in the form in which it is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Refused {
    /// A part is not installed: its name, the places that were searched, and the help text.
    NotFound(String, String, String),
    /// The compiler does not support such a build: a description of the build, and the help text.
    Unsupported(String, String),
    /// The source does not compile: the options, and the log.
    Failed(Vec<String>, String),
    /// A header is not installed: what is missing, the help text, and the log.
    MissingHeader(String, String, String),
    /// Memory ran out: the options, and the log.
    OutOfMemory(Vec<String>, String),
    /// A file or the compiler could not be used: the message.
    Io(String),
}

impl From<CompileError> for Refused {
    fn from(error: CompileError) -> Refused {
        match error {
            CompileError::NotFound { what, looked, help } => Refused::NotFound(what, looked, help),
            CompileError::Unsupported { what, help } => Refused::Unsupported(what, help),
            CompileError::Failed { options, log, .. } => Refused::Failed(options, log),
            CompileError::MissingHeader {
                what, help, log, ..
            } => Refused::MissingHeader(what, help, log),
            CompileError::OutOfMemory { options, log, .. } => Refused::OutOfMemory(options, log),
            other => Refused::Io(other.to_string()),
        }
    }
}

impl Refused {
    pub(super) fn into_error(self, request: &CompileRequest) -> CompileError {
        let name = request.name.clone();
        match self {
            Refused::NotFound(what, looked, help) => CompileError::NotFound { what, looked, help },
            Refused::Unsupported(what, help) => CompileError::Unsupported { what, help },
            Refused::Failed(options, log) => CompileError::Failed { name, options, log },
            Refused::MissingHeader(what, help, log) => CompileError::MissingHeader {
                name,
                what,
                help,
                log,
            },
            Refused::OutOfMemory(options, log) => CompileError::OutOfMemory {
                name,
                options,
                memory_bytes: request.limits.memory_bytes,
                log,
            },
            Refused::Io(text) => CompileError::io("compiling in another process", text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_out_of_the_pipe_as_it_went_in() {
        let request = CompileRequest::new("k", "");
        let memory_bytes = request.limits.memory_bytes;
        let (name, options, log) = (
            "k".to_owned(),
            vec!["-a".to_owned()],
            "error: x\n".to_owned(),
        );
        let errors = [
            CompileError::NotFound {
                what: "a".into(),
                looked: "b".into(),
                help: "c".into(),
            },
            CompileError::Unsupported {
                what: "a".into(),
                help: "b".into(),
            },
            CompileError::Failed {
                name: name.clone(),
                options: options.clone(),
                log: log.clone(),
            },
            CompileError::MissingHeader {
                name: name.clone(),
                what: "`a.h` is not installed".into(),
                help: "b".into(),
                log: log.clone(),
            },
            CompileError::OutOfMemory {
                name,
                options,
                memory_bytes,
                log,
            },
        ];
        for error in errors {
            let text = serde_json::to_string(&Refused::from(error.clone())).unwrap();
            let back: Refused = serde_json::from_str(&text).unwrap();
            assert_eq!(back.into_error(&request), error);
        }
        let other = Refused::from(CompileError::io("writing", "disk full"));
        assert!(other.into_error(&request).to_string().contains("disk full"));
    }
}

//! The messages between parent and compile server.

use std::path::PathBuf;
use std::sync::Arc;

use kiln::compiler::{CompileError, CompileRequest};
use kiln::recipe::Recipe;
use serde::{Deserialize, Serialize};

/// The first source that a server compiles, so that the library is loaded and headers are unpacked before the first
/// request.
pub(super) const FIRST: &str = "extern \"C\" __attribute__((global)) void kiln_first() {}\n";

/// The compiler that a server opens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompilerJob {
    /// The protocol's version.
    pub protocol: u32,
    /// Its library.
    pub library: PathBuf,
    /// The target that it compiles for.
    pub arch: String,
    /// The parent's identity string of the compiler. A library at that path with another identity is refused.
    pub identity: String,
}

/// One compile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompileJob {
    /// The source text.
    pub source: String,
    /// A name for messages.
    pub name: String,
    /// Options after the compiler's own.
    pub options: Vec<String>,
    /// Headers and flags that replace the compiler's own.
    #[serde(default)]
    pub recipe: Option<SentRecipe>,
    /// Address space of the server, in bytes; 0 for unlimited.
    pub memory_bytes: u64,
}

/// A [`Recipe`] in a message.
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
    /// The image and the compiler's log.
    Done {
        /// The image.
        image: Vec<u8>,
        /// The log.
        log: String,
    },
    /// Why there is no image.
    Refused(Refused),
}

/// A [`CompileError`] in a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Refused {
    /// Something is not installed: its name, the places that were searched, the help.
    NotFound(String, String, String),
    /// The compiler cannot make such a build: which, and the help.
    Unsupported(String, String),
    /// The source does not compile: the options and the log.
    Failed(Vec<String>, String),
    /// Memory ran out: the options and the log.
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

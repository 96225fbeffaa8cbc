//! The functions of `libhiprtc`, AMD's run-time compiler.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::backend::gpu::ffi::symbol;
use crate::backend::shared_library::LibraryError;

type Program = *mut c_void;
type Strings = *mut *const c_char;

macro_rules! functions {
    ($($field:ident = $symbol:literal($($arg:ty),* $(,)?) -> $result:ty;)*) => {
        /// The functions of `hip/hiprtc.h` that every version since 5.2 has. They return numbers of the type
        /// `hiprtcResult`.
        struct Functions {
            $($field: unsafe extern "C" fn($($arg),*) -> $result,)*
            /// The library is never unloaded, because the compiler in it has its own threads and registrations.
            _library: ManuallyDrop<Library>,
        }

        impl Functions {
            /// Looks up every function.
            fn of(library: Library) -> Result<Functions, LibraryError> {
                Ok(Functions {
                    // SAFETY: the vendor's header declares these symbols with these types.
                    $($field: unsafe { symbol(&library, concat!($symbol, "\0"))? },)*
                    _library: ManuallyDrop::new(library),
                })
            }
        }
    };
}

functions! {
    error_string = "hiprtcGetErrorString"(c_int) -> *const c_char;
    create = "hiprtcCreateProgram"(*mut Program, *const c_char, *const c_char, c_int, Strings, Strings) -> c_int;
    destroy = "hiprtcDestroyProgram"(*mut Program) -> c_int;
    compile = "hiprtcCompileProgram"(Program, c_int, Strings) -> c_int;
    log_size = "hiprtcGetProgramLogSize"(Program, *mut usize) -> c_int;
    log = "hiprtcGetProgramLog"(Program, *mut c_char) -> c_int;
    code_size = "hiprtcGetCodeSize"(Program, *mut usize) -> c_int;
    code = "hiprtcGetCode"(Program, *mut c_char) -> c_int;
}

/// A loaded `libhiprtc`.
pub(in crate::backend::hip) struct Hiprtc {
    functions: Functions,
}

/// One source text to compile, and all headers that it may include.
pub(in crate::backend::hip) struct HiprtcUnit<'a> {
    /// The source text.
    pub source: &'a CStr,
    /// The names and texts of the headers.
    pub headers: &'a [(CString, CString)],
    /// The options of the compile, in order.
    pub options: &'a [CString],
}

/// The result of one compile.
pub(in crate::backend::hip) struct HiprtcOutput {
    /// The library's result code.
    pub code: i32,
    /// The complete log.
    pub log: String,
    /// The image; empty unless the result code is 0.
    pub image: Vec<u8>,
}

impl Hiprtc {
    /// Loads the library at a path without calling it.
    ///
    /// # Errors
    /// The error of the dynamic loader, or the missing symbol.
    pub fn load(file: &Path) -> Result<Hiprtc, LibraryError> {
        // SAFETY: the file was checked to be a complete library for this machine. It comes from the vendor, so its
        // initialisers do only what is necessary to load the library.
        let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
        let functions = Functions::of(library.map_err(|error| LibraryError::Refused { error })?)?;
        Ok(Hiprtc { functions })
    }

    /// The library's description of a result code.
    pub fn error_text(&self, code: i32) -> String {
        // SAFETY: `error_string` accepts any number.
        let text = unsafe { (self.functions.error_string)(code) };
        if text.is_null() {
            return format!("error {code} of hiprtc");
        }
        // SAFETY: the pointer is not null, as checked above, and the text is a static string.
        let text = unsafe { CStr::from_ptr(text) };
        format!("{} ({code})", text.to_string_lossy())
    }

    /// Compiles one source text. The library compiles only one text at a time, so other threads wait.
    pub fn compile(&self, unit: &HiprtcUnit<'_>) -> HiprtcOutput {
        let mut program = match self.create(unit) {
            Ok(program) => program,
            Err(code) => return HiprtcOutput::failed(code),
        };
        let mut options: Vec<*const c_char> = unit.options.iter().map(|o| o.as_ptr()).collect();
        let count = options.len() as c_int;
        let functions = &self.functions;
        // SAFETY: the program was created, and `options` contains `count` options.
        let code = unsafe { (functions.compile)(program.handle, count, options.as_mut_ptr()) };
        let mut compiled = HiprtcOutput::failed(code);
        compiled.log = program.log();
        if code == 0 {
            match program.bytes(functions.code_size, functions.code) {
                Ok(image) => compiled.image = image,
                Err(code) => compiled.code = code,
            }
        }
        compiled
    }

    fn create(&self, unit: &HiprtcUnit<'_>) -> Result<HiprtcProgram<'_>, i32> {
        let (mut names, mut texts): (Vec<_>, Vec<_>) = unit
            .headers
            .iter()
            .map(|(name, text)| (name.as_ptr(), text.as_ptr()))
            .unzip();
        let count = names.len() as c_int;
        let mut handle: Program = std::ptr::null_mut();
        // SAFETY: the library copies the strings, and there are as many headers as names.
        let code = unsafe {
            (self.functions.create)(
                &raw mut handle,
                unit.source.as_ptr(),
                c"kernel.hip".as_ptr(),
                count,
                texts.as_mut_ptr(),
                names.as_mut_ptr(),
            )
        };
        let hiprtc = self;
        match code {
            0 => Ok(HiprtcProgram { hiprtc, handle }),
            code => Err(code),
        }
    }
}

impl HiprtcOutput {
    fn failed(code: i32) -> HiprtcOutput {
        HiprtcOutput {
            code,
            log: String::new(),
            image: Vec::new(),
        }
    }
}

/// A program of the library, which is destroyed on drop.
struct HiprtcProgram<'a> {
    hiprtc: &'a Hiprtc,
    handle: Program,
}

impl HiprtcProgram<'_> {
    fn log(&mut self) -> String {
        let functions = &self.hiprtc.functions;
        let log = self.bytes(functions.log_size, functions.log);
        let mut log = log.unwrap_or_default();
        // In some versions, a zero byte ends the log.
        if let Some(end) = log.iter().position(|&byte| byte == 0) {
            log.truncate(end);
        }
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Calls a pair of functions. The first returns a size, and the second returns that many bytes.
    fn bytes(
        &mut self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, i32> {
        let mut len = 0;
        // SAFETY: the program was created, and the library writes only to `len`, a local integer.
        let code = unsafe { size(self.handle, &raw mut len) };
        if code != 0 {
            return Err(code);
        }
        let mut bytes = vec![0; len];
        // SAFETY: the buffer has the size that the library returned.
        let code = unsafe { get(self.handle, bytes.as_mut_ptr().cast()) };
        if code == 0 { Ok(bytes) } else { Err(code) }
    }
}

impl Drop for HiprtcProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created, and nothing uses it any more.
        let _ = unsafe { (self.hiprtc.functions.destroy)(&raw mut self.handle) };
    }
}

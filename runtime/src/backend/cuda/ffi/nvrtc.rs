//! The functions of NVRTC.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL};

use super::{open, symbol};
use crate::backend::cuda::library_error::NvrtcLibraryError;
use crate::backend::shared_library::LibraryError;
use crate::compiler::CompileLimits;
use crate::supervise::thread_cpu_ns;

type Program = *mut c_void;
type Strings = *const *const c_char;
type FlowCallback = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

functions! {
    /// The functions of NVRTC (`nvrtc.h`) that Kiln requires. Every version since 11.1 has them.
    NvrtcFunctions {
        version = "nvrtcVersion"(*mut c_int, *mut c_int);
        create = "nvrtcCreateProgram"(*mut Program, *const c_char, *const c_char, c_int, Strings, Strings);
        destroy = "nvrtcDestroyProgram"(*mut Program);
        compile = "nvrtcCompileProgram"(Program, c_int, Strings);
        log_size = "nvrtcGetProgramLogSize"(Program, *mut usize);
        log = "nvrtcGetProgramLog"(Program, *mut c_char);
        cubin_size = "nvrtcGetCUBINSize"(Program, *mut usize);
        cubin = "nvrtcGetCUBIN"(Program, *mut c_char);
        ptx_size = "nvrtcGetPTXSize"(Program, *mut usize);
        ptx = "nvrtcGetPTX"(Program, *mut c_char);
        arch_count = "nvrtcGetNumSupportedArchs"(*mut c_int);
        archs = "nvrtcGetSupportedArchs"(*mut c_int);
    }
}

/// A loaded NVRTC.
pub(in crate::backend::cuda) struct Nvrtc {
    functions: NvrtcFunctions,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    /// Sets a callback that decides between two steps of a compile whether to continue. NVRTC 12.9 and later have it.
    set_flow_callback: Option<unsafe extern "C" fn(Program, FlowCallback, *mut c_void) -> c_int>,
    /// Whether this NVRTC contains the CUDA headers.
    pub bundles_headers: bool,
    /// NVRTC's builtins libraries. They are loaded first and with global symbols, so NVRTC finds them wherever it is
    /// installed.
    _builtins: Vec<Library>,
    _library: Library,
}

/// The result of one compile.
pub(in crate::backend::cuda) struct NvrtcOutput {
    /// NVRTC's result code.
    pub code: i32,
    /// Whether the compile was cancelled at its deadline.
    pub cut: bool,
    /// The complete log.
    pub log: String,
    /// The image; empty unless the result code is 0.
    pub image: Vec<u8>,
}

/// The kind of image to which NVRTC compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend::cuda) enum ImageKind {
    /// Machine code.
    Cubin,
    #[cfg_attr(not(feature = "sim"), expect(dead_code))]
    /// Text that ptxas compiles to machine code. It ends with a zero byte, as in the results of `nvrtcGetPTX`.
    Ptx,
}

impl Nvrtc {
    /// Loads the `builtins` libraries and then NVRTC itself.
    ///
    /// # Errors
    /// The file that cannot be loaded and the reason, or the symbol that is missing.
    pub fn load(file: &Path, builtins: &[PathBuf]) -> Result<Nvrtc, NvrtcLibraryError> {
        let builtins = builtins
            .iter()
            .map(|path| {
                open(path, RTLD_GLOBAL).map_err(|error| NvrtcLibraryError::of_file(path, error))
            })
            .collect::<Result<_, _>>()?;
        let library =
            open(file, RTLD_LOCAL).map_err(|error| NvrtcLibraryError::of_file(file, error))?;
        let functions = NvrtcFunctions::of(&library)
            .map_err(|error| NvrtcLibraryError::of_file(file, error))?;
        // SAFETY: `nvrtc.h` declares the function with this type.
        let error_string = unsafe { symbol(&library, "nvrtcGetErrorString") };
        // SAFETY: `nvrtc.h` of version 12.9 and later declares the function with this type.
        let set_flow_callback = unsafe { symbol(&library, "nvrtcSetFlowCallback") }.ok();
        // SAFETY: the symbol is never used. Only its existence matters.
        let bundled = unsafe { symbol::<*const c_void>(&library, "nvrtcInstallBundledHeaders") };
        Ok(Nvrtc {
            functions,
            error_string: error_string
                .map_err(|error: LibraryError| NvrtcLibraryError::of_file(file, error))?,
            set_flow_callback,
            bundles_headers: bundled.is_ok(),
            _builtins: builtins,
            _library: library,
        })
    }

    /// The major and minor version of NVRTC.
    pub fn version(&self) -> Result<(u32, u32), NvrtcLibraryError> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: NVRTC writes only to `major` and `minor`, which are local integers.
        let code = unsafe { (self.functions.version)(&raw mut major, &raw mut minor) };
        match (code, u32::try_from(major), u32::try_from(minor)) {
            (0, Ok(major), Ok(minor)) => Ok((major, minor)),
            _ => Err(NvrtcLibraryError::Version { code, major, minor }),
        }
    }

    /// The numbers of the architectures that this NVRTC supports, such as 89 for `sm_89`. Empty if it does not report
    /// them.
    pub fn archs(&self) -> Vec<i32> {
        let mut count = 0;
        // SAFETY: NVRTC writes only to `count`, a local integer.
        let code = unsafe { (self.functions.arch_count)(&raw mut count) };
        let count = usize::try_from(count).unwrap_or(0);
        if code != 0 || count == 0 || count > 1000 {
            return Vec::new();
        }
        let mut archs = vec![0; count];
        // SAFETY: the buffer has room for as many numbers as the library returned.
        let code = unsafe { (self.functions.archs)(archs.as_mut_ptr()) };
        if code == 0 { archs } else { Vec::new() }
    }

    /// NVRTC's description of a result code.
    pub fn error_text(&self, code: i32) -> String {
        // SAFETY: `nvrtcGetErrorString` accepts any number, and returns null or a static text.
        let text = unsafe { (self.error_string)(code) };
        if text.is_null() {
            return format!("NVRTC result {code}");
        }
        // SAFETY: the pointer is not null, as checked above, and the text ends with a zero byte like every C string.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_string_lossy().into_owned()
    }

    /// Compiles one source text. The compile is cancelled at its limit of time if this NVRTC supports it.
    pub fn compile(
        &self,
        source: &CStr,
        name: &CStr,
        options: &[CString],
        limits: &CompileLimits,
        kind: ImageKind,
    ) -> NvrtcOutput {
        let mut ended = NvrtcOutput {
            code: 0,
            cut: false,
            log: String::new(),
            image: Vec::new(),
        };
        let mut handle: Program = std::ptr::null_mut();
        let none = std::ptr::null();
        // SAFETY: NVRTC copies the source and the name, which are C strings, and there are no in-memory headers.
        ended.code = unsafe {
            (self.functions.create)(
                &raw mut handle,
                source.as_ptr(),
                name.as_ptr(),
                0,
                none,
                none,
            )
        };
        if ended.code != 0 {
            return ended;
        }
        let program = NvrtcProgram {
            nvrtc: self,
            handle,
        };
        let watch = CompileWatch {
            limits: *limits,
            start_cpu_ns: thread_cpu_ns(),
            cut: AtomicBool::new(false),
        };
        if let Some(set) = self.set_flow_callback {
            // SAFETY: the watch outlives the compile, and the callback accesses nothing else.
            let _ = unsafe { set(handle, past_limit, (&raw const watch).cast_mut().cast()) };
        }
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = options.len() as c_int;
        // SAFETY: the program was created, and `options` contains `count` options.
        ended.code = unsafe { (self.functions.compile)(handle, count, options.as_ptr()) };
        ended.cut = ended.code != 0 && watch.cut.load(Ordering::Relaxed);
        ended.log = program.log();
        if ended.code == 0 {
            match program.image(kind) {
                Ok(image) => ended.image = image,
                Err(code) => ended.code = code,
            }
        }
        ended
    }
}

/// The limits of a compile, and whether the compile was cancelled.
struct CompileWatch {
    limits: CompileLimits,
    start_cpu_ns: u64,
    cut: AtomicBool,
}

impl CompileWatch {
    /// Whether the compile has exceeded its limit. NVRTC calls back from the thread that compiles, so the CPU time of the
    /// calling thread is the CPU time of the compile. Wall time would also count the time in which the thread waits for
    /// other compiles of this process, which NVRTC parses one at a time, or for a processor.
    fn is_past(&self) -> bool {
        let taken = Duration::from_nanos(thread_cpu_ns().saturating_sub(self.start_cpu_ns));
        let is_end = |until| Instant::now() >= until;
        taken >= self.limits.deadline || self.limits.until.is_some_and(is_end)
    }
}

/// The callback of NVRTC. It returns 1, which cancels the compile, at every call after the limit.
unsafe extern "C" fn past_limit(watch: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: `watch` is the pointer that `compile` passed. Its target lives until the compile has ended.
    let watch = unsafe { &*watch.cast::<CompileWatch>() };
    let past = watch.is_past();
    if past {
        watch.cut.store(true, Ordering::Relaxed);
    }
    c_int::from(past)
}

/// A program of NVRTC, which is destroyed on drop.
struct NvrtcProgram<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl NvrtcProgram<'_> {
    /// The log. With the option `-v`, it has several parts, each of which ends with a zero byte: the errors of ptxas
    /// follow what it says about a kernel.
    fn log(&self) -> String {
        let functions = &self.nvrtc.functions;
        let log = self.bytes(functions.log_size, functions.log);
        let mut log = log.unwrap_or_default();
        log.retain(|&byte| byte != 0);
        String::from_utf8_lossy(&log).into_owned()
    }

    fn image(&self, kind: ImageKind) -> Result<Vec<u8>, i32> {
        let functions = &self.nvrtc.functions;
        match kind {
            ImageKind::Cubin => self.bytes(functions.cubin_size, functions.cubin),
            ImageKind::Ptx => self.bytes(functions.ptx_size, functions.ptx),
        }
    }

    /// Calls a pair of functions. The first returns a size, and the second returns that many bytes.
    fn bytes(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, i32> {
        let mut len = 0;
        // SAFETY: the program was created, and NVRTC writes only to `len`, a local integer.
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

impl Drop for NvrtcProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created, and nothing uses it any more.
        let _ = unsafe { (self.nvrtc.functions.destroy)(&raw mut self.handle) };
    }
}

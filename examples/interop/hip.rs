//! Launches a tuned kernel on the raw HIP pointers of a program, like an engine that calls `hipMalloc` itself.
//!
//! ```console
//! $ cargo run --example interop-hip
//! ```
//!
//! The example needs an AMD GPU. Without one it prints a message and ends. The program must vouch for its raw pointers,
//! so the functions that accept them are `unsafe`. Launches with the resulting slices are safe.

use std::error::Error;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use kiln::interop::{self, ForeignSlice, ForeignSliceMut};
use kiln::tuned_kernel;
use libloading::Library;

#[tuned_kernel(
    source = "scale.cu",
    untuned = allow,
    params(THREADS in [64, 128, 256]),
    baseline(THREADS = 128),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
)]
unsafe extern "C" {
    /// `y = by * x`.
    fn scale(n: u32, #[value(2.0)] by: f32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}

/// The number of elements of each array.
const N: usize = 1000;
const BYTES: usize = N * size_of::<f32>();

/// The values of `hipMemcpyHostToDevice` and `hipMemcpyDeviceToHost`.
const TO_DEVICE: c_int = 1;
const TO_HOST: c_int = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let device = match kiln::open("hip:0") {
        Ok(device) => device,
        Err(error) => {
            println!("nothing to launch on: {error}");
            return Ok(());
        }
    };
    let hip = Hip::load()?;
    let queue = hip.stream()?;
    let (x, y) = (hip.malloc(BYTES)?, hip.malloc(BYTES)?);
    hip.copy_in(x, &[21.0; N])?;

    // SAFETY: the stream belongs to device 0, which is `hip`'s current device, and is destroyed below, after `stream`
    // is dropped.
    let stream = unsafe { interop::stream_from_raw(device, queue, ()) }?;
    // SAFETY: both arrays come from `hipMalloc` and have N elements. `x` is initialised, and the kernel only writes
    // `y`. Nothing else uses the arrays, and they are freed below, after the stream is synchronised.
    let (from, mut to) = unsafe {
        (
            ForeignSlice::from_raw(&stream, x as u64, N),
            ForeignSliceMut::from_raw(&stream, y as u64, N),
        )
    };
    scale(&stream, N as u32, 2.0, &from, &mut to)?;
    stream.synchronize()?;
    drop(stream);

    println!("{}", hip.copy_out(y)?[N - 1]);
    hip.free(x)?;
    hip.free(y)?;
    hip.destroy(queue)
}

/// The functions of the HIP runtime that this program calls. All of them return 0 on success.
struct Hip {
    library: Library,
}

type Done = Result<(), Box<dyn Error>>;

impl Hip {
    /// Loads the HIP runtime. `kiln::open` succeeded, so the library is installed.
    fn load() -> Result<Hip, Box<dyn Error>> {
        let names = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"];
        // SAFETY: this is the vendor's library, and loading it runs only its own initialisers.
        let mut found = names.iter().map(|name| unsafe { Library::new(*name) });
        let library = found.find_map(Result::ok).ok_or("no libamdhip64.so")?;
        Ok(Hip { library })
    }

    /// Calls a function of two arguments.
    fn call<A, B>(&self, name: &str, a: A, b: B) -> Done {
        type Function<A, B> = unsafe extern "C" fn(A, B) -> c_int;
        // SAFETY: the callers below pass arguments as declared in the runtime's header.
        let code = unsafe { self.library.get::<Function<A, B>>(name)?(a, b) };
        checked(name, code)
    }

    fn stream(&self) -> Result<*mut c_void, Box<dyn Error>> {
        let mut stream: *mut c_void = null_mut();
        self.call("hipStreamCreateWithFlags", &raw mut stream, 0_u32)?;
        Ok(stream)
    }

    fn malloc(&self, bytes: usize) -> Result<*mut c_void, Box<dyn Error>> {
        let mut memory: *mut c_void = null_mut();
        self.call("hipMalloc", &raw mut memory, bytes)?;
        Ok(memory)
    }

    fn copy(&self, to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) -> Done {
        type Copy = unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int) -> c_int;
        // SAFETY: the runtime declares the function with this type; the callers below pass arrays of this many bytes.
        let code = unsafe { self.library.get::<Copy>("hipMemcpy")?(to, from, bytes, kind) };
        checked("hipMemcpy", code)
    }

    fn copy_in(&self, to: *mut c_void, host: &[f32; N]) -> Done {
        self.copy(to, host.as_ptr().cast(), BYTES, TO_DEVICE)
    }

    fn copy_out(&self, from: *mut c_void) -> Result<[f32; N], Box<dyn Error>> {
        let mut host = [0.0; N];
        self.copy(host.as_mut_ptr().cast(), from, BYTES, TO_HOST)?;
        Ok(host)
    }

    fn free(&self, memory: *mut c_void) -> Done {
        self.one("hipFree", memory)
    }

    fn destroy(&self, stream: *mut c_void) -> Done {
        self.one("hipStreamDestroy", stream)
    }

    fn one(&self, name: &str, argument: *mut c_void) -> Done {
        type Function = unsafe extern "C" fn(*mut c_void) -> c_int;
        // SAFETY: both functions take one handle, which came from the runtime and is returned once.
        let code = unsafe { self.library.get::<Function>(name)?(argument) };
        checked(name, code)
    }
}

fn checked(name: &str, code: c_int) -> Done {
    match code {
        0 => Ok(()),
        code => Err(format!("{name} failed with code {code}").into()),
    }
}

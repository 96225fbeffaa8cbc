//! Allocations and copies.

use std::ffi::{c_int, c_void};

use kiln::device::DeviceBackend as _;

use crate::runtime::{INVALID_VALUE, OUT_OF_MEMORY, call};
use crate::work::Work;

/// Alignment of allocations in bytes, as in the vendor's library.
const ALIGN: usize = 256;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(pointer: *mut usize, bytes: usize) -> i32 {
    call("hipMalloc", |runtime| {
        let mut alive = runtime.alive();
        let free = runtime.memory_bytes - alive.used_bytes();
        if bytes > free {
            return Err(OUT_OF_MEMORY);
        }
        let memory = runtime
            .device
            .alloc(bytes, ALIGN)
            .map_err(|_| OUT_OF_MEMORY)?;
        // The memory of a GPU contains old data, so new memory is filled with garbage.
        let garbage = memory.fill(kiln::device::StreamHandle::DEFAULT, 0, bytes, 0xa5);
        garbage.map_err(|_| OUT_OF_MEMORY)?;
        let address = memory.address() as usize;
        alive.memory.insert(address, memory.into());
        // SAFETY: the caller provides room for a pointer.
        unsafe { *pointer = address };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFree(pointer: usize) -> i32 {
    call("hipFree", |runtime| {
        for stream in runtime.streams() {
            stream.wait()?;
        }
        if pointer == 0 {
            return Ok(());
        }
        let removed = runtime.alive().memory.remove(&pointer);
        removed.map(drop).ok_or(INVALID_VALUE)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> i32 {
    call("hipMemGetInfo", |runtime| {
        let used = runtime.alive().used_bytes();
        // SAFETY: the caller provides room for two numbers.
        unsafe {
            *free = runtime.memory_bytes - used;
            *total = runtime.memory_bytes;
        }
        Ok(())
    })
}

/// The values of `hipMemcpyHostToDevice` and `hipMemcpyDeviceToHost`.
const TO_DEVICE: c_int = 1;
const TO_HOST: c_int = 2;

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: usize,
) -> i32 {
    call("hipMemcpyAsync", |runtime| {
        let (to, from) = (to as usize, from as usize);
        let work = match kind {
            TO_DEVICE => {
                let (memory, offset) = runtime.alive().memory_at(to, bytes)?;
                Work::ToDevice {
                    memory,
                    offset,
                    host: from,
                    bytes,
                }
            }
            TO_HOST => {
                let (memory, offset) = runtime.alive().memory_at(from, bytes)?;
                Work::ToHost {
                    memory,
                    offset,
                    host: to,
                    bytes,
                }
            }
            _ => return Err(INVALID_VALUE),
        };
        runtime.stream(stream)?.submit(work)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetAsync(to: usize, value: c_int, bytes: usize, stream: usize) -> i32 {
    call("hipMemsetAsync", |runtime| {
        let (memory, offset) = runtime.alive().memory_at(to, bytes)?;
        let value = value as u8;
        let work = Work::Fill {
            memory,
            offset,
            bytes,
            value,
        };
        runtime.stream(stream)?.submit(work)
    })
}

//! Checks of memory: contents, addresses and capacity.

use kiln::device::{DeviceError, StreamHandle};
use kiln::{Buffer, ErrorClass};
use kiln_spec::Backend;

use super::{Outcome, Subject, checks};

checks! {
    memory_is_zero_when_it_is_allocated,
    memory_holds_what_was_copied_and_filled,
    a_range_outside_an_allocation_is_refused,
    memory_is_aligned_as_it_was_asked_for,
    an_alignment_that_is_no_power_of_two_is_refused,
    an_allocation_of_nothing_is_one,
    more_memory_than_there_is_is_refused_and_nothing_else_breaks,
    memory_is_free_again_when_it_is_dropped,
    allocations_do_not_overlap,
    guarded_memory_holds_what_any_does,
}

const STREAM: StreamHandle = StreamHandle::DEFAULT;

fn memory_is_zero_when_it_is_allocated(subject: &Subject) -> Outcome {
    for bytes in [1, 3, 4096, 1 << 20] {
        // New memory must not show the contents of freed memory.
        let before = subject.device.alloc(bytes, 256)?;
        before.fill(STREAM, 0, bytes, 0x77)?;
        drop(before);
        let memory = subject.device.alloc(bytes, 256)?;
        assert_eq!(memory.bytes(), bytes);
        let mut found = vec![1; bytes];
        memory.read(STREAM, 0, &mut found)?;
        assert!(found.iter().all(|byte| *byte == 0), "{bytes} bytes");
    }
    Ok(())
}

fn memory_holds_what_was_copied_and_filled(subject: &Subject) -> Outcome {
    let memory = subject.device.alloc(1000, 16)?;
    let data: Vec<u8> = (0..=255).cycle().take(700).collect();
    memory.write(STREAM, 101, &data)?;
    memory.fill(STREAM, 797, 13, 0xee)?;
    let mut expected = vec![0; 1000];
    expected[101..801].copy_from_slice(&data);
    expected[797..810].fill(0xee);
    let mut found = vec![1; 1000];
    memory.read(STREAM, 0, &mut found)?;
    assert_eq!(found, expected);
    let mut part = [0; 5];
    memory.read(STREAM, 799, &mut part)?;
    assert_eq!(part, [0xee; 5]);
    Ok(())
}

fn a_range_outside_an_allocation_is_refused(subject: &Subject) -> Outcome {
    let memory = subject.device.alloc(100, 256)?;
    let ranges = [(0, 101), (100, 1), (usize::MAX, 2), (50, usize::MAX)];
    for (offset, bytes) in ranges {
        let error = memory
            .fill(STREAM, offset, bytes, 1)
            .expect_err("it should be refused");
        let expected = matches!(
            error,
            DeviceError::OutOfBounds {
                size_bytes: 100,
                ..
            }
        );
        assert!(expected, "{offset} and {bytes}: {error:?}");
    }
    let mut out = [0; 51];
    assert!(memory.read(STREAM, 50, &mut out).is_err());
    assert!(memory.write(STREAM, 50, &out).is_err());
    memory.read(STREAM, 50, &mut out[1..])?;
    assert_eq!(out, [0; 51], "what was refused must not be done in part");
    // An empty access at the very end is allowed.
    memory.read(STREAM, 100, &mut [])?;
    memory.write(STREAM, 0, &[])?;
    memory.fill(STREAM, 100, 0, 1)?;
    Ok(())
}

fn memory_is_aligned_as_it_was_asked_for(subject: &Subject) -> Outcome {
    let mut held = Vec::new();
    for power in 0..=16 {
        let align = 1_usize << power;
        for bytes in [1, align + 1, 3 * align] {
            let memory = subject.device.alloc(bytes, align)?;
            let address = memory.address();
            assert_eq!(address % align as u64, 0, "{bytes} bytes at {address:#x}");
            // The last byte is usable, too.
            memory.fill(STREAM, bytes - 1, 1, 0x55)?;
            held.push(memory);
        }
    }
    Ok(())
}

fn an_alignment_that_is_no_power_of_two_is_refused(subject: &Subject) -> Outcome {
    for align in [0, 3, 48] {
        let error = subject
            .device
            .alloc(100, align)
            .map(drop)
            .expect_err("it should be refused");
        assert_eq!(error.class(), ErrorClass::Unsupported, "{align}: {error}");
    }
    Ok(())
}

fn an_allocation_of_nothing_is_one(subject: &Subject) -> Outcome {
    let memory = subject.device.alloc(0, 256)?;
    assert_eq!(memory.bytes(), 0);
    memory.read(STREAM, 0, &mut [])?;
    assert!(memory.write(STREAM, 0, &[1]).is_err());
    let empty = Buffer::<f32>::zeros(&subject.stream, 0)?;
    assert_eq!(empty.to_vec(&subject.stream)?, [0.0_f32; 0]);
    Ok(())
}

fn more_memory_than_there_is_is_refused_and_nothing_else_breaks(subject: &Subject) -> Outcome {
    let kept = Buffer::from_slice(&subject.stream, &[1_u32, 2, 3])?;
    for bytes in [1_usize << 50, usize::MAX - 4096, usize::MAX] {
        let error = subject
            .device
            .alloc(bytes, 256)
            .map(drop)
            .expect_err("it should be refused");
        let DeviceError::Oom { wanted_bytes, .. } = error else {
            return Err(format!("{bytes} bytes: {error:?}").into());
        };
        assert_eq!(wanted_bytes, bytes as u64);
    }
    assert_eq!(kept.to_vec(&subject.stream)?, [1, 2, 3]);
    drop(subject.device.alloc(1 << 20, 256)?);
    Ok(())
}

fn memory_is_free_again_when_it_is_dropped(subject: &Subject) -> Outcome {
    // Only one allocation exists at a time. On a GPU, the sizes of all allocations add up to more than its memory.
    // Devices that use the host's memory allocate only about 1 GiB in all, because they set each allocation to zero.
    let info = subject.device.info();
    let is_gpu = matches!(info.key.backend, Backend::Cuda | Backend::Hip);
    let bytes = if is_gpu {
        info.limits.memory_bytes / 16
    } else {
        64 << 20
    };
    for _ in 0..18 {
        drop(subject.device.alloc(bytes as usize, 256)?);
    }
    Ok(())
}

fn allocations_do_not_overlap(subject: &Subject) -> Outcome {
    let mut held = Vec::new();
    for number in 0..100_u8 {
        let memory = subject.device.alloc(1 + usize::from(number) * 7, 8)?;
        memory.fill(STREAM, 0, memory.bytes(), number)?;
        held.push((number, memory));
    }
    for (number, memory) in &held {
        let mut found = vec![0; memory.bytes()];
        memory.read(STREAM, 0, &mut found)?;
        assert!(
            found.iter().all(|byte| byte == number),
            "allocation {number}"
        );
        assert_eq!(memory.device_index(), subject.device.index());
    }
    Ok(())
}

fn guarded_memory_holds_what_any_does(subject: &Subject) -> Outcome {
    let guarded = match subject.device.alloc_guarded(1000, 8) {
        Ok(memory) => memory,
        // A device that cannot protect memory must report this.
        Err(DeviceError::Unsupported { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    assert_eq!(guarded.address() % 8, 0);
    let mut found = vec![1; 1000];
    guarded.read(STREAM, 0, &mut found)?;
    assert_eq!(found, vec![0; 1000]);
    guarded.write(STREAM, 500, &[7; 500])?;
    guarded.read(STREAM, 0, &mut found)?;
    assert_eq!(found[500..], [7; 500]);
    assert!(guarded.write(STREAM, 501, &[7; 500]).is_err());
    Ok(())
}

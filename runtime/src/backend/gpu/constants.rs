//! `__constant__` variables that a launch fills from its arguments.
//!
//! A variable belongs to the module and not to a launch. A launch therefore first waits on the device for the previous
//! launch of the kernel, on whichever stream it was. It then copies its arguments into the variables, and then runs. As
//! a result, launches of such a kernel run one after another.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::{DeviceError, KernelArgs, StreamHandle};

use super::{Event as _, Gpu};

/// The name of the text that lists the variables of an entry. `kiln_spec` generates this text next to the entry.
pub(crate) fn table_symbol(entry: &str) -> String {
    format!("kiln_constants_{entry}")
}

/// The `__constant__` variables of one kernel.
pub(crate) struct Constants<G: Gpu> {
    variables: Vec<Variable>,
    /// The end of the last launch that reads the variables; `None` before the first launch.
    read: Mutex<Option<G::Event>>,
}

/// One `__constant__` variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The index of the argument whose value is copied into the variable.
    place: usize,
    /// The device address of the variable.
    pub address: u64,
    /// The number of bytes to copy.
    pub bytes: usize,
}

/// Parses the text that lists the variables of an entry. `find` returns the address and size of a variable.
///
/// # Errors
/// [`DeviceError::Load`] if the text or the module differs from what `kiln_spec` and the compiler generate.
pub(crate) fn variables(
    text: &str,
    find: impl Fn(&str) -> Result<(u64, usize), DeviceError>,
) -> Result<Vec<Variable>, DeviceError> {
    let lines = text.trim_end_matches('\0').lines();
    let variables = lines.map(|line| {
        let damaged = || DeviceError::Load {
            text: format!("its list of `__constant__` variables is damaged: `{line}`"),
        };
        let mut words = line.split(' ');
        let mut number = || words.next()?.parse::<usize>().ok();
        let (place, bytes) = number().zip(number()).ok_or_else(damaged)?;
        let symbol = words.next().ok_or_else(damaged)?;
        let (address, size) = find(symbol)?;
        if size < bytes {
            let text = format!("`{symbol}` has {size} bytes, but {bytes} are to be copied there");
            return Err(DeviceError::Load { text });
        }
        Ok(Variable {
            place,
            address,
            bytes,
        })
    });
    variables.collect()
}

impl Variable {
    /// The device address of the value that a launch copies into the variable.
    ///
    /// # Errors
    /// If the argument holds no address.
    pub fn source(&self, args: KernelArgs<'_>) -> Result<u64, DeviceError> {
        args.address(self.place).ok_or_else(|| {
            let text = format!("argument {} holds no address", self.place);
            DeviceError::internal("filling a `__constant__` variable", text)
        })
    }
}

impl<G: Gpu> Constants<G> {
    /// Parses the text that lists the variables, as [`variables`] does.
    ///
    /// # Errors
    /// The errors of [`variables`].
    pub fn new(
        text: &str,
        find: impl Fn(&str) -> Result<(u64, usize), DeviceError>,
    ) -> Result<Constants<G>, DeviceError> {
        Ok(Constants {
            variables: variables(text, find)?,
            read: Mutex::default(),
        })
    }

    /// Fills the variables and launches, both on one stream.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] while the stream is being recorded, because other launches could change the
    /// variables before or during a replay. Otherwise an error of the device.
    pub fn launch(
        &self,
        gpu: &G,
        handle: StreamHandle,
        args: KernelArgs<'_>,
        symbol: &str,
        launch: impl Fn(&G::Stream) -> Result<(), G::Failure>,
    ) -> Result<(), DeviceError> {
        let stream = gpu.open_stream(handle)?;
        let what = "recording a launch that fills `__constant__` variables";
        let recorded = &gpu.kept().recorded;
        recorded.unless_recorded(G::raw(&stream), what, &mut || {
            let mut read = self.read();
            let error = |failure| G::error(failure, Some(symbol));
            self.fill(gpu, &stream, args, read.as_ref())?;
            launch(&stream).map_err(error)?;
            if read.is_none() {
                *read = Some(gpu.new_event().map_err(error)?);
            }
            match &*read {
                Some(event) => event.record(&stream).map_err(error),
                None => Ok(()),
            }
        })
    }

    /// Fills the variables on a stream and calls `act`. The variables do not change during the call. When this
    /// function returns, no launch reads the variables any more.
    ///
    /// # Errors
    /// An error of the device, or of `act`.
    pub fn filled<T>(
        &self,
        gpu: &G,
        stream: &G::Stream,
        args: KernelArgs<'_>,
        act: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let mut read = self.read();
        self.fill(gpu, stream, args, read.as_ref())?;
        let done = act()?;
        *read = None;
        Ok(done)
    }

    fn read(&self) -> MutexGuard<'_, Option<G::Event>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(
        &self,
        gpu: &G,
        stream: &G::Stream,
        args: KernelArgs<'_>,
        read: Option<&G::Event>,
    ) -> Result<(), DeviceError> {
        let error = |failure| G::error(failure, None);
        if let Some(event) = read {
            event.hold_back(stream).map_err(error)?;
        }
        for variable in &self.variables {
            let from = variable.source(args)?;
            gpu.copy_on_device(stream, variable.address, from, variable.bytes)
                .map_err(error)?;
        }
        Ok(())
    }
}

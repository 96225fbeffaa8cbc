//! The expected results of the kernels, computed in plain Rust.

use kiln::{Element, bf16, f16};

type Wide<T> = <T as Element>::Wide;

/// The nearest value of an element type, in the type that references return.
fn nearest<T: Element>(value: f64) -> Wide<T> {
    T::from_f64(value).widen()
}

fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.sum()
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

pub fn vectors<T: Element>(n: u32, from: u32, to: u32, x: &[T], y: &mut [Wide<T>]) {
    for i in 0..n as usize {
        y[to as usize + i] = x[from as usize + i].widen();
    }
}

pub fn products(n: u32, x: &[f32], y: &mut [f64]) {
    for i in 0..n as usize {
        let products = (0..8).map(|k| f64::from(x[k]) * f64::from(x[i + k]));
        y[i] = 1.0 + sum(products);
    }
}

#[allow(clippy::too_many_arguments)]
pub fn convert<T: Element>(
    _n: u32,
    x: &[T],
    f32s: &mut [f64],
    f16s: &mut [f64],
    bf16s: &mut [f64],
    i32s: &mut [i32],
    u32s: &mut [u32],
    u8s: &mut [u8],
) {
    for (i, x) in x.iter().enumerate() {
        let value = x.to_f64();
        f32s[i] = nearest::<f32>(value);
        f16s[i] = nearest::<f16>(value);
        bf16s[i] = nearest::<bf16>(value);
        i32s[i] = nearest::<i32>(value);
        u32s[i] = nearest::<u32>(value);
        u8s[i] = nearest::<u8>(value);
    }
}

#[allow(clippy::too_many_arguments)]
pub fn warps<T: Element>(
    n: u32,
    x: &[T],
    sums: &mut [Wide<T>],
    maxima: &mut [Wide<T>],
    minima: &mut [Wide<T>],
    exchanged: &mut [Wide<T>],
    above: &mut [Wide<T>],
    below: &mut [Wide<T>],
    sent: &mut [Wide<T>],
    pairs: &mut [Wide<T>],
    votes: &mut [u32],
) {
    let n = n as usize;
    // Lanes beyond the end contribute zero.
    let value = |i: usize| x.get(i).map_or(0.0, |x| x.to_f64());
    for (number, width) in [1, 2, 4, 8, 16, 32].into_iter().enumerate() {
        for i in 0..n {
            let first = i / width * width;
            let segment = || (first..first + width).map(value);
            let at = number * n + i;
            sums[at] = nearest::<T>(sum(segment()));
            maxima[at] = nearest::<T>(most(segment()));
            minima[at] = nearest::<T>(least(segment()));
            exchanged[at] = nearest::<T>(value(first + ((i % width) ^ (width - 1))));
            above[at] = nearest::<T>(value(if i % width + 1 < width { i + 1 } else { i }));
            below[at] = nearest::<T>(value(if i % width > 0 { i - 1 } else { i }));
            sent[at] = nearest::<T>(value(first + width / 2));
        }
    }
    for i in 0..n {
        pairs[i * 2] = nearest::<T>(value(i / 32 * 32 + 5));
        pairs[i * 2 + 1] = nearest::<T>(5.0);
        votes[i] = 0xaaaa_aaaa + 1;
    }
}

pub fn ordered<T: Element>(_n: u32, x: &[T], firsts: &mut [Wide<T>], agree: &mut [u32]) {
    for (i, first) in firsts.iter_mut().enumerate() {
        *first = nearest::<T>(x[i / 32 * 32].to_f64());
    }
    agree.fill(3);
}

pub fn blocks<T: Element>(
    _rows: u32,
    cols: u32,
    x: &[T],
    sums: &mut [Wide<T>],
    maxima: &mut [Wide<T>],
    minima: &mut [Wide<T>],
    sent: &mut [u32],
) {
    for (row, values) in x.chunks(cols as usize).enumerate() {
        let values = || values.iter().map(|x| x.to_f64());
        for i in row * cols as usize..(row + 1) * cols as usize {
            sums[i] = nearest::<T>(sum(values()));
            maxima[i] = nearest::<T>(most(values()));
            minima[i] = nearest::<T>(least(values()));
            sent[i] = 30;
        }
    }
}

#[allow(clippy::too_many_arguments)]
pub fn atomics<T: Element>(
    n: u32,
    keys: &[u32],
    x: &[T],
    y: &[T],
    sums: &mut [Wide<T>],
    maxima: &mut [Wide<T>],
    minima: &mut [Wide<T>],
    shared_sums: &mut [Wide<T>],
    shared_maxima: &mut [Wide<T>],
    counter: &mut [u32],
    tickets: &mut [u32],
) {
    for key in 0..16 {
        let of_key = |values: &[T]| -> Vec<f64> {
            let pairs = keys.iter().zip(values);
            pairs
                .filter(|(k, _)| **k == key)
                .map(|(_, value)| value.to_f64())
                .collect()
        };
        let (x, y, key) = (of_key(x), of_key(y), key as usize);
        let before = |there: &[Wide<T>]| [T::narrow(there[key]).to_f64()].into_iter();
        // This is zero if the element type is unsigned and cannot represent the number.
        let lowest = T::from_f64(-1000.0).to_f64();
        let x = || x.iter().copied();
        let y = || y.iter().copied();
        sums[key] = nearest::<T>(sum(x().chain(before(sums))));
        maxima[key] = nearest::<T>(most(y().chain(before(maxima))));
        minima[key] = nearest::<T>(least(y().chain(before(minima))));
        shared_sums[key] = nearest::<T>(sum(x().chain(before(shared_sums))));
        shared_maxima[key] = nearest::<T>(most(y().chain(before(shared_maxima)).chain([lowest])));
    }
    counter[0] = n;
    tickets.fill(1);
}

pub fn copies<T: Element>(_n: u32, x: &[T], y: &mut [Wide<T>]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = x.widen();
    }
}

pub fn reversed<T: Element>(
    _n: u32,
    x: &[T],
    y: &mut [Wide<T>],
    quotients: &mut [u32],
    multiples: &mut [u32],
) {
    for (x, y) in x.chunks(64).zip(y.chunks_mut(64)) {
        for (x, y) in x.iter().rev().zip(y) {
            *y = x.widen();
        }
    }
    for (at, (quotient, multiple)) in (0_u32..).zip(quotients.iter_mut().zip(multiples)) {
        *quotient = (u32::MAX - at).div_ceil(at + 1);
        *multiple = at.next_multiple_of(24);
    }
}

pub fn tiles<T: Element<Wide = f64>>(
    _m: u32,
    n: u32,
    k: u32,
    a: &[T],
    b: &[T],
    c: &mut [f64],
    rounded: &mut [f64],
) {
    let (n, k) = (n as usize, k as usize);
    for (i, c) in c.iter_mut().enumerate() {
        let (row, col) = (i / n, i % n);
        *c += sum((0..k).map(|step| a[row * k + step].to_f64() * b[step * n + col].to_f64()));
        rounded[i] = *c;
    }
}

pub fn tile_maps(_n: u32, a: &mut [u32], b: &mut [u32], acc: &mut [u32]) {
    a.fill(1);
    b.fill(1);
    acc.fill(1);
}

pub fn exp2(_n: u32, x: &[f32], small: &mut [f64], large: &mut [f64], limits: &mut [u32]) {
    for (small, x) in small.iter_mut().zip(x) {
        *small = f64::from(*x).exp2();
    }
    large.fill(1.0);
    limits.fill(7);
}

#[allow(clippy::too_many_arguments)] // as the kernel
pub fn tile_chain<T: Element<Wide = f64>>(
    _tiles: u32,
    rows: i32,
    cols: i32,
    a: &[T],
    b: &[T],
    c: &[T],
    largest: &mut [f64],
    p: &mut [f64],
    d: &mut [f64],
) {
    let (rows, cols) = (rows as usize, cols as usize);
    for (tile, d) in d.chunks_mut(256).enumerate() {
        let at = tile * 256;
        for row in 0..16 {
            let of_a = &a[at + row * 16..][..16];
            let products: Vec<f64> = (0..16)
                .map(|col| sum((0..16).map(|k| of_a[k].to_f64() * b[at + k * 16 + col].to_f64())))
                .collect();
            let most = products.iter().copied().fold(0.0, f64::max);
            largest[tile * 16 + row] = most;
            if row < rows {
                for (p, product) in p[at + row * 16..][..cols].iter_mut().zip(&products) {
                    *p = product / most;
                }
            }
            for col in 0..16 {
                let of_c = |k: usize| c[at + k * 16 + col].to_f64();
                d[row * 16 + col] = sum((0..16).map(|k| products[k] / most * of_c(k)));
            }
        }
    }
}

pub fn rms_norm<T: Element<Wide = f64>>(
    _rows: u32,
    cols: u32,
    epsilon: f32,
    x: &[T],
    w: &[T],
    y: &mut [f64],
) {
    let cols = cols as usize;
    for (x, y) in x.chunks(cols).zip(y.chunks_mut(cols)) {
        let squares = sum(x.iter().map(|x| x.to_f64().powi(2)));
        let rms = (squares / cols as f64 + f64::from(epsilon)).sqrt();
        for ((y, x), w) in y.iter_mut().zip(x).zip(w) {
            *y = x.to_f64() / rms * w.to_f64();
        }
    }
}

pub fn matmul<T: Element<Wide = f64>>(m: u32, n: u32, k: u32, a: &[T], b: &[T], c: &mut [f64]) {
    let (m, n, k) = (m as usize, n as usize, k as usize);
    for row in 0..m {
        for col in 0..n {
            let products = (0..k).map(|i| a[row * k + i].to_f64() * b[i * n + col].to_f64());
            c[row * n + col] = sum(products);
        }
    }
}

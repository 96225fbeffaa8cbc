// What is there on NVIDIA GPUs alone: a kernel that uses it is told the way out.
#ifndef KILN_SHIM_NVIDIA_ALONE_H
#define KILN_SHIM_NVIDIA_ALONE_H

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

#define KILN_TEXTURE(name)                                                                             \
    template <class T, class... Rest>                                                                  \
    __attribute__((unavailable("textures are for NVIDIA GPUs alone: add `only(cuda)` to the kernel's spec, or read " \
                               "from a slice instead under `#if !KILN_CUDA`"))) __device__ T            \
    name(unsigned long long, Rest...);
KILN_TEXTURE(tex1D)
KILN_TEXTURE(tex1Dfetch)
KILN_TEXTURE(tex1DLayered)
KILN_TEXTURE(tex2D)
KILN_TEXTURE(tex2DLod)
KILN_TEXTURE(tex2DLayered)
KILN_TEXTURE(tex2Dgather)
KILN_TEXTURE(tex3D)
KILN_TEXTURE(texCubemap)
#undef KILN_TEXTURE

// The generator puts this in the place of `asm` in a source.
#define KILN_NO_INLINE_PTX                                                                             \
    _Pragma("GCC error \"inline PTX is for NVIDIA GPUs alone: add `only(cuda)` to the kernel's spec, or put it under `#if KILN_CUDA` and what the other targets do under `#else`\"") \
    __asm__

#endif

// The kernel that the gate of a GPU day launches: it writes down how it was launched, as the device sees it.
//
// `gate.py` compares this with what it asked for. The nonce differs between launches, so that what an earlier launch
// left in memory is not taken for an answer.
extern "C" __global__ void kiln_probe(unsigned *out, unsigned nonce) {
    if (threadIdx.x | threadIdx.y | threadIdx.z | blockIdx.x | blockIdx.y | blockIdx.z) return;
    unsigned dynamic_bytes;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic_bytes));
    out[0] = 0x6b696c6eu;
    out[1] = dynamic_bytes;
    out[2] = blockDim.x;
    out[3] = blockDim.y;
    out[4] = blockDim.z;
    out[5] = gridDim.x;
    out[6] = gridDim.y;
    out[7] = gridDim.z;
    out[8] = nonce;
}

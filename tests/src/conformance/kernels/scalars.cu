// The values of scalars of every type, in words.
extern "C" __global__ void scalars(int a, unsigned int b, long long c, unsigned long long d, float e,
                                   unsigned char* words) {
    if (threadIdx.x == LANES - 1) {
        unsigned long long c_bits = (unsigned long long)c;
        float scaled = e * 1024.0f;
        unsigned int values[7] = {(unsigned int)a, b, (unsigned int)c_bits, (unsigned int)(c_bits >> 32),
                                  (unsigned int)d, (unsigned int)(d >> 32), (unsigned int)scaled};
        for (int i = 0; i < 7; i++)
            for (int byte = 0; byte < 4; byte++) words[4 * i + byte] = (unsigned char)(values[i] >> (8 * byte));
    }
}

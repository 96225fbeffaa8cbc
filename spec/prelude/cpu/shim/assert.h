// A failed assertion is a fault of the launch, not the end of the process.
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                              \
    ((condition) ? (void)0                                                                             \
                 : kiln_cpu_fail("assertion `" #condition "` failed at " __FILE__                      \
                                 ":" KILN_CPU_TEXT(__LINE__)))
#endif

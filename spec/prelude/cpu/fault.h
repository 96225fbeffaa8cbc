// Faults: what a kernel did wrong, kept until the launch has returned to the executor.
#ifndef KILN_CPU_FAULT_H
#define KILN_CPU_FAULT_H

// What a barrier or warp operation is called in messages, and where it stands. Each expansion has an
// object of its own, so that two barriers on one line differ; only check builds carry them.
#if KILN_CPU_CHECK
#define KILN_CPU_SITE(name)                                                                            \
    ([]() -> const char* {                                                                             \
        static const char site[] = name " at " __FILE__ ":" KILN_CPU_TEXT(__LINE__);                   \
        return site;                                                                                   \
    }())
#else
#define KILN_CPU_SITE(name) (name)
#endif

KILN_CPU_STATE char kiln_cpu_message[1024];
KILN_CPU_STATE uint32_t kiln_cpu_message_length;
KILN_CPU_STATE bool kiln_cpu_failed;

KILN_CPU_COLD void kiln_cpu_say(const char* text) {
    while (*text && kiln_cpu_message_length + 1 < sizeof kiln_cpu_message) {
        kiln_cpu_message[kiln_cpu_message_length++] = *text++;
    }
    kiln_cpu_message[kiln_cpu_message_length] = 0;
}

KILN_CPU_COLD void kiln_cpu_say_number(uint64_t number) {
    char digits[21];
    char* first = digits + 20;
    *first = 0;
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    kiln_cpu_say(first);
}

// Remarks on a launch that may have no fault: one line for each kind of remark. Each begins with its kind, which the
// executor knows.
#define KILN_CPU_EARLY_RETURN 1
#define KILN_CPU_UNDEFINED_VALUE 2
KILN_CPU_STATE uint32_t kiln_cpu_remarks;

KILN_CPU_COLD bool kiln_cpu_remark_begins(uint32_t kind) {
    if (kiln_cpu_remarks & kind) return false;
    if (kiln_cpu_remarks) kiln_cpu_say("\n");
    kiln_cpu_remarks |= kind;
    kiln_cpu_say(kind == KILN_CPU_EARLY_RETURN ? "early return: " : "undefined value: ");
    return true;
}

KILN_CPU_COLD void kiln_cpu_say_mask(uint32_t mask) {
    kiln_cpu_say("0x");
    for (int shift = 28; shift >= 0; shift -= 4) {
        char digit[2] = {"0123456789abcdef"[mask >> shift & 15], 0};
        kiln_cpu_say(digit);
    }
}

KILN_CPU_COLD void kiln_cpu_say_triple(const char* name, uint3 index) {
    kiln_cpu_say(name);
    kiln_cpu_say("(");
    kiln_cpu_say_number(index.x);
    kiln_cpu_say(",");
    kiln_cpu_say_number(index.y);
    kiln_cpu_say(",");
    kiln_cpu_say_number(index.z);
    kiln_cpu_say(")");
}

// Begins the message of a fault of `thread`; only the first fault of a launch is told.
KILN_CPU_COLD void kiln_cpu_fault_begins(uint3 thread) {
    kiln_cpu_failed = true;
    kiln_cpu_message_length = 0;
    uint3 block = {blockIdx.x, blockIdx.y, blockIdx.z};
    kiln_cpu_say_triple("block ", block);
    kiln_cpu_say_triple(" thread ", thread);
    kiln_cpu_say(": ");
}

#if KILN_CPU_HAS_KERNEL
// The message of the last launch on this copy of the object: its fault or, if it had none, the remarks of a check build.
KILN_CPU_EXPORT const char* kiln_cpu_error(void) { return kiln_cpu_message; }
#endif

#endif

// Kernels that access invalid memory, as machine code can. Variants are built
// with -D: see CMakeLists.txt beside this directory.
#include "shim_cpu_abi.h"

#define KERNEL(name)                                              \
  static int name(const shim_environment_t* environment,          \
                  const shim_dispatch_state_t* dispatch,          \
                  const shim_workgroup_state_t* workgroup)
#define UNUSED (void)environment, (void)dispatch, (void)workgroup

// The address in the constants, low half first.
static volatile uint8_t* target(const shim_dispatch_state_t* dispatch) {
  return (volatile uint8_t*)(uintptr_t)(dispatch->constants[0] |
                                        (uint64_t)dispatch->constants[1] << 32);
}

// Whether this is workgroup constants[2]; others count themselves in binding 0.
static int is_here(const shim_dispatch_state_t* dispatch,
                   const shim_workgroup_state_t* workgroup) {
  if (workgroup->workgroup_id_x == dispatch->constants[2]) return 1;
  ++*(uint32_t*)dispatch->binding_ptrs[0];
  return 0;
}

KERNEL(store) {
  (void)environment;
  if (is_here(dispatch, workgroup)) *target(dispatch) = 7;
  return 0;
}

KERNEL(load) {
  (void)environment;
  if (is_here(dispatch, workgroup)) {
    *(uint32_t*)dispatch->binding_ptrs[0] = *target(dispatch);
  }
  return 0;
}

KERNEL(jump) {
  (void)environment;
  if (is_here(dispatch, workgroup)) ((int (*)(void))target(dispatch))();
  return 0;
}

static const uint8_t table[4096] = {1, 2, 3};

KERNEL(store_to_constants) {
  UNUSED;
  ((volatile uint8_t*)(uintptr_t)table)[0] = 9;
  return 0;
}

KERNEL(store_to_code) {
  UNUSED;
  *(volatile uint8_t*)(uintptr_t)&store = 9;
  return 0;
}

// Divides elements of binding 0. Not every processor traps.
KERNEL(divide) {
  (void)environment, (void)workgroup;
  volatile int32_t* data = (volatile int32_t*)dispatch->binding_ptrs[0];
  data[2] = data[0] / data[1];
  return 0;
}

KERNEL(stop) {
  UNUSED;
#if defined(__x86_64__)
  __asm__ volatile("ud2");
#else
  __asm__ volatile("udf #0");
#endif
  return 0;
}

// Code that the compiler takes for unreachable.
KERNEL(trap) {
  UNUSED;
  __builtin_trap();
}

// Ends in a jump, with no return address in the kernel.
KERNEL(leave) {
  (void)environment, (void)workgroup;
#if defined(__x86_64__)
  __asm__ volatile("jmp *%0" : : "r"(target(dispatch)));
#else
  __asm__ volatile("br %0" : : "r"(target(dispatch)));
#endif
  return 0;
}

// A misaligned vector on x86_64; arm_64 takes those, but no atomic operand.
KERNEL(misalign) {
  (void)environment, (void)workgroup;
#if defined(__x86_64__)
  __asm__ volatile("movaps %%xmm0, (%0)" : : "r"(target(dispatch)) : "memory");
#else
  uint64_t value;
  __asm__ volatile("ldaxr %0, [%1]"
                   : "=r"(value) : "r"(target(dispatch)) : "memory");
#endif
  return 0;
}

// Changes the thread's floating-point mode, then faults.
KERNEL(set_mode) {
  UNUSED;
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(0x7F80);  // towards zero
#else
  __asm__ volatile("msr fpcr, %0" : : "r"(3ull << 22));
#endif
  *target(dispatch) = 1;
  return 0;
}

#if defined(__aarch64__)
// Faults with SME's matrix (ZA) on, in streaming mode if constants[2] is odd.
// Only for processors with SME.
KERNEL(stream) {
  (void)environment, (void)workgroup;
  __asm__ volatile(".inst 0xd503457f");  // smstart za
  if (dispatch->constants[2] & 1) {
    __asm__ volatile(".inst 0xd503437f");  // smstart sm
  }
  __asm__ volatile("str wzr, [%0]" : : "r"(target(dispatch)) : "memory");
  return 0;
}
#else
#define stream store
#endif

// Uses up the stack.
static int deeper(uint32_t depth) {
  volatile uint8_t frame[1024];
  frame[depth & 1023] = (uint8_t)depth;
  return depth == 1u << 30 ? 0 : deeper(depth + 1) + frame[depth & 1023];
}

KERNEL(dig) {
  UNUSED;
  return deeper(0) & 0;
}

#ifdef FILL
// Through a function of the C library.
extern void* memset(void* out, int value, __SIZE_TYPE__ size);
KERNEL(fill) {
  (void)environment, (void)workgroup;
  memset((void*)target(dispatch), 1, 64 + dispatch->constants[2]);
  return 0;
}
#else
#define fill store
#endif

static const shim_dispatch_fn_t functions[] = {
    store,    load, jump,     store_to_constants, store_to_code,
    divide,   stop, misalign, set_mode,           fill,
    dig,      trap, leave,    stream};
static const char* const names[] = {
    "store",  "load", "jump",     "store_to_constants", "store_to_code",
    "divide", "stop", "misalign", "set_mode",           "fill",
    "dig",    "trap", "leave",    "stream"};
enum { COUNT = sizeof(names) / sizeof(names[0]) };
#define ENTRY {.binding_count = 1, .constant_count = 3}
static const shim_dispatch_attributes_t attributes[COUNT] = {
    ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, ENTRY,
    ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, ENTRY};

static const shim_library_header_t header = {
    .version = SHIM_CPU_LIBRARY_VERSION,
    .name = "faulty",
};
static const shim_library_t library = {
    .header = &header,
    .exports = {.count = COUNT, .ptrs = functions, .attrs = attributes,
                .names = names},
};

#ifdef FAULTY_INITIALIZER
static volatile uint8_t* volatile nowhere;
__attribute__((constructor)) static void initialize(void) { *nowhere = 1; }
#endif

__attribute__((visibility("default"))) const void*
iree_hal_executable_library_query(uint32_t max_version,
                                  const shim_environment_t* environment) {
  (void)environment;
#ifdef FAULTY_QUERY
  volatile uint8_t* volatile nowhere = (volatile uint8_t*)(uintptr_t)24;
  *nowhere = 1;
#endif
  return max_version == SHIM_CPU_LIBRARY_VERSION ? &library : 0;
}

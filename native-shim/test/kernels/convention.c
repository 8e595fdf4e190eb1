// Kernels that use what the System V convention permits, and Win64's does not.
#include "shim_cpu_abi.h"

#define KERNEL(name)                                              \
  static int name(const shim_environment_t* environment,          \
                  const shim_dispatch_state_t* dispatch,          \
                  const shim_workgroup_state_t* workgroup)
#define UNUSED (void)environment, (void)dispatch, (void)workgroup

#define FILL_VECTORS                                       \
  "pcmpeqd %%xmm0, %%xmm0\n movdqa %%xmm0, %%xmm1\n"       \
  "movdqa %%xmm0, %%xmm2\n movdqa %%xmm0, %%xmm3\n"        \
  "movdqa %%xmm0, %%xmm4\n movdqa %%xmm0, %%xmm5\n"        \
  "movdqa %%xmm0, %%xmm6\n movdqa %%xmm0, %%xmm7\n"        \
  "movdqa %%xmm0, %%xmm8\n movdqa %%xmm0, %%xmm9\n"        \
  "movdqa %%xmm0, %%xmm10\n movdqa %%xmm0, %%xmm11\n"      \
  "movdqa %%xmm0, %%xmm12\n movdqa %%xmm0, %%xmm13\n"      \
  "movdqa %%xmm0, %%xmm14\n movdqa %%xmm0, %%xmm15\n"
#define VECTORS                                                             \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",   \
      "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// Changes each register that a function of System V need not preserve.
KERNEL(change_registers) {
  UNUSED;
  __asm__ volatile(FILL_VECTORS
                   "movq $-1, %%rax\n movq $-1, %%rcx\n movq $-1, %%rdx\n"
                   "movq $-1, %%rsi\n movq $-1, %%rdi\n movq $-1, %%r8\n"
                   "movq $-1, %%r9\n movq $-1, %%r10\n movq $-1, %%r11\n"
                   :
                   :
                   : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
                     "r11", VECTORS);
  return 0;
}

// Changes all registers and modes, then faults.
KERNEL(change_all_and_fault) {
  UNUSED;
  __asm__ volatile(FILL_VECTORS
                   "fld1\n"
                   "std\n"
                   "pushq $0x7F80\n ldmxcsr (%%rsp)\n"
                   "movq $-1, %%rbx\n movq $-1, %%rbp\n movq $-1, %%rsi\n"
                   "movq $-1, %%rdi\n movq $-1, %%r12\n movq $-1, %%r13\n"
                   "movq $-1, %%r14\n movq $-1, %%r15\n"
                   "movb $1, 16\n"
                   :
                   :
                   : "memory");
  return 0;
}

// Sums 16 words in the 128 bytes below the stack pointer, over and over.
KERNEL(use_red_zone) {
  (void)environment, (void)workgroup;
  uint64_t sum = 0;
  for (int round = 0; round < 100000; ++round) {
    __asm__ volatile(
        "movq $1, -8(%%rsp)\n movq $2, -64(%%rsp)\n movq $3, -128(%%rsp)\n"
        "pause\n"
        "addq -8(%%rsp), %0\n addq -64(%%rsp), %0\n addq -128(%%rsp), %0\n"
        : "+r"(sum)
        :
        : "memory", "cc");
  }
  *(uint64_t*)dispatch->binding_ptrs[0] = sum;
  return 0;
}

// Stores at the deep end of a frame of 192 KiB first.
KERNEL(use_deep_stack) {
  (void)environment, (void)workgroup;
  volatile uint8_t frame[192 << 10];
  frame[0] = 1;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < sizeof(frame); i += 4096) {
    frame[i] = 1;
    sum += frame[i];
  }
  *(uint32_t*)dispatch->binding_ptrs[0] = sum;
  return 0;
}

// Reads the thread's block of Linux: the canary of stack protectors.
KERNEL(read_thread_block) {
  (void)environment, (void)workgroup;
  uint64_t word;
  __asm__ volatile("movq %%fs:0x28, %0" : "=r"(word));
  *(uint64_t*)dispatch->binding_ptrs[0] = word;
  return 0;
}

// Calls the host's function at the address in constants 0 and 1.
KERNEL(call_host) {
  (void)workgroup;
  const uint64_t address =
      dispatch->constants[0] | (uint64_t)dispatch->constants[1] << 32;
  return environment->import_thunk((shim_import_fn_t)(uintptr_t)address,
                                   dispatch->binding_ptrs[0], (void*)2,
                                   (void*)3);
}

static const shim_dispatch_fn_t functions[] = {
    change_registers, change_all_and_fault, use_red_zone,
    use_deep_stack,   read_thread_block,    call_host};
static const char* const names[] = {
    "change_registers", "change_all_and_fault", "use_red_zone",
    "use_deep_stack",   "read_thread_block",    "call_host"};
enum { COUNT = sizeof(names) / sizeof(names[0]) };
static const shim_dispatch_attributes_t attributes[COUNT] = {
    {.binding_count = 1, .constant_count = 2},
    {.binding_count = 1, .constant_count = 2},
    {.binding_count = 1, .constant_count = 2},
    {.binding_count = 1, .constant_count = 2},
    {.binding_count = 1, .constant_count = 2},
    {.binding_count = 1, .constant_count = 2}};

static const shim_library_header_t header = {
    .version = SHIM_CPU_LIBRARY_VERSION,
    .name = "convention",
};
static const shim_library_t library = {
    .header = &header,
    .exports = {.count = COUNT, .ptrs = functions, .attrs = attributes,
                .names = names},
};

__attribute__((visibility("default"))) const void*
iree_hal_executable_library_query(uint32_t max_version,
                                  const shim_environment_t* environment) {
  (void)environment;
  return max_version == SHIM_CPU_LIBRARY_VERSION ? &library : 0;
}

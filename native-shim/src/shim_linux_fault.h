// Linux's part of the signal handler: where a thread keeps its guard, and what
// the interrupted thread's context says. Included by shim_fault.c only.
#ifndef IREE4J_SHIM_LINUX_FAULT_H_
#define IREE4J_SHIM_LINUX_FAULT_H_

#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "shim_fault.h"

// With glibc statically allocated TLS, because its dynamic TLS may allocate
// memory, in a handler. musl refuses to load a library with static TLS into a
// running process, and allocates dynamic TLS for all threads when it loads a
// library.
#if defined(__GLIBC__)
#define TLS_IN_HANDLER __attribute__((tls_model("initial-exec")))
#else
#define TLS_IN_HANDLER
#endif
static _Thread_local void* volatile current TLS_IN_HANDLER;

static inline void shim__guards_prepare(void) {}
static inline void* shim__guard(void) { return current; }
static inline void shim__guard_set(void* guard) { current = guard; }

_Static_assert(SIGSEGV == SHIM__SIGNAL_SEGV && SIGBUS == SHIM__SIGNAL_BUS &&
                   SIGFPE == SHIM__SIGNAL_FPE && SIGILL == SHIM__SIGNAL_ILL,
               "Linux's");

static inline int32_t shim__signal_of(int number) {
  return number == SIGTRAP ? SHIM__SIGNAL_ILL : number;
}

// Whether a process sent the signal.
static inline bool shim__is_sent(const siginfo_t* info) {
  return info->si_code <= 0;
}

// A fault that is not a page fault has no address.
static inline bool shim__has_address(const siginfo_t* info,
                                     const ucontext_t* context) {
  (void)context;
  return info->si_code != SI_KERNEL &&
         (info->si_signo == SIGSEGV ||
          (info->si_signo == SIGBUS && info->si_code != BUS_ADRALN));
}

// The signal says what has happened, except that arm64 raises SIGBUS for
// misaligned atomic operands, too.
static inline void shim__fault_settle(shim__fault_t* fault) {
  if (fault->signal == SHIM__SIGNAL_BUS && fault->code == BUS_ADRALN) {
    fault->signal = SHIM__SIGNAL_SEGV;
  }
}

#if defined(__x86_64__)

static inline uintptr_t shim__instruction(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t shim__stack(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

// Of a function that was just called, or has pushed nothing.
static inline uintptr_t shim__caller(const ucontext_t* context) {
  return *(const uintptr_t*)shim__stack(context);
}

// The error code of a page fault (trap 14): bit 1 a store, bit 4 a fetch.
static inline shim__access_t shim__access_of(const ucontext_t* context) {
  const greg_t* registers = context->uc_mcontext.gregs;
  if (registers[REG_TRAPNO] != 14) return SHIM__ACCESS_UNKNOWN;
  if (registers[REG_ERR] & 16) return SHIM__ACCESS_EXECUTE;
  return registers[REG_ERR] & 2 ? SHIM__ACCESS_WRITE : SHIM__ACCESS_READ;
}

static inline void shim__go_to(ucontext_t* context, uintptr_t function,
                               void* argument, uintptr_t stack) {
  greg_t* registers = context->uc_mcontext.gregs;
  registers[REG_RIP] = (greg_t)function;
  registers[REG_RSP] = (greg_t)shim__stack_of_call(stack);
  registers[REG_RDI] = (greg_t)(uintptr_t)argument;
  registers[REG_EFL] &= ~(greg_t)SHIM__DIRECTION_FLAG;
}

#elif defined(__aarch64__)

static inline uintptr_t shim__instruction(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext.pc;
}

static inline uintptr_t shim__stack(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext.sp;
}

static inline uintptr_t shim__caller(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext.regs[30];
}

// Records follow the registers, each with a magic number and its size.
static inline shim__access_t shim__access_of(const ucontext_t* context) {
  const uint8_t* at = (const uint8_t*)context->uc_mcontext.__reserved;
  const uint8_t* end = at + sizeof(context->uc_mcontext.__reserved);
  while (end - at >= 16) {
    uint32_t header[2];
    memcpy(header, at, sizeof(header));
    if (header[0] == 0 || header[1] < 8 || header[1] > end - at) break;
    if (header[0] == 0x45535201) {
      uint64_t syndrome;
      memcpy(&syndrome, at + 8, sizeof(syndrome));
      return shim__syndrome_access(syndrome);
    }
    at += header[1];
  }
  return SHIM__ACCESS_UNKNOWN;
}

static inline void shim__go_to(ucontext_t* context, uintptr_t function,
                               void* argument, uintptr_t stack) {
  context->uc_mcontext.pc = function;
  context->uc_mcontext.sp = shim__stack_of_call(stack);
  context->uc_mcontext.regs[0] = (uintptr_t)argument;
}

#endif

#endif  // IREE4J_SHIM_LINUX_FAULT_H_

// macOS' part of the signal handler: where a thread keeps its guard, and what
// the interrupted thread's context says. Included by shim_fault.c only.
#ifndef IREE4J_SHIM_MACOS_FAULT_H_
#define IREE4J_SHIM_MACOS_FAULT_H_

#include <dlfcn.h>
#include <mach/thread_state.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ucontext.h>

#include "shim_fault.h"

// A key rather than a thread-local variable: the first use of such a variable
// on a thread allocates memory, and the handler runs on threads that never
// called a kernel. Reading a key is a load.
static pthread_key_t guards;
static bool has_guards;

// Also keeps the library loaded: signal handlers cannot be removed once other
// code has saved them.
static inline void shim__guards_prepare(void) {
  static const char place = 0;
  Dl_info self;
  if (dladdr(&place, &self)) {
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
  if (!has_guards) has_guards = pthread_key_create(&guards, NULL) == 0;
}

static inline void* shim__guard(void) {
  return has_guards ? pthread_getspecific(guards) : NULL;
}

static inline void shim__guard_set(void* guard) {
  if (has_guards) pthread_setspecific(guards, guard);
}

static inline int32_t shim__signal_of(int number) {
  switch (number) {
    case SIGBUS:
      return SHIM__SIGNAL_BUS;
    case SIGFPE:
      return SHIM__SIGNAL_FPE;
    case SIGILL:
    case SIGTRAP:
      return SHIM__SIGNAL_ILL;
    default:
      return SHIM__SIGNAL_SEGV;
  }
}

// The kernel sets codes of faults by the number of the signal, and 0 for some:
// a fault sent by a process in the middle of a kernel cannot always be told.
static inline bool shim__is_sent(const siginfo_t* info) {
  return info->si_code == SI_USER || info->si_code == SI_QUEUE;
}

// macOS raises SIGBUS for memory that is mapped and may not be accessed so, as
// well as for a part of a file that cannot be read; the memory map tells them
// apart. Not for handlers.
static inline void shim__fault_settle(shim__fault_t* fault) {
  if (fault->signal != SHIM__SIGNAL_BUS) return;
  const int right = fault->access == SHIM__ACCESS_WRITE     ? 1
                    : fault->access == SHIM__ACCESS_EXECUTE ? 2
                                                            : 0;
  shim__mapping_t mapping;
  if (!fault->has_address ||
      shim__fault_mapping(fault->address, &mapping) != SHIM__MAPPED ||
      mapping.rights[right] == '-') {
    fault->signal = SHIM__SIGNAL_SEGV;
  }
}

#if defined(__x86_64__)

static inline uintptr_t shim__instruction(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext->__ss.__rip;
}

static inline uintptr_t shim__stack(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext->__ss.__rsp;
}

// Of a function that was just called, or has pushed nothing.
static inline uintptr_t shim__caller(const ucontext_t* context) {
  return *(const uintptr_t*)shim__stack(context);
}

// The error code of a page fault (trap 14): bit 1 a store, bit 4 a fetch.
static inline shim__access_t shim__access_of(const ucontext_t* context) {
  if (context->uc_mcontext->__es.__trapno != 14) return SHIM__ACCESS_UNKNOWN;
  const uint32_t code = context->uc_mcontext->__es.__err;
  if (code & 16) return SHIM__ACCESS_EXECUTE;
  return code & 2 ? SHIM__ACCESS_WRITE : SHIM__ACCESS_READ;
}

// A fault that is not a page fault has no address.
static inline bool shim__has_address(const siginfo_t* info,
                                     const ucontext_t* context) {
  (void)info;
  return context->uc_mcontext->__es.__trapno == 14;
}

static inline void shim__go_to(ucontext_t* context, uintptr_t function,
                               void* argument, uintptr_t stack) {
  context->uc_mcontext->__ss.__rip = function;
  context->uc_mcontext->__ss.__rsp = shim__stack_of_call(stack);
  context->uc_mcontext->__ss.__rdi = (uintptr_t)argument;
  context->uc_mcontext->__ss.__rflags &= ~(uint64_t)SHIM__DIRECTION_FLAG;
}

#elif defined(__aarch64__)

static inline uintptr_t shim__instruction(const ucontext_t* context) {
  return (uintptr_t)arm_thread_state64_get_pc(context->uc_mcontext->__ss);
}

static inline uintptr_t shim__stack(const ucontext_t* context) {
  return (uintptr_t)arm_thread_state64_get_sp(context->uc_mcontext->__ss);
}

static inline uintptr_t shim__caller(const ucontext_t* context) {
  return (uintptr_t)arm_thread_state64_get_lr(context->uc_mcontext->__ss);
}

static inline shim__access_t shim__access_of(const ucontext_t* context) {
  return shim__syndrome_access(context->uc_mcontext->__es.__esr);
}

// A fault that is not a page fault has no address, and status 0x21 is one of
// alignment.
static inline bool shim__has_address(const siginfo_t* info,
                                     const ucontext_t* context) {
  (void)info;
  return shim__access_of(context) != SHIM__ACCESS_UNKNOWN &&
         (context->uc_mcontext->__es.__esr & 0x3F) != 0x21;
}

static inline void shim__go_to(ucontext_t* context, uintptr_t function,
                               void* argument, uintptr_t stack) {
  arm_thread_state64_set_pc_fptr(context->uc_mcontext->__ss, (void*)function);
  arm_thread_state64_set_sp(context->uc_mcontext->__ss,
                            shim__stack_of_call(stack));
  context->uc_mcontext->__ss.__x[0] = (uintptr_t)argument;
}

#endif

#endif  // IREE4J_SHIM_MACOS_FAULT_H_

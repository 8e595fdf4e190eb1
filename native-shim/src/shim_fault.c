// The handler of faults on Linux and macOS, the shim's only signal handler.
// Calls shim_view.c, cpu_features.c and the system's memory map.
//
// It precedes the previous handler, for example that of a JVM, which uses
// faults of its own code for null checks, stack banging and safepoint polls, so
// most signals are passed on. Two kinds are not:
//
//   A store into a view (shim_view.c), which is retried.
//
//   A fault of a kernel. The caller of a kernel gives its thread a guard: the
//   range of the kernel's code and the place to resume at (setjmp). The handler
//   checks the faulting instruction; so a fault in another handler that
//   interrupted the kernel, or in a library that the kernel called and that may
//   hold a lock, is passed on. Only a function called directly from the kernel
//   (memcpy of libc, or address 0) counts as the kernel, and a jump to where no
//   code is, wherever it was made: only kernels loaded by the system can call
//   libraries, so only there may a lock stay held.
//
// The handler changes the interrupted thread's context and returns: the thread
// goes on in land(), as if the kernel had called it, and jumps to the place. So
// the system restores the signal mask, and knows that the thread has left its
// alternate stack: macOS would otherwise run the next handler on the wrong
// stack. _longjmp rather than a program counter of the place handles shadow
// stacks and sanitizers; it skips only the frames of kernels, never the JVM's.
// It does not restore the signal mask, which would cost a system call per
// kernel call.
#include "shim_fault.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#if defined(__APPLE__)
#include "macos/macos_fault.h"
#else
#include "shim_linux_fault.h"
#endif

typedef struct guard_t {
  uintptr_t begin;  // of the code
  uintptr_t end;
  shim__fault_t* fault;
  uintptr_t stack;  // of the caller
  jmp_buf landing;
} guard_t;

// Compilers mark unreachable code by ud2 on x86_64, which is an illegal
// instruction, and by brk on arm64, which is a breakpoint.
static const int signals[] = {
    SIGSEGV, SIGBUS, SIGFPE, SIGILL,
#if defined(__aarch64__)
    SIGTRAP,
#endif
};
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous[SIGNALS];  // set before the handler is
static bool installed[SIGNALS];
#if defined(__aarch64__)
static bool has_sme;  // set before the handler is
#endif

// The largest stack: code further away from its guard is not on the kernel's
// stack.
#define STACK ((uintptr_t)1 << 30)

static bool is_inside(const guard_t* guard, uintptr_t address) {
  return address >= guard->begin && address < guard->end;
}

// Whether guarded code faulted, on the stack that it was called on.
static bool is_of(const guard_t* guard, const siginfo_t* info,
                  const ucontext_t* context) {
  if (shim__is_sent(info)) return false;
  const uintptr_t stack = shim__stack(context);
  if (stack >= (uintptr_t)guard || (uintptr_t)guard - stack > STACK) {
    return false;
  }
  // A jump to where no code is may leave no return address. Whether its target
  // is aligned does not matter.
  return is_inside(guard, shim__instruction(context)) ||
         ((info->si_signo == SIGSEGV || info->si_signo == SIGBUS) &&
          (uintptr_t)info->si_addr == shim__instruction(context)) ||
         is_inside(guard, shim__caller(context));
}

static void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction* action = &previous[0];
  for (int i = 0; i < SIGNALS; ++i) {
    if (signals[i] == number) action = &previous[i];
  }
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(number, info, context);
  } else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
    const bool is_sent = shim__is_sent(info);
    if (is_sent && action->sa_handler == SIG_IGN) return;
    struct sigaction none = {.sa_flags = 0};
    none.sa_handler = SIG_DFL;
    sigaction(number, &none, NULL);  // faults again and ends the process
    if (is_sent) raise(number);      // which comes when the handler returns
  } else {
    action->sa_handler(number);
  }
}

// The kernel's frames end here.
static _Noreturn void land(guard_t* guard) {
#if defined(__x86_64__)
  __asm__ volatile("fninit");  // kernels may leave values behind
#elif defined(__aarch64__)
  // In streaming mode ordinary vector instructions are illegal; a matrix (ZA)
  // that stays on costs each switch of threads, and TPIDR2_EL0 may lead to
  // where the kernel would have saved it.
  if (has_sme) {
    __asm__ volatile(
        ".inst 0xd503467f\n"  // smstop
        "msr s3_3_c13_c0_5, xzr");
  }
#endif
  _longjmp(guard->landing, 1);
}

// The stack to land on. The kernel may have used up its own; all below the
// caller's is the kernel's.
static uintptr_t stack_to_land(const guard_t* guard, const ucontext_t* context) {
#if defined(__SANITIZE_ADDRESS__)
  (void)guard;  // AddressSanitizer still watches the frames that end
  return shim__stack(context);
#else
  (void)context;
  return guard->stack;
#endif
}

static void on_fault(int number, siginfo_t* info, void* context) {
  if (number == SIGSEGV && info->si_code == SEGV_ACCERR) {
    int code = errno;
    bool done = shim__view_open((uintptr_t)info->si_addr);
    errno = code;
    if (done) return;
  }
  guard_t* guard = shim__guard();
  if (!guard || !is_of(guard, info, context)) {
    pass_on(number, info, context);
    return;
  }
  const bool has_address = shim__has_address(info, context);
  *guard->fault = (shim__fault_t){
      .signal = shim__signal_of(number),
      .code = info->si_code,
      .access = has_address ? shim__access_of(context) : SHIM__ACCESS_UNKNOWN,
      .address = has_address ? (uintptr_t)info->si_addr : 0,
      .has_address = has_address,
  };
  shim__guard_set(NULL);
  shim__go_to(context, (uintptr_t)land, guard, stack_to_land(guard, context));
}

void shim__fault_install(bool all) {
  pthread_mutex_lock(&lock);
  shim__guards_prepare();
#if defined(__aarch64__)
  if (!installed[0]) has_sme = shim_cpu_feature_lookup("sme", 3) == 1;
#endif
  for (int i = 0; i < (all ? SIGNALS : 1); ++i) {
    if (installed[i]) continue;
    sigaction(signals[i], NULL, &previous[i]);
    // With the flags of the previous handler.
    struct sigaction ours = previous[i];
    ours.sa_sigaction = on_fault;
    ours.sa_flags =
        (previous[i].sa_flags | SA_SIGINFO | SA_ONSTACK | SA_RESTART) &
        ~(int)SA_RESETHAND;
    installed[i] = sigaction(signals[i], &ours, NULL) == 0;
  }
  pthread_mutex_unlock(&lock);
}

bool shim__fault_catch(uint64_t begin, uint64_t end, void (*function)(void*),
                       void* argument, shim__fault_t* out_fault) {
  guard_t guard;
  guard.begin = (uintptr_t)begin;
  guard.end = (uintptr_t)end;
  guard.fault = out_fault;
  if (_setjmp(guard.landing) != 0) {
    shim__fault_settle(out_fault);
    return false;
  }
#if defined(__x86_64__)
  __asm__ volatile("mov %%rsp, %0" : "=r"(guard.stack));
#elif defined(__aarch64__)
  __asm__ volatile("mov %0, sp" : "=r"(guard.stack));
#endif
  shim__guard_set(&guard);
  function(argument);
  shim__guard_set(NULL);
  return true;
}

// Linux's handler of faults, the shim's only signal handler. Calls shim_view.c
// only.
//
// It precedes the previous handler, for example that of a JVM, which uses
// faults of its own code for null checks, stack banging and safepoint polls, so
// most signals are passed on. Two kinds are not:
//
//   A store into a view (shim_view.c), which is retried.
//
//   A fault of a kernel. The caller of a kernel sets the thread-local |current|
//   to the range of its code and the place to resume at (setjmp). The handler
//   checks the faulting instruction; so a fault in another handler that
//   interrupted the kernel, or in a library that the kernel called and that may
//   hold a lock, is passed on. Only a function called directly from the kernel
//   (memcpy of libc, or address 0) counts as the kernel.
//
// longjmp skips only the frames of kernels, never the JVM's. It is used rather
// than a changed program counter in the signal's context because it handles
// shadow stacks and sanitizers support it. It does not restore the signal mask,
// which would cost a system call per kernel call; the handler does, from the
// context.
#include "shim_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

typedef unsigned long long ull;

typedef struct guard_t {
  uintptr_t begin;  // of the code
  uintptr_t end;
  shim__fault_t* fault;
  jmp_buf landing;
} guard_t;

// The guard of this thread, NULL when it runs no kernel. With glibc statically
// allocated TLS, because its dynamic TLS may allocate memory, in a handler. musl
// refuses to load a library with static TLS into a running process, and
// allocates dynamic TLS for all threads when it loads a library.
#if defined(__GLIBC__)
#define TLS_IN_HANDLER __attribute__((tls_model("initial-exec")))
#else
#define TLS_IN_HANDLER
#endif
static _Thread_local guard_t* volatile current TLS_IN_HANDLER;

enum { SIGNALS = 4 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

_Static_assert(SIGSEGV == SHIM__SIGNAL_SEGV && SIGBUS == SHIM__SIGNAL_BUS &&
                   SIGFPE == SHIM__SIGNAL_FPE && SIGILL == SHIM__SIGNAL_ILL,
               "Linux's");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous[SIGNALS];  // set before the handler is
static bool installed[SIGNALS];

// The largest stack: code further away from its guard is not on the kernel's
// stack.
#define STACK ((uintptr_t)1 << 30)

//===--------------------------------------------------------------------===//
//The processor's context
//===--------------------------------------------------------------------===//

typedef struct place_t {
  uintptr_t instruction;
  uintptr_t stack;
} place_t;

#if defined(__x86_64__)

static place_t place_of(const ucontext_t* context) {
  const greg_t* registers = context->uc_mcontext.gregs;
  return (place_t){.instruction = (uintptr_t)registers[REG_RIP],
                   .stack = (uintptr_t)registers[REG_RSP]};
}

// Of a function that was just called, or has pushed nothing.
static uintptr_t caller_of(const ucontext_t* context) {
  return *(const uintptr_t*)(uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

// The error code of a page fault (trap 14): bit 1 a store, bit 4 a fetch.
static shim__access_t access_of(const ucontext_t* context) {
  const greg_t* registers = context->uc_mcontext.gregs;
  if (registers[REG_TRAPNO] != 14) return SHIM__ACCESS_UNKNOWN;
  if (registers[REG_ERR] & 16) return SHIM__ACCESS_EXECUTE;
  return registers[REG_ERR] & 2 ? SHIM__ACCESS_WRITE : SHIM__ACCESS_READ;
}

#elif defined(__aarch64__)

static place_t place_of(const ucontext_t* context) {
  return (place_t){.instruction = (uintptr_t)context->uc_mcontext.pc,
                   .stack = (uintptr_t)context->uc_mcontext.sp};
}

static uintptr_t caller_of(const ucontext_t* context) {
  return (uintptr_t)context->uc_mcontext.regs[30];
}

// Records follow the registers, each with a magic number and its size; the
// syndrome (ESR) has class 0x20 or 0x21 for fetches and 0x24 or 0x25 for data
// accesses, where bit 6 marks stores.
static shim__access_t access_of(const ucontext_t* context) {
  const uint8_t* at = (const uint8_t*)context->uc_mcontext.__reserved;
  const uint8_t* end = at + sizeof(context->uc_mcontext.__reserved);
  while (end - at >= 16) {
    uint32_t header[2];
    memcpy(header, at, sizeof(header));
    if (header[0] == 0 || header[1] < 8 || header[1] > end - at) break;
    if (header[0] == 0x45535201) {
      uint64_t syndrome;
      memcpy(&syndrome, at + 8, sizeof(syndrome));
      const uint64_t class = syndrome >> 26 & 0x3E;
      if (class == 0x20) return SHIM__ACCESS_EXECUTE;
      if (class != 0x24) return SHIM__ACCESS_UNKNOWN;
      return syndrome & 64 ? SHIM__ACCESS_WRITE : SHIM__ACCESS_READ;
    }
    at += header[1];
  }
  return SHIM__ACCESS_UNKNOWN;
}

#endif

//===--------------------------------------------------------------------===//
// The handler
//===--------------------------------------------------------------------===//

static bool is_inside(const guard_t* guard, uintptr_t address) {
  return address >= guard->begin && address < guard->end;
}

// Whether guarded code faulted, on the stack that it was called on.
static bool is_of(const guard_t* guard, const siginfo_t* info,
                  const ucontext_t* context) {
  if (info->si_code <= 0) return false;  // sent by a process
  const place_t place = place_of(context);
  if (place.stack >= (uintptr_t)guard ||
      (uintptr_t)guard - place.stack > STACK) {
    return false;
  }
  return is_inside(guard, place.instruction) ||
         is_inside(guard, caller_of(context));
}

static void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction* action = &previous[0];
  for (int i = 0; i < SIGNALS; ++i) {
    if (signals[i] == number) action = &previous[i];
  }
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(number, info, context);
  } else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
    struct sigaction none = {.sa_flags = 0};
    none.sa_handler = SIG_DFL;
    sigaction(number, &none, NULL);  // faults again and ends the process
  } else {
    action->sa_handler(number);
  }
}

static void on_fault(int number, siginfo_t* info, void* context) {
  if (number == SIGSEGV && info->si_code == SEGV_ACCERR) {
    int code = errno;
    bool done = shim__view_open((uintptr_t)info->si_addr);
    errno = code;
    if (done) return;
  }
  guard_t* guard = current;
  if (!guard || !is_of(guard, info, context)) {
    pass_on(number, info, context);
    return;
  }
  const ucontext_t* interrupted = context;
  // A fault that is not a page fault has no address.
  const bool has_address =
      (number == SIGSEGV || number == SIGBUS) && info->si_code != SI_KERNEL;
  *guard->fault = (shim__fault_t){
      .signal = number,
      .code = info->si_code,
      .access = has_address ? access_of(interrupted) : SHIM__ACCESS_UNKNOWN,
      .address = has_address ? (uintptr_t)info->si_addr : 0,
      .has_address = has_address,
  };
  current = NULL;
  pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, NULL);
  longjmp(guard->landing, 1);
}

void shim__fault_install(bool all) {
  pthread_mutex_lock(&lock);
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
  if (_setjmp(guard.landing) != 0) return false;
  current = &guard;
  function(argument);
  current = NULL;
  return true;
}

//===--------------------------------------------------------------------===//
// The memory map
//===--------------------------------------------------------------------===//

// A line of /proc/self/maps: "begin-end rights offset device inode   name".
static bool read_mapping(const char* line, uintptr_t address,
                         shim__mapping_t* out_mapping) {
  ull begin = 0;
  ull end = 0;
  int name = 0;
  if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &begin, &end,
             out_mapping->rights, &name) < 3 ||
      address < begin || address >= end) {
    return false;
  }
  const size_t length = name > 0 ? strlen(line + name) : 0;
  const size_t cut = length >= sizeof(out_mapping->name)
                         ? length - sizeof(out_mapping->name) + 1
                         : 0;
  snprintf(out_mapping->name, sizeof(out_mapping->name), "%s",
           name > 0 ? line + name + cut : "");
  return true;
}

bool shim__fault_mapping(uintptr_t address, shim__mapping_t* out_mapping) {
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char line[4096 + 128];  // a path, and the fields before it
  size_t filled = 0;
  bool found = false;
  for (;;) {
    ssize_t count = read(file, line + filled, sizeof(line) - 1 - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    filled += (size_t)count;
    line[filled] = '\0';
    char* begin = line;
    for (char* end; !found && (end = strchr(begin, '\n')); begin = end + 1) {
      *end = '\0';
      found = read_mapping(begin, address, out_mapping);
    }
    filled -= (size_t)(begin - line);
    memmove(line, begin, filled);
    if (found || filled == sizeof(line) - 1) break;
  }
  close(file);
  return found;
}

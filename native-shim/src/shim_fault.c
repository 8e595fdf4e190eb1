// The one signal handler of the shim. Calls shim_view.c only.
//
// It is in front of the handler that was there, for example that of a JVM, which
// takes faults of its own code for null checks, stack banging and polls, so most
// of what comes here is passed on. Two things are not:
//
//   A store into a view (shim_view.c), which is made again.
//
//   A fault of a kernel. Who calls one says so in |current|, a variable of the
//   thread, with where its code lies and where to go on (setjmp). The handler
//   compares the instruction that faulted; so what faults in another handler
//   that has interrupted the kernel, or in a library that the kernel called and
//   that may hold a lock, is passed on. Only a function that was called from
//   the kernel directly (memcpy of libc, or address 0) counts as the kernel.
//
// The JVM's frames are not touched: those that are left lie between the call of
// the kernel and the kernel, and are those of kernels. longjmp rather than
// another program counter in the context of the signal: it knows of shadow
// stacks, and sanitizers know of it. It restores no mask, which is a call of the
// system for each call of kernels; the handler does, from the context.
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

// Of the thread that runs: NULL when no kernel does. Where the loader puts it is
// known without asking, since asking may allocate memory, in a handler.
static _Thread_local guard_t* volatile current
    __attribute__((tls_model("initial-exec")));

enum { SIGNALS = 4 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous[SIGNALS];  // set before the handler is
static bool installed[SIGNALS];

// Stacks are no deeper: who is further away from its guard is not on the stack
// of the kernel.
#define STACK ((uintptr_t)1 << 30)

//===--------------------------------------------------------------------===//
// What the processor says
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

// Of a function that has just been called, or has pushed nothing.
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

// Records behind the registers, each with a magic number and its size; that of
// the syndrome (ESR) has class 0x20 or 0x21 for fetches and 0x24 or 0x25 for
// data, of which bit 6 tells stores.
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

// Whether code that is guarded did that, on the stack that it was called on.
static bool is_of(const guard_t* guard, const siginfo_t* info,
                  const ucontext_t* context) {
  if (info->si_code <= 0) return false;  // somebody sent it
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
    sigaction(number, &none, NULL);  // it faults again, and ends the process
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
  // What the processor refuses without a page fault comes without an address.
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
    // With the flags of the one that was there.
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
// In words
//===--------------------------------------------------------------------===//

shim_status_t shim__fault_status(const shim__fault_t* fault) {
  switch (fault->signal) {
    case SIGBUS:
      return SHIM_DATA_LOSS;
    case SIGILL:
      return SHIM_INCOMPATIBLE;
    default:
      return SHIM_INTERNAL;
  }
}

// A line of /proc/self/maps: "begin-end rights offset device inode   name".
typedef struct mapping_t {
  char rights[5];
  char name[64];  // the end of it
} mapping_t;

static bool read_mapping(const char* line, uintptr_t address,
                         mapping_t* out_mapping) {
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

static bool find_mapping(uintptr_t address, mapping_t* out_mapping) {
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char line[4096 + 128];  // a path, and what comes before it
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

static void describe_memory(const shim__fault_t* fault, char* out,
                            size_t capacity) {
  mapping_t mapping;
  if (!find_mapping(fault->address, &mapping)) {
    snprintf(out, capacity, "where no memory is");
    return;
  }
  // What a mapping is of comes last: messages may be cut.
  const char* kind =
      fault->signal == SIGBUS      ? "a part of a file that has become shorter"
      : mapping.rights[0] != 'r'   ? "inaccessible memory"
      : mapping.rights[1] == 'w'   ? "writable memory"
                                   : "read-only memory";
  const bool is_named = mapping.name[0] != '\0';
  snprintf(out, capacity, is_named ? "%s, '%s'" : "%s", kind, mapping.name);
}

void shim__fault_text(const shim__fault_t* fault, const char* where, char* out,
                      size_t capacity) {
  if (fault->signal == SIGFPE) {
    snprintf(out, capacity,
             "divided an integer by zero, or the smallest one by -1");
    return;
  }
  if (fault->signal == SIGILL) {
    snprintf(out, capacity,
             "ran into an instruction that this processor does not have, or "
             "that stands where code cannot go on; compile it for this "
             "processor");
    return;
  }
  if (!fault->has_address) {
    snprintf(out, capacity,
             "used an address that no memory can have, or a vector that is "
             "not aligned");
    return;
  }
  static const char* const verbs[] = {"accessed", "read from", "wrote to",
                                      "jumped to"};
  char memory[160];
  describe_memory(fault, memory, sizeof(memory));
  snprintf(out, capacity, "%s 0x%llx, %s%s%s", verbs[fault->access],
           (ull)fault->address, where ? where : "", where ? ", " : "", memory);
}

// Kernels that access invalid memory: each call ends in a status, and other
// faults go to the previous handler.
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim_file.h"
#include "test.h"

enum {
  STORE,
  LOAD,
  JUMP,
  STORE_TO_CONSTANTS,
  STORE_TO_CODE,
  DIVIDE,
  STOP,
  MISALIGN,
  SET_MODE,
  FILL,
  DIG,
  TRAP,
  LEAVE,
  STREAM,
};

static uintptr_t page;

static shim_status_t open_by(uint32_t flags, const char* kernel,
                             shim_cpu_executable_t** out_executable,
                             shim_error_t* error) {
  return open_executable(kernel,
                         (shim_cpu_executable_params_t){.flags = flags},
                         out_executable, error);
}

static shim_cpu_executable_t* faulty(uint32_t flags) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_by(flags, "faulty", &executable, &error));
  return executable;
}

// The binding; the first word counts workgroups that completed.
typedef struct bound_t {
  _Alignas(64) uint32_t words[16];
} bound_t;

enum { WORKGROUPS = 5 };

// Runs a kernel that accesses an address, in a workgroup of 5.
static shim_status_t run_here(shim_cpu_executable_t* executable,
                              uint32_t ordinal, const volatile void* address,
                              uint32_t workgroup, bound_t* bound,
                              shim_error_t* error) {
  uint32_t constants[3] = {(uint32_t)(uintptr_t)address,
                           (uint32_t)((uintptr_t)address >> 32), workgroup};
  void* pointer = bound->words;
  size_t length = sizeof(bound->words);
  shim_dispatch_state_t state = {.workgroup_count_x = WORKGROUPS,
                                 .workgroup_count_y = 1,
                                 .workgroup_count_z = 1,
                                 .constant_count = 3,
                                 .binding_count = 1,
                                 .constants = constants,
                                 .binding_ptrs = &pointer,
                                 .binding_lengths = &length};
  shim_cpu_dispatch_t dispatch = {
      .ordinal = ordinal, .state = &state, .begin = 0, .end = WORKGROUPS};
  return shim_cpu_executable_dispatch(executable, &dispatch, error);
}

static shim_status_t run(shim_cpu_executable_t* executable, uint32_t ordinal,
                         const volatile void* address, bound_t* bound,
                         shim_error_t* error) {
  return run_here(executable, ordinal, address, 3, bound, error);
}

static void* map(int rights) {
  void* bytes =
      mmap(NULL, page, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(bytes != MAP_FAILED);
  return bytes;
}

static int temporary_file(const char* path) {
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(file >= 0);
  CHECK_EQ(ftruncate(file, (off_t)page), 0);
  return file;
}

static void a_fault_is_a_status_that_says_what_was_done(void) {
  shim_cpu_executable_t* executable = faulty(0);
  bound_t bound = {{0}};
  uint8_t* bytes = map(PROT_READ);
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL,
              "dispatch 'store' of executable 'faulty' was stopped in "
              "workgroup (3, 0, 0): it ");
  CHECK_EQ(bound.words[0], 3);  // ran before
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL,
              "read-only memory");
  munmap(bytes, page);
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL,
              "where nothing is mapped");
  bytes = map(PROT_NONE);
  CHECK_FAILS(run(executable, LOAD, bytes, &bound, &error), SHIM_INTERNAL,
              "inaccessible memory");
  munmap(bytes, page);
  CHECK_FAILS(run(executable, STORE, NULL, &bound, &error), SHIM_INTERNAL,
              " 0x0, where nothing is mapped");
  CHECK_FAILS(run(executable, JUMP, (void*)64, &bound, &error), SHIM_INTERNAL,
              " 0x40, where nothing is mapped");
  CHECK_FAILS(run(executable, STORE_TO_CONSTANTS, NULL, &bound, &error),
              SHIM_INTERNAL, "read-only memory");
  CHECK_FAILS(run(executable, STORE_TO_CODE, NULL, &bound, &error),
              SHIM_INTERNAL, "read-only memory");
  CHECK_FAILS(run(executable, STOP, NULL, &bound, &error), SHIM_INCOMPATIBLE,
              "an instruction that this processor lacks");
  CHECK_FAILS(run(executable, TRAP, NULL, &bound, &error), SHIM_INCOMPATIBLE,
              "or that marks unreachable code");
  CHECK_FAILS(run(executable, LEAVE, (void*)64, &bound, &error), SHIM_INTERNAL,
              " 0x40, where nothing is mapped");
  // No place of an instruction on arm64.
  CHECK_FAILS(run(executable, LEAVE, (void*)65, &bound, &error), SHIM_INTERNAL,
              "it ");
  CHECK_FAILS(run(executable, MISALIGN, (uint8_t*)&bound + 1, &bound, &error),
              SHIM_INTERNAL, "a misaligned vector operand or atomic one");
#if defined(__x86_64__)
  CHECK_FAILS(run(executable, STORE, NULL, &bound, &error), SHIM_INTERNAL,
              "it wrote to 0x0, ");
  CHECK_FAILS(run(executable, LOAD, (void*)8, &bound, &error), SHIM_INTERNAL,
              "it read from 0x8, ");
  CHECK_FAILS(run(executable, JUMP, (void*)64, &bound, &error), SHIM_INTERNAL,
              "it jumped to 0x40, ");
  CHECK_FAILS(run(executable, STORE, (void*)0x1234567812345678, &bound, &error),
              SHIM_INTERNAL, "a non-canonical address");
  CHECK_FAILS(run(executable, MISALIGN, &bound.words[1], &bound, &error),
              SHIM_INTERNAL, "a misaligned vector operand");
  bound.words[0] = 5;
  bound.words[1] = 0;
  CHECK_FAILS(run(executable, DIVIDE, NULL, &bound, &error), SHIM_INTERNAL,
              "divided an integer by zero");
  bound.words[1] = 2;
  CHECK_OK(run(executable, DIVIDE, NULL, &bound, &error));
  CHECK_EQ(bound.words[2], 2);
#endif
  shim_cpu_executable_release(executable);
}

static void a_fault_near_a_binding_says_which(void) {
  shim_cpu_executable_t* executable = faulty(0);
  uint8_t* bytes = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
  CHECK(bytes != MAP_FAILED);
  CHECK_EQ(mprotect(bytes + page, page, PROT_READ | PROT_WRITE), 0);
  bound_t* bound = (bound_t*)(bytes + 2 * page - sizeof(bound_t));
  CHECK_FAILS(run(executable, STORE, bytes + 2 * page + 4, bound, &error),
              SHIM_INTERNAL, "byte 68 of binding 0 (64 bytes), inaccessible");
  bound = (bound_t*)(bytes + page);
  CHECK_FAILS(run(executable, STORE, bytes + page - 8, bound, &error),
              SHIM_INTERNAL, "8 bytes before binding 0, inaccessible");
  CHECK_EQ(mprotect(bytes + page, page, PROT_READ), 0);
  CHECK_FAILS(run(executable, LOAD, bytes + page, bound, &error), SHIM_INTERNAL,
              "byte 0 of binding 0 (64 bytes), read-only memory");
  munmap(bytes, 3 * page);
  shim_cpu_executable_release(executable);
}

#if !defined(__APPLE__)
// Linux shows the map in a file, which needs a descriptor.
static void an_unreadable_memory_map_is_not_an_empty_one(void) {
  shim_cpu_executable_t* executable = faulty(0);
  bound_t bound = {{0}};
  uint8_t* bytes = map(PROT_READ);
  struct rlimit before;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL,
              ", and the memory map cannot be read");
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL,
              "read-only memory");
  munmap(bytes, page);
  shim_cpu_executable_release(executable);
}
#endif

static void a_file_that_became_shorter_is_lost_data(void) {
  shim_cpu_executable_t* executable = faulty(0);
  bound_t bound = {{0}};
  const char* path = "test_fault.tmp";
  int file = temporary_file(path);
  uint8_t* bytes = mmap(NULL, page, PROT_READ, MAP_SHARED, file, 0);
  CHECK(bytes != MAP_FAILED);
  CHECK_OK(run(executable, LOAD, bytes, &bound, &error));
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL,
              "test_fault.tmp'");
  CHECK_EQ(ftruncate(file, 0), 0);
  CHECK_FAILS(run(executable, LOAD, bytes, &bound, &error), SHIM_DATA_LOSS,
              "a part of a file that has become shorter, '");
  munmap(bytes, page);
  close(file);
  unlink(path);
  shim_cpu_executable_release(executable);
}

static void the_thread_is_as_before(void) {
  shim_cpu_executable_t* executable = faulty(0);
  bound_t bound = {{0}};
  sigset_t mask;
  sigset_t after;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
  for (int i = 0; i < 3; ++i) {
    CHECK_FAILS(run(executable, SET_MODE, NULL, &bound, &error), SHIM_INTERNAL,
                "'set_mode'");
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    CHECK(!sigismember(&after, SIGSEGV) && sigismember(&after, SIGUSR1));
    CHECK_EQ(shim_thread_flushes_denormals(), 0);
    volatile float more = 0x1.8p-24f;
    CHECK(1 + more == 1 + 0x1p-23f);  // rounded to the nearest
  }
  // Also with an alternate signal stack.
  static uint8_t stack[1 << 16];
  stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
  CHECK_EQ(sigaltstack(&other, NULL), 0);
  for (int i = 0; i < 3; ++i) {
    CHECK_FAILS(run(executable, STORE, NULL, &bound, &error), SHIM_INTERNAL,
                "0x0");
  }
  stack_t now;
  CHECK_EQ(sigaltstack(NULL, &now), 0);
  CHECK(now.ss_sp == stack && !(now.ss_flags & SS_ONSTACK));
  other.ss_flags = SS_DISABLE;
  CHECK_EQ(sigaltstack(&other, NULL), 0);
  sigemptyset(&mask);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
  shim_cpu_executable_release(executable);
}

#if defined(__aarch64__)
// Without it the next vector instruction of the thread may be an illegal one.
static void a_thread_leaves_the_modes_of_sme(void) {
  if (shim_cpu_feature_lookup("sme", 3) != 1) {
    fprintf(stderr, "skipped: the processor has no SME\n");
    return;
  }
  shim_cpu_executable_t* executable = faulty(0);
  bound_t bound = {{0}};
  for (uintptr_t i = 0; i < 2; ++i) {
    CHECK_FAILS(run_here(executable, STREAM, (void*)64, (uint32_t)i, &bound,
                         &error),
                SHIM_INTERNAL, " 0x40, where nothing is mapped");
    uint64_t modes;
    __asm__ volatile("mrs %0, s3_3_c4_c2_2" : "=r"(modes));  // SVCR
    CHECK_EQ(modes, 0);
  }
  shim_cpu_executable_release(executable);
}
#endif

static void faults_while_loading_are_statuses(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_FAILS(open_by(0, "faulty_initializer", &executable, &error),
              SHIM_INTERNAL,
              "executable 'faulty_initializer': its initializer was stopped");
  CHECK(!executable);
  CHECK_FAILS(open_by(0, "faulty_query", &executable, &error), SHIM_INTERNAL,
              "executable 'faulty_query': its query function was stopped");
  CHECK(!executable);
}

// Through memset of the C library, which the system's loader links to a kernel.
static void what_a_kernel_calls_faults_as_it(void) {
  shim_cpu_executable_t* executable = NULL;
  CHECK_OK(open_by(SHIM_CPU_EXECUTABLE_SYSTEM, "faulty_fill", &executable,
                   &error));
  bound_t bound = {{0}};
  uint8_t* bytes = map(PROT_READ);
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL,
              "read-only memory");
#if !defined(__SANITIZE_THREAD__)  // whose memset is not called directly
  CHECK_FAILS(run(executable, FILL, bytes, &bound, &error), SHIM_INTERNAL,
              "read-only memory");
#endif
  munmap(bytes, page);
  shim_cpu_executable_release(executable);
}

//===--------------------------------------------------------------------===//
// A thousand stores
//===--------------------------------------------------------------------===//

typedef enum kind_t {
  NOTHING,      // address 0 and the first pages
  FAR,          // unmapped or non-canonical
  READ_ONLY,    // anonymous
  GUARD,        // without access
  FILE_MAPPED,  // as parameters are
  FILE_PRIVATE,
  SEALED,     // as the bytes of modules are
  VIEW,       // of sealed memory, writable
  OWN_DATA,   // of the executable, read-only
  OWN_CODE,
  BOUND,      // valid
  KINDS,
} kind_t;

typedef struct memory_t {
  uint8_t* of[KINDS];
  shim_sealed_t* sealed;
  shim_view_t* view;
  int file;
} memory_t;

static void prepare(memory_t* memory, const char* path) {
  memory->of[READ_ONLY] = map(PROT_READ);
  memory->of[GUARD] = map(PROT_NONE);
  memory->file = temporary_file(path);
  unlink(path);
  memory->of[FILE_MAPPED] =
      mmap(NULL, page, PROT_READ, MAP_SHARED, memory->file, 0);
  memory->of[FILE_PRIVATE] =
      mmap(NULL, page, PROT_READ, MAP_PRIVATE, memory->file, 0);
  CHECK(memory->of[FILE_MAPPED] != MAP_FAILED &&
        memory->of[FILE_PRIVATE] != MAP_FAILED);
  CHECK_OK(shim_sealed_create(page, &memory->sealed, &error));
  memory->of[SEALED] = shim_sealed_bytes(memory->sealed);
  memset(memory->of[SEALED], 3, page);
  CHECK_OK(shim_sealed_seal(memory->sealed, &error));
  CHECK_OK(shim_view_create(memory->sealed, 0, page, &memory->view, &error));
  memory->of[VIEW] = shim_view_bytes(memory->view);
}

static void finish(memory_t* memory) {
  const kind_t mapped[] = {READ_ONLY, GUARD, FILE_MAPPED, FILE_PRIVATE};
  for (int i = 0; i < 4; ++i) munmap(memory->of[mapped[i]], page);
  shim_view_release(memory->view);
  shim_sealed_release(memory->sealed);
  close(memory->file);
}

static uint32_t next(uint32_t* state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

static void store_somewhere(shim_cpu_executable_t* executable,
                            memory_t* memory, uint32_t* random) {
  const kind_t kind = (kind_t)(next(random) % KINDS);
  const uintptr_t at = next(random) % page;
  bound_t bound = {{0}};
  shim_error_t how = {0};
  uint32_t ordinal = STORE;
  uint8_t* address = NULL;
  bool is_right = false;
  switch (kind) {
    case NOTHING:
      address = (uint8_t*)at;
      break;
    case FAR:  // above user space, or non-canonical
      address = (uint8_t*)((uintptr_t)next(random) << 47 | 1ull << 63);
      break;
    case OWN_DATA:
      ordinal = STORE_TO_CONSTANTS;
      break;
    case OWN_CODE:
      ordinal = STORE_TO_CODE;
      break;
    case BOUND:
      address = (uint8_t*)bound.words + 4 + at % 60;
      is_right = true;
      break;
    default:
      address = memory->of[kind] + at;
      is_right = kind == VIEW;
  }
  const shim_status_t status = run(executable, ordinal, address, &bound, &how);
  if (!is_right) {
    CHECK_EQ(status, SHIM_INTERNAL);
    CHECK_EQ(how.native_code, SIGSEGV);
    return;
  }
  CHECK_EQ(status, SHIM_OK);
  CHECK_EQ(bound.words[0], WORKGROUPS - 1);
  CHECK_EQ(*address, 7);
  if (kind == VIEW) {
    CHECK_OK(shim_view_restore(memory->view, &error));
    CHECK_EQ(*(volatile uint8_t*)address, 3);
  }
}

static void a_thousand_stores_end_in_a_status_or_a_right_result(void) {
  const char* given = getenv("SHIM_FUZZ_SEED");
  uint32_t random = given ? (uint32_t)strtoul(given, NULL, 0) : 2026;
  fprintf(stderr, "seed %u\n", random);
  shim_cpu_executable_t* executable = faulty(0);
  memory_t memory;
  prepare(&memory, "test_fault_stores.tmp");
  for (int i = 0; i < 1000; ++i) store_somewhere(executable, &memory, &random);
  finish(&memory);
  shim_cpu_executable_release(executable);
}

enum { THREADS = 4 };
static shim_cpu_executable_t* shared;

static void* store_on_a_thread(void* argument) {
  uint32_t random = (uint32_t)(uintptr_t)argument;
  char path[64];
  snprintf(path, sizeof(path), "test_fault_thread_%u.tmp", random);
  memory_t memory;
  prepare(&memory, path);
  for (int i = 0; i < 300; ++i) store_somewhere(shared, &memory, &random);
  finish(&memory);
  return NULL;
}

static void threads_fault_each_for_itself(void) {
  shared = faulty(0);
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; ++i) {
    CHECK_EQ(pthread_create(&threads[i], NULL, store_on_a_thread, (void*)i), 0);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  shim_cpu_executable_release(shared);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static void* use_up_the_stack(void* argument) {
  static uint8_t alternate[1 << 16];
  const stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
  const stack_t none = {.ss_flags = SS_DISABLE};
  CHECK_EQ(sigaltstack(&other, NULL), 0);
  bound_t bound = {{0}};
  for (int i = 0; i < 3; ++i) {
    CHECK_FAILS(run(argument, DIG, NULL, &bound, &error), SHIM_INTERNAL,
                "dispatch 'dig' of executable 'faulty' was stopped");
  }
  CHECK_EQ(sigaltstack(&none, NULL), 0);
  return NULL;
}

// On a thread whose handlers have a stack of their own.
static void a_kernel_may_use_up_the_stack(void) {
  shim_cpu_executable_t* executable = faulty(0);
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK_EQ(pthread_attr_setstacksize(&small, 1 << 18), 0);
  CHECK_EQ(pthread_create(&thread, &small, use_up_the_stack, executable), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&small);
  shim_cpu_executable_release(executable);
}

#endif

//===--------------------------------------------------------------------===//
//Faults of other code
//===--------------------------------------------------------------------===//

static sigjmp_buf back;
static volatile int passed;
static volatile uintptr_t passed_address;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)context;
  passed = number;
  passed_address = (uintptr_t)info->si_addr;
  if (info->si_code > 0) siglongjmp(back, 1);
}

static void faults_of_others_are_passed_on(void) {
  shim_cpu_executable_t* executable = faulty(0);
  volatile uint8_t* bytes = map(PROT_READ);
  passed = 0;
  if (!sigsetjmp(back, 1)) *bytes = 1;
  CHECK_EQ(passed, SIGSEGV);
  CHECK_EQ(passed_address, (uintptr_t)bytes);
  for (int i = 0; i < 4; ++i) {
    const int number = (int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL}[i];
    passed = 0;
    raise(number);
    CHECK_EQ(passed, number);
  }
  // Also after a kernel was stopped.
  bound_t bound = {{0}};
  CHECK_FAILS(run(executable, STORE, bytes, &bound, &error), SHIM_INTERNAL, "");
  passed = 0;
  if (!sigsetjmp(back, 1)) *bytes = 1;
  CHECK_EQ(passed, SIGSEGV);
  munmap((void*)bytes, page);
  shim_cpu_executable_release(executable);
}

static void what_is_not_guarded_is_passed_on(void) {
  shim_cpu_executable_t* executable = faulty(SHIM_CPU_EXECUTABLE_UNGUARDED);
  static bound_t bound;
  passed = 0;
  if (!sigsetjmp(back, 1)) {
    run(executable, STORE, (void*)16, &bound, NULL);
    CHECK(false);
  }
  CHECK_EQ(passed, SIGSEGV);
  CHECK_EQ(passed_address, 16);
  shim_cpu_executable_release(executable);
}

// Without a handler before the shim's: as without the shim.
static void a_signal_sent_by_a_process_ends_it(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    signal(SIGFPE, SIG_DFL);  // sanitizers have a handler
    shim_cpu_executable_t* executable = NULL;
    if (open_executable("faulty", (shim_cpu_executable_params_t){0},
                        &executable, NULL) == SHIM_OK) {
      raise(SIGFPE);
    }
    _exit(0);
  }
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGFPE);
}

int main(void) {
  page = (uintptr_t)sysconf(_SC_PAGESIZE);
  RUN(a_signal_sent_by_a_process_ends_it);
  // What a JVM does before the shim is loaded.
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  for (int i = 0; i < 4; ++i) {
    const int number = (int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL}[i];
    CHECK_EQ(sigaction(number, &action, NULL), 0);
  }
  RUN(a_fault_is_a_status_that_says_what_was_done);
  RUN(a_fault_near_a_binding_says_which);
#if !defined(__APPLE__)
  RUN(an_unreadable_memory_map_is_not_an_empty_one);
#endif
  RUN(a_file_that_became_shorter_is_lost_data);
  RUN(the_thread_is_as_before);
#if defined(__aarch64__)
  RUN(a_thread_leaves_the_modes_of_sme);
#endif
  RUN(faults_while_loading_are_statuses);
  if (shim_capabilities() & SHIM_CAPABILITY_SYSTEM_LIBRARIES) {
    RUN(what_a_kernel_calls_faults_as_it);
  }
  RUN(a_thousand_stores_end_in_a_status_or_a_right_result);
  RUN(threads_fault_each_for_itself);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  RUN(a_kernel_may_use_up_the_stack);
#endif
  RUN(faults_of_others_are_passed_on);
  RUN(what_is_not_guarded_is_passed_on);
  return 0;
}

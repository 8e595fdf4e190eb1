// Views of sealed memory: private stores, and faults of other code.
#include <pthread.h>
#include <string.h>
#if !defined(_WIN32)
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#endif

#include "shim_file.h"
#include "test.h"

enum { SIZE = (3 << 20) + 5000 };

static shim_sealed_t* sealed;

static uint8_t expected(uint64_t at) { return (uint8_t)(at * 31 + at / 4096); }

static void seal(void) {
  CHECK_OK(shim_sealed_create(SIZE, &sealed, &error));
  uint8_t* bytes = shim_sealed_bytes(sealed);
  for (uint64_t i = 0; i < SIZE; ++i) bytes[i] = expected(i);
  CHECK_OK(shim_sealed_seal(sealed, &error));
}

static shim_view_t* create(uint64_t offset, uint64_t length) {
  shim_view_t* view = NULL;
  CHECK_OK(shim_view_create(sealed, offset, length, &view, &error));
  return view;
}

static void check_original(const uint8_t* bytes, uint64_t offset,
                           uint64_t length) {
  for (uint64_t i = 0; i < length; ++i) {
    CHECK_EQ(bytes[i], expected(offset + i));
  }
}

static void a_view_reads_what_was_sealed(void) {
  shim_view_t* view = create(4100, SIZE - 4100);
  check_original(shim_view_bytes(view), 4100, SIZE - 4100);
  CHECK(!shim_view_is_written(view));
  shim_view_release(view);
}

static void a_store_is_seen_in_its_view_only(void) {
  shim_view_t* one = create(64, SIZE - 64);
  shim_view_t* other = create(64, SIZE - 64);
  volatile uint8_t* bytes = shim_view_bytes(one);
  bytes[0] = 200;
  bytes[SIZE - 65] = 201;
  bytes[2 << 20] = 202;
  CHECK_EQ(bytes[0], 200);
  CHECK_EQ(bytes[SIZE - 65], 201);
  CHECK_EQ(bytes[2 << 20], 202);
  CHECK_EQ(bytes[1], expected(65));
  CHECK(shim_view_is_written(one));
  CHECK(!shim_view_is_written(other));
  check_original(shim_view_bytes(other), 64, SIZE - 64);
  check_original(shim_sealed_bytes(sealed), 0, SIZE);
  shim_view_release(one);
  shim_view_release(other);
}

static void a_view_is_restored_again_and_again(void) {
  shim_view_t* view = create(0, SIZE);
  volatile uint8_t* bytes = shim_view_bytes(view);
  for (uint64_t round = 0; round < 50; ++round) {
    uint64_t at = round * 70000 % SIZE;
    bytes[at] = (uint8_t)(expected(at) + 1);
    CHECK(shim_view_is_written(view));
    CHECK_OK(shim_view_restore(view, &error));
    CHECK(!shim_view_is_written(view));
    CHECK_EQ(bytes[at], expected(at));
  }
  check_original((const uint8_t*)bytes, 0, SIZE);
  shim_view_release(view);
}

static void a_view_may_outlive_what_was_sealed(void) {
  shim_sealed_t* before = sealed;
  seal();
  shim_view_t* view = create(0, SIZE);
  shim_sealed_release(sealed);
  sealed = before;
  volatile uint8_t* bytes = shim_view_bytes(view);
  bytes[SIZE - 1] = 9;
  CHECK_OK(shim_view_restore(view, &error));
  check_original((const uint8_t*)bytes, 0, SIZE);
  shim_view_release(view);
}

static void ranges_outside_are_refused(void) {
  shim_view_t* view = (shim_view_t*)&sealed;
  CHECK_FAILS(shim_view_create(sealed, SIZE, 1, &view, &error),
              SHIM_OUT_OF_RANGE, "1 bytes at 3150728 are not in memory");
  CHECK(!view);
  CHECK_FAILS(shim_view_create(sealed, UINT64_MAX, 2, &view, &error),
              SHIM_OUT_OF_RANGE, "are not in memory of 3150728");
  CHECK_FAILS(shim_view_create(sealed, 1, SIZE, &view, &error),
              SHIM_OUT_OF_RANGE, "are not in memory");
  CHECK_FAILS(shim_view_create(sealed, 0, 0, &view, &error), SHIM_OUT_OF_RANGE,
              "0 bytes");
  shim_view_release(NULL);
}

//===--------------------------------------------------------------------===//
// Threads
//===--------------------------------------------------------------------===//

enum { THREADS = 4 };

static shim_view_t* shared;

// Each writes its own bytes, all of them in the same pages.
static void* store_between_others(void* argument) {
  volatile uint8_t* bytes = shim_view_bytes(shared);
  for (uint64_t at = (uintptr_t)argument; at < SIZE; at += THREADS) {
    bytes[at] = (uint8_t)(bytes[at] + 1);
  }
  return NULL;
}

static void stores_of_many_threads_are_all_made(void) {
  shared = create(0, SIZE);
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; ++i) {
    CHECK_EQ(pthread_create(&threads[i], NULL, store_between_others, (void*)i),
             0);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  uint8_t* bytes = shim_view_bytes(shared);
  for (uint64_t i = 0; i < SIZE; ++i) {
    CHECK_EQ(bytes[i], (uint8_t)(expected(i) + 1));
  }
  shim_view_release(shared);
}

// Views come and go while others are written, more than one block of places.
static void* make_and_write(void* argument) {
  enum { HELD = 40 };
  uint64_t offset = 8192 * (uintptr_t)argument;
  shim_view_t* views[HELD] = {0};
  for (uint64_t round = 0; round < 400; ++round) {
    shim_view_t** place = &views[round * 7 % HELD];
    shim_view_release(*place);
    CHECK_OK(shim_view_create(sealed, offset, 8192, place, NULL));
    volatile uint8_t* bytes = shim_view_bytes(*place);
    uint64_t at = round * 61 % 8192;
    CHECK_EQ(bytes[at], expected(offset + at));
    bytes[at] = (uint8_t)round;
    CHECK_EQ(bytes[at], (uint8_t)round);
    CHECK(shim_view_is_written(*place));
  }
  for (int i = 0; i < HELD; ++i) shim_view_release(views[i]);
  return NULL;
}

static void views_come_and_go_while_others_are_written(void) {
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; ++i) {
    CHECK_EQ(pthread_create(&threads[i], NULL, make_and_write, (void*)i), 0);
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
}

//===--------------------------------------------------------------------===//
// Faults of other code. On Windows views need no handler
//===--------------------------------------------------------------------===//

#if !defined(_WIN32)

static sigjmp_buf back;
static uint8_t* faulted;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  faulted = info->si_addr;
  siglongjmp(back, 1);
}

static void fault_at(volatile uint8_t* byte) {
  faulted = NULL;
  if (!sigsetjmp(back, 1)) *byte = 1;
  CHECK(faulted == byte);
}

static void faults_that_are_not_theirs_are_passed_on(void) {
  shim_view_t* view = create(0, 4096);
  shim_view_t* gone = create(0, 4096);
  uint8_t* page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);
  CHECK(page != MAP_FAILED);
  fault_at(page);
  fault_at(shim_sealed_bytes(sealed));
  fault_at((uint8_t*)16);
  uint8_t* address = shim_view_bytes(gone);
  shim_view_release(gone);
  void* again = mmap(address, 4096, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(again == address);
  fault_at(address);
  munmap(again, 4096);
  munmap(page, 4096);
  volatile uint8_t* bytes = shim_view_bytes(view);
  bytes[7] = 1;
  CHECK(shim_view_is_written(view));
  shim_view_release(view);
}

// What a JVM does before the shim is loaded.
static void install_handler(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
}

#endif

int main(void) {
#if !defined(_WIN32)
  install_handler();
#endif
  CHECK(shim_capabilities() & SHIM_CAPABILITY_VIEWS);
  seal();
  RUN(a_view_reads_what_was_sealed);
  RUN(a_store_is_seen_in_its_view_only);
  RUN(a_view_is_restored_again_and_again);
  RUN(a_view_may_outlive_what_was_sealed);
  RUN(ranges_outside_are_refused);
  RUN(stores_of_many_threads_are_all_made);
  RUN(views_come_and_go_while_others_are_written);
#if !defined(_WIN32)
  RUN(faults_that_are_not_theirs_are_passed_on);
#endif
  shim_sealed_release(sealed);
  return 0;
}

// Sealed memory: writable until sealed, read-only from then on.
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim_file.h"
#include "test.h"

static shim_sealed_t* create(uint64_t size) {
  shim_sealed_t* sealed = NULL;
  CHECK_OK(shim_sealed_create(size, &sealed, &error));
  return sealed;
}

static void what_was_written_stays_when_it_is_sealed(void) {
  uint64_t size = 3 * (uint64_t)sysconf(_SC_PAGESIZE) + 17;
  shim_sealed_t* sealed = create(size);
  uint8_t* bytes = shim_sealed_bytes(sealed);
  CHECK_EQ((uintptr_t)bytes % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
  for (uint64_t i = 0; i < size; ++i) {
    CHECK_EQ(bytes[i], 0);
    bytes[i] = (uint8_t)(i * 7);
  }
  CHECK_OK(shim_sealed_seal(sealed, &error));
  CHECK(shim_sealed_bytes(sealed) == bytes);
  for (uint64_t i = 0; i < size; ++i) CHECK_EQ(bytes[i], (uint8_t)(i * 7));
  shim_sealed_release(sealed);
}

static sigjmp_buf back;

static void go_back(int signal_number) {
  (void)signal_number;
  siglongjmp(back, 1);
}

static int store_faults(volatile uint8_t* byte) {
  struct sigaction action, before, before_bus;
  memset(&action, 0, sizeof(action));
  action.sa_handler = go_back;
  CHECK_EQ(sigaction(SIGSEGV, &action, &before), 0);
  CHECK_EQ(sigaction(SIGBUS, &action, &before_bus), 0);  // of macOS
  int faulted = sigsetjmp(back, 1);
  if (!faulted) *byte = 1;
  CHECK_EQ(sigaction(SIGSEGV, &before, NULL), 0);
  CHECK_EQ(sigaction(SIGBUS, &before_bus, NULL), 0);
  return faulted;
}

static void a_store_faults_only_after_sealing(void) {
  shim_sealed_t* sealed = create(100);
  uint8_t* bytes = shim_sealed_bytes(sealed);
  CHECK(!store_faults(bytes + 99));
  CHECK_OK(shim_sealed_seal(sealed, &error));
  CHECK(store_faults(bytes + 99));
  CHECK(store_faults(bytes));
  CHECK_EQ(bytes[99], 1);
  CHECK_EQ(bytes[0], 0);
  shim_sealed_release(sealed);
}

static void a_file_is_mapped_until_it_is_released(void) {
  char path[] = "/tmp/iree4j-sealed-XXXXXX";
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  shim_sealed_t* sealed = (shim_sealed_t*)&back;
  CHECK_FAILS(shim_sealed_map(fd, &sealed, &error), SHIM_INVALID_ARGUMENT,
              "at least a byte");
  CHECK(!sealed);
  CHECK_EQ(write(fd, "module", 6), 6);
  CHECK_OK(shim_sealed_map(fd, &sealed, &error));
  CHECK_EQ(close(fd), 0);
  CHECK_EQ(unlink(path), 0);
  CHECK_EQ(shim_sealed_size(sealed), 6);
  CHECK_EQ(memcmp(shim_sealed_bytes(sealed), "module", 6), 0);
  CHECK(store_faults(shim_sealed_bytes(sealed)));
  shim_view_t* view = NULL;
  if (shim_capabilities() & SHIM_CAPABILITY_VIEWS) {
    CHECK_OK(shim_view_create(sealed, 2, 4, &view, &error));
    *(volatile uint8_t*)shim_view_bytes(view) = 'D';
    CHECK_EQ(memcmp(shim_view_bytes(view), "Dule", 4), 0);
    CHECK_EQ(memcmp(shim_sealed_bytes(sealed), "module", 6), 0);
  } else {
    CHECK_FAILS(shim_view_create(sealed, 2, 4, &view, &error),
                SHIM_UNIMPLEMENTED, "no views");
    CHECK(!view);
  }
  shim_view_release(view);
  shim_sealed_release(sealed);
}

static void sizes_that_cannot_be_are_refused(void) {
  shim_sealed_t* sealed = (shim_sealed_t*)&back;
  CHECK_FAILS(shim_sealed_create(0, &sealed, &error), SHIM_INVALID_ARGUMENT,
              "memory of 0 bytes");
  CHECK(!sealed);
  CHECK_FAILS(shim_sealed_create(UINT64_MAX, &sealed, &error),
              SHIM_RESOURCE_EXHAUSTED,
              "no memory for 18446744073709551615 bytes");
  CHECK_FAILS(shim_sealed_create(1ull << 50, &sealed, &error),
              SHIM_RESOURCE_EXHAUSTED, "no memory for 1125899906842624 bytes");
  CHECK(!sealed);
}

static void nothing_is_released(void) { shim_sealed_release(NULL); }

int main(void) {
  RUN(what_was_written_stays_when_it_is_sealed);
  RUN(a_store_faults_only_after_sealing);
  RUN(a_file_is_mapped_until_it_is_released);
  RUN(sizes_that_cannot_be_are_refused);
  RUN(nothing_is_released);
  return 0;
}

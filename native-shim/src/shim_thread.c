// The calling thread's affinity on Linux. Calls shim_status.c only.
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "shim.h"

enum { BITS = 64 };

_Static_assert(SHIM_MAX_PROCESSORS % BITS == 0, "whole words");

shim_status_t shim_thread_set_affinity(const uint64_t* mask, size_t word_count,
                                       shim_error_t* error) {
  if (word_count > SHIM_MAX_PROCESSORS / BITS) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "affinity of %zu processors is beyond the limit of "
                          "%d",
                          word_count * BITS, SHIM_MAX_PROCESSORS);
  }
  // The kernel reads whole words of its own size, which are these.
  uint64_t words[SHIM_MAX_PROCESSORS / BITS] = {0};
  memcpy(words, mask, word_count * sizeof(words[0]));
  if (sched_setaffinity(0, sizeof(words), (const cpu_set_t*)words) == 0) {
    return SHIM_OK;
  }
  int code = errno;
  return code == EINVAL
             ? shim_error_set(error, SHIM_INVALID_ARGUMENT, code,
                              "this process may use none of the processors of "
                              "the affinity")
             : shim_error_set(error, SHIM_PERMISSION_DENIED, code,
                              "sched_setaffinity failed with errno %d", code);
}

shim_status_t shim_thread_affinity(uint64_t* out_mask, size_t word_count,
                                   shim_error_t* error) {
  memset(out_mask, 0, word_count * sizeof(out_mask[0]));
  if (sched_getaffinity(0, word_count * sizeof(out_mask[0]),
                        (cpu_set_t*)out_mask) == 0) {
    return SHIM_OK;
  }
  int code = errno;
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, code,
                        "%zu bits are too few for the processors of this "
                        "machine",
                        word_count * BITS);
}

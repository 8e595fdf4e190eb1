// The calling thread on Windows: its affinity and its stack. Calls
// shim_status.c only.
//
// Windows numbers processors in groups of up to 64. Word n of a mask is group
// n, and a thread runs in one group: of a mask with several groups the first
// one counts that the process may use.
#include "windows/windows_error.h"

#include <errno.h>
#include <string.h>

#include "shim.h"
#include "shim_system.h"

enum { BITS = 64 };

// Kernels are compiled for Linux, whose stacks grow at any touched place. A
// stack of Windows grows by its guard page only, the page below the last one
// in use: a kernel whose frame is larger than a page may skip that page, and
// would be stopped. So this much is touched before, page by page. IREE's
// compiler limits a kernel's arrays on the stack to 32 KiB.
#define ROOM ((uintptr_t)256 << 10)

// Stays untouched at the end of the stack: the JVM's guard zones lie there.
#define RESERVED ((uintptr_t)128 << 10)

shim_status_t shim_thread_set_affinity(const uint64_t* mask, size_t word_count,
                                       shim_error_t* error) {
  if (word_count > SHIM_MAX_PROCESSORS / BITS) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "affinity of %zu processors is beyond the limit of "
                          "%d",
                          word_count * BITS, SHIM_MAX_PROCESSORS);
  }
  const WORD groups = GetActiveProcessorGroupCount();
  for (WORD i = 0; i < groups && i < word_count; ++i) {
    const DWORD count = GetActiveProcessorCount(i);
    const uint64_t active =
        count >= BITS ? UINT64_MAX : ((uint64_t)1 << count) - 1;
    GROUP_AFFINITY affinity = {.Mask = mask[i] & active, .Group = i};
    if (affinity.Mask &&
        SetThreadGroupAffinity(GetCurrentThread(), &affinity, NULL)) {
      return SHIM_OK;
    }
  }
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, EINVAL,
                        "this process may use none of the processors of the "
                        "affinity");
}

shim_status_t shim_thread_affinity(uint64_t* out_mask, size_t word_count,
                                   shim_error_t* error) {
  memset(out_mask, 0, word_count * sizeof(out_mask[0]));
  GROUP_AFFINITY affinity;
  if (GetThreadGroupAffinity(GetCurrentThread(), &affinity) &&
      affinity.Group < word_count) {
    out_mask[affinity.Group] = affinity.Mask;
    return SHIM_OK;
  }
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, EINVAL,
                        "%zu bits are too few for the processors of this "
                        "machine",
                        word_count * BITS);
}

void shim__system_prepare_stack(void) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t in_use = (uintptr_t)((NT_TIB*)NtCurrentTeb())->StackLimit;
  if (here - in_use >= ROOM) return;
  ULONG_PTR low, high;
  GetCurrentThreadStackLimits(&low, &high);
  uintptr_t end = here - ROOM;
  if (end < low + RESERVED) end = low + RESERVED;
  for (uintptr_t at = in_use; at > end; at -= 4096) {
    *(volatile uint8_t*)(at - 1);
  }
}

// Injects allocation failures into the shim. The linker redirects the shim's
// calls of the C library to failing_system.c, its calls of Vulkan go through
// failing_driver.c and those of CUDA and HIP through failing_gpu.c; the shim's
// code is unchanged. A place is a call
// that can fail for lack of memory or descriptors; places are numbered from 1
// in each armed call.
#ifndef IREE4J_SHIM_FAILING_H_
#define IREE4J_SHIM_FAILING_H_

#include <stdbool.h>

#include "shim_gpu.h"

// Which place fails in armed calls; 0 for none.
extern uint32_t failing_at;

// The place that failed in the last armed call, NULL when none did.
extern const char* failing_what;

// The status of a call in which that place failed: RESOURCE_EXHAUSTED, unless
// the place says otherwise.
extern shim_status_t failing_expected;

// Number of all failures and armed calls so far.
extern uint32_t failing_total;

// Blocks and mappings that the shim and the test currently hold.
extern int64_t failing_blocks;

// Arms: places count, and one may fail, from here on; |call| is the call's
// text.
void failing_begin(const char* call);

// Disarms. Returns its argument.
int32_t failing_end(int32_t result);

// Called at each place: whether this one fails.
bool failing_here(const char* what);

// Whether that function was called armed, or cannot be called here.
bool failing_was_called(const char* function);
void failing_leave_out(const char* function);

// How many functions passed a place in some call.
uint32_t failing_functions(void);

// One call of an entry point whose allocations may fail.
#define FAILING(call) \
  failing_end((failing_begin(#call), (int32_t)(call)))
#define FAILING_VOID(call) (failing_begin(#call), (call), (void)failing_end(0))

// One call of an entry point that allocates nothing.
#define CALM(call) \
  failing_end_calm((failing_begin_calm(#call), (int64_t)(call)))
#define CALM_VOID(call) \
  (failing_begin_calm(#call), (call), (void)failing_end_calm(0))
void failing_begin_calm(const char* call);
int64_t failing_end_calm(int64_t result);

// Makes one armed call, with its setup and cleanup, and returns its status.
typedef shim_status_t (*failing_entry_t)(void);

enum { FAILING_HAS_NO_STATUS = -1 };  // of an entry that cannot fail

// Runs an entry with place 1, 2, ... failing until all have failed. Each
// failure is the expected one with a description, leaks no block, descriptor
// or object of a driver, and the entry succeeds when retried.
void failing_each(const char* name, failing_entry_t entry);
#define FAILING_EACH(entry) failing_each(#entry, entry)

// The error struct of armed calls.
extern shim_error_t* const failing_error;

// The device of CUDA or HIP whose objects count, or NULL.
extern shim_gpu_device_t* failing_gpu_device;

// Whether making a context current may fail; what frees could not do so then.
extern bool failing_gpu_enters;

// The entry point of CUDA's or HIP's driver, or another symbol, as the shim
// finds it.
void* failing_gpu_symbol(const char* symbol, void* found);

#endif  // IREE4J_SHIM_FAILING_H_

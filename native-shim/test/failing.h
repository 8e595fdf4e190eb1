// Allocations of the shim that fail when a test wants them to. The linker sends
// the shim's calls of the C library here (failing_system.c), and its calls of
// Vulkan go through functions that can fail (failing_driver.c); the shim's own
// code knows nothing of it. A place is a call that could fail for want of
// memory or descriptors; places are numbered from 1 in each armed call.
#ifndef IREE4J_SHIM_FAILING_H_
#define IREE4J_SHIM_FAILING_H_

#include <stdbool.h>

#include "shim.h"

// Which place fails in armed calls; 0 for none.
extern uint32_t failing_at;

// The place that failed in the last armed call, NULL when none did.
extern const char* failing_what;

// All that failed and all calls that were armed so far.
extern uint32_t failing_total;

// Blocks and mappings that the shim and the test have at the moment.
extern int64_t failing_blocks;

// Places count, and one may fail, from here on; |call| is the text of the call.
void failing_begin(const char* call);

// Places no longer count. Returns its argument.
int32_t failing_end(int32_t result);

// Called at each place: whether this one fails.
bool failing_here(const char* what);

// Whether an armed call of that function was made, or cannot be made here.
bool failing_was_called(const char* function);
void failing_leave_out(const char* function);

// How many functions passed a place in some call.
uint32_t failing_functions(void);

// One call of an entry point whose allocations may fail.
#define FAILING(call) \
  failing_end((failing_begin(#call), (int32_t)(call)))
#define FAILING_VOID(call) (failing_begin(#call), (call), (void)failing_end(0))

// One call of an entry point that passes no such place.
#define CALM(call) \
  failing_end_calm((failing_begin_calm(#call), (int64_t)(call)))
#define CALM_VOID(call) \
  (failing_begin_calm(#call), (call), (void)failing_end_calm(0))
void failing_begin_calm(const char* call);
int64_t failing_end_calm(int64_t result);

// Makes one armed call, with what it needs before and takes away after it, and
// says what it gave.
typedef shim_status_t (*failing_entry_t)(void);

enum { FAILING_HAS_NO_STATUS = -1 };  // of an entry that cannot fail

// Runs an entry with place 1, 2, ... failing until none does any more. Each
// failure is RESOURCE_EXHAUSTED, described, leaves no block, no descriptor and
// no object of Vulkan behind, and the entry succeeds when it is made again.
void failing_each(const char* name, failing_entry_t entry);
#define FAILING_EACH(entry) failing_each(#entry, entry)

// What an armed call describes its failure in.
extern shim_error_t* const failing_error;

#endif  // IREE4J_SHIM_FAILING_H_

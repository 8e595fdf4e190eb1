// Runs programs for NVIDIA GPUs, as text in PTX, on the processor of the host:
// the engine of the fake CUDA driver. What it does not know, it refuses by name
// when a module is loaded.
//
// Modules may be used by several threads at a time. Nothing here is kept per
// thread or per process.
#ifndef IREE4J_TEST_PTX_H_
#define IREE4J_TEST_PTX_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module_t ptx_module_t;
typedef struct ptx_function_t ptx_function_t;

// What a launch gave. The names are those of CUDA's errors.
enum {
  PTX_OK = 0,
  PTX_INVALID = 1,          // the launch itself: sizes, parameters
  PTX_ILLEGAL_ADDRESS = 2,  // outside of what |check| allows
  PTX_MISALIGNED = 3,
  PTX_TRAP = 4,          // trap or brkpt
  PTX_OUT_OF_STEPS = 5,  // longer than |max_steps|
  PTX_STOPPED = 6,       // by |stop|
  PTX_DEADLOCK = 7,      // every thread waits for another one
  PTX_OUT_OF_MEMORY = 8,
};

// The global memory of a launch. Its addresses are pointers of this process.
typedef struct ptx_memory_t {
  void* user;
  // Whether a kernel may access |size| bytes. Asked before each access, with
  // the range that a whole warp touches where that is small: what it allows for
  // a range it must allow for each part. Called from several threads at a time.
  bool (*check)(void* user, uint64_t address, uint64_t size, bool write);
  // Where not NULL: a value other than 0, stored by any thread, ends the
  // launch soon.
  volatile int* stop;
  // Instructions of warps that one launch may run; 0: a limit that no sensible
  // kernel reaches.
  uint64_t max_steps;
} ptx_memory_t;

// Reads |length| bytes of text, which need not end with NUL. NULL on failure,
// with a message that names the line and what is wrong with it, such as
// "line 123: instruction 'wgmma.mma_async' is not supported".
ptx_module_t* ptx_module_load(const char* text, size_t length, char* error,
                              size_t error_size);

// Nothing of the module may run or be used afterwards. NULL is allowed.
void ptx_module_unload(ptx_module_t* module);

// A kernel (.entry), or NULL; lives as long as its module.
const ptx_function_t* ptx_module_function(const ptx_module_t* module,
                                          const char* name);

// A variable (.global, .const) of the module; false if there is none.
bool ptx_module_global(const ptx_module_t* module, const char* name,
                       uint64_t* address, uint64_t* size);

// The parameters of a kernel, and where each lies in its parameter buffer.
uint32_t ptx_function_param_count(const ptx_function_t* function);
uint32_t ptx_function_param_offset(const ptx_function_t* function,
                                   uint32_t index);
uint32_t ptx_function_param_size(const ptx_function_t* function,
                                 uint32_t index);

// Bytes of shared memory that the kernel itself declares, and of local memory
// of each thread.
uint32_t ptx_function_shared_bytes(const ptx_function_t* function);
uint32_t ptx_function_local_bytes(const ptx_function_t* function);

// Threads of a block, by .maxntid or .reqntid; 1024 where it has neither.
uint32_t ptx_function_max_threads(const ptx_function_t* function);
// Registers of a thread, about.
uint32_t ptx_function_registers(const ptx_function_t* function);

// Runs a kernel to its end. |params| holds one pointer for each parameter, to
// as many bytes as it has. Returns PTX_OK or what ended it, with a message.
int ptx_launch(const ptx_function_t* function, const uint32_t grid[3],
               const uint32_t block[3], uint32_t dynamic_shared_bytes,
               void** params, const ptx_memory_t* memory, char* error,
               size_t error_size);

#endif  // IREE4J_TEST_PTX_H_

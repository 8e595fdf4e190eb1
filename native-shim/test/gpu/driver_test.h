// What the tests of shim_gpu.h share: a library, which is a fake, one in front
// of a fake, or a driver of the machine; a device with a stream; commands.
#ifndef IREE4J_GPU_DRIVER_TEST_H_
#define IREE4J_GPU_DRIVER_TEST_H_

#include <stdbool.h>

#include "gpu/driver_kernels.h"
#include "shim_gpu.h"
#include "test.h"

extern bool hip;             // whose interface
extern const char* library;  // what the shim opens; NULL: the machine's
extern bool is_fake;         // so that settings are heeded
extern bool is_adapter;      // HIP's interface in front of CUDA's

// Functions of the fake.
typedef struct fake_t {
  int (*complaints)(char* out, int size);
  int64_t (*calls)(const char* name);
  void (*forget)(void);
} fake_t;

extern fake_t fake;

extern shim_gpu_api_t* api;
extern shim_gpu_device_t* device;
extern uint64_t stream;

// Opens the library with settings for the fake, and closes it: there were no
// complaints.
void set(const char* settings);
void open_library(const char* settings);
void close_library(void);

// The same with device 0 and a stream of it, of which nothing is left.
void begin(const char* settings);
void end(void);
void open_device(void);
void close_device(void);

void make_file(const char* suffix);  // next to the fake
void remove_file(const char* suffix);

int64_t live(int32_t kind);
void check_only_the_stream_is_live(void);

// Checks that this thread has no current context.
void check_balance(void);

// Calls of the shim, after which the thread's context is what it was.
#define OK(call)     \
  do {               \
    CHECK_OK(call);  \
    check_balance(); \
  } while (0)
#define FAILS(call, code, text)    \
  do {                             \
    CHECK_FAILS(call, code, text); \
    check_balance();               \
  } while (0)
#define DONE(call)   \
  do {               \
    (call);          \
    check_balance(); \
  } while (0)

uint64_t new_memory(uint64_t size);
void free_memory(uint64_t address);
uint64_t new_stream(void);
uint64_t new_event(void);

// Memory of the host, at the same place for the device.
typedef struct pinned_t {
  volatile uint32_t* host;
  uint64_t address;  // for the device
} pinned_t;

pinned_t new_pinned(uint64_t size);
void free_pinned(pinned_t memory);

uint64_t new_module(void);
uint64_t function_of(uint64_t module, const char* name);

//===--------------------------------------------------------------------===//
// Commands
//===--------------------------------------------------------------------===//

typedef struct words_t {
  uint64_t values[1100];
  size_t count;
} words_t;

static inline uint64_t pair(uint32_t upper, uint32_t lower) {
  return (uint64_t)upper << 32 | lower;
}

void add(words_t* words, uint64_t command, uint64_t operand);
void add_fill(words_t* words, uint64_t address, uint64_t bytes,
              uint32_t pattern, uint32_t unit);
void add_copy(words_t* words, uint64_t target, uint64_t source, uint64_t bytes);
void add_call(words_t* words, const words_t* called);
// One block of |threads|.
void add_launch(words_t* words, uint64_t function, uint32_t threads,
                uint32_t shared_bytes, const uint64_t* params, uint32_t count);
void add_store(words_t* words, uint64_t function, uint64_t to, uint32_t value);

shim_status_t run_on(uint64_t stream_, const words_t* words,
                     shim_error_t* error);
shim_status_t run(const words_t* words, shim_error_t* error);

// Waits for what a stream has.
shim_status_t finish_on(uint64_t stream_, shim_error_t* error);
void finish(void);

// What memory of the device begins with.
uint32_t value_at(uint64_t address);

// The tests of each file.
void test_driver_memory(void);
void test_driver_code(void);
void test_driver_commands(void);
void test_driver_graphs(void);
void test_driver_loss(void);
void test_driver_collectives(void);

#endif  // IREE4J_GPU_DRIVER_TEST_H_

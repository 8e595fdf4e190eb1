// What the tests of the fakes of CUDA's and HIP's drivers share: the table of a
// library, and a device with a stream.
#ifndef IREE4J_FAKE_GPU_TEST_H_
#define IREE4J_FAKE_GPU_TEST_H_

#include <pthread.h>
#include <stdbool.h>

#include "gpu/gpu_types.h"
#include "test.h"

typedef struct table_t {
#define X(need, name, cuda, hip, arguments) int(*name) arguments;
#include "gpu/gpu_symbols.inc"
#undef X
  int (*complaints)(char* out, int size);
  int64_t (*calls)(const char* name);
  void (*forget)(void);
} table_t;

extern bool hip;          // whose library
extern const char* path;  // of the library
extern void* library;
extern table_t gpu;
extern sgpu_context_t context;
extern sgpu_stream_t stream;

// Opens the library with settings, and closes it: there were no complaints.
void open_fake(const char* settings);
void close_fake(void);

// The same with device 0 and a stream of it.
void begin(const char* settings);
void end(void);

// The same where the device is dead: everything is freed, with that code.
void end_dead(int code);

// Checks that there was one complaint, with that text, and forgets it.
void complained(const char* text);

// Creates and removes a file next to the library.
void make_file(const char* suffix);
void remove_file(const char* suffix);

int copy(sgpu_stream_t into, uint64_t target, uint64_t source, size_t size);

// Waits for what the stream has.
int finish(sgpu_stream_t of);

sgpu_event_t new_event(void);
sgpu_stream_t new_stream(void);
uint64_t new_memory(size_t size);
void* new_pinned(size_t size);

static inline uint64_t address(const void* pointer) {
  return (uintptr_t)pointer;
}

// The tests of each file.
void test_gpu_objects(void);
void test_gpu_memory(void);
void test_gpu_code(void);
void test_gpu_graphs(void);

#endif  // IREE4J_FAKE_GPU_TEST_H_

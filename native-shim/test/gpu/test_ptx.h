// What the tests of the interpreter share.
#ifndef IREE4J_TEST_PTX_TEST_H_
#define IREE4J_TEST_PTX_TEST_H_

#include "../test.h"
#include "ptx.h"

// Memory that a kernel may access.
typedef struct room_t {
  uint8_t* at;
  size_t size;
  bool read_only;
} room_t;

// Begins a module and the kernel "k" with the parameters named.
#define MODULE ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL MODULE ".visible .entry k(.param .u64 p) {\n"

// Runs kernel "k" of a text with one parameter, the address of the room.
// |grid| blocks of |block| threads; returns the code of the launch.
int run_text(const char* text, uint32_t grid, uint32_t block, room_t room,
             char* error, size_t error_size);

// Runs a body, which finds the address of |data| in %rd1 and the thread's
// index in %r1, with registers %p, %rs, %r, %rd, %f, %fd declared. It must
// succeed.
void run_body(const char* body, uint32_t grid, uint32_t block, void* data,
              size_t size);

void test_values(void);  // test_ptx_values.c
void test_floats(void);
void test_conversions(void);
void test_threads(void);   // test_ptx_threads.c
void test_matrices(void);  // test_ptx_matrices.c
void test_texts(void);     // test_ptx_texts.c

#endif  // IREE4J_TEST_PTX_TEST_H_

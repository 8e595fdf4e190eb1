// A dispatch of the fake while it runs.
#ifndef IREE4J_FAKE_SPIRV_RUN_H_
#define IREE4J_FAKE_SPIRV_RUN_H_

#include "fake_spirv.h"

typedef struct fake_frame_t {
  const uint32_t* next;
  uint32_t result;
  uint32_t block;
} fake_frame_t;

typedef struct fake_invocation_t {
  fake_value_t* values;
  uint8_t* locals;
  const uint32_t* pc;
  uint32_t block, previous;
  fake_frame_t frames[FAKE_MAX_CALLS];
  uint32_t depth;
  bool waiting, over;
  uint32_t inputs[48][4];  // by builtin
} fake_invocation_t;

typedef struct fake_run_t {
  fake_module_t module;
  const fake_op_t* op;
  uint32_t* offsets;  // of variables, in an invocation's or workgroup's memory
  uint64_t local_size, shared_size;
  uint8_t* shared;
  uint8_t push[FAKE_PUSH_BYTES];
  uint64_t steps;
  bool failed;
} fake_run_t;

// Ends the dispatch with a report.
void fake_fail(fake_run_t* run, const char* what, uint32_t number);

// The address of a variable; the value of an id.
fake_value_t fake_variable(fake_run_t* run, fake_invocation_t* self,
                           uint32_t id);
fake_value_t fake_get(fake_run_t* run, fake_invocation_t* self, uint32_t id);

// Accesses outside of a descriptor read zeros and write nothing.
fake_value_t fake_load(fake_run_t* run, fake_value_t pointer, uint32_t type);
void fake_store(fake_run_t* run, fake_value_t pointer, uint32_t type,
                fake_value_t value);

// The type of an id's value; the pointee of a pointer type.
uint32_t fake_type_of(fake_run_t* run, uint32_t id);
uint32_t fake_pointee(fake_run_t* run, uint32_t pointer_type);

fake_value_t fake_access_chain(fake_run_t* run, fake_invocation_t* self,
                               const uint32_t* at);
uint64_t fake_array_length(fake_run_t* run, fake_invocation_t* self,
                           const uint32_t* at);
fake_value_t fake_atomic(fake_run_t* run, fake_invocation_t* self,
                         const uint32_t* at);

#endif  // IREE4J_FAKE_SPIRV_RUN_H_

// A SPIR-V module, ready to be interpreted: the meaning of each id, and the
// memory layout of types. Enough for compute shaders compiled from GLSL;
// reports anything unsupported.
#ifndef IREE4J_FAKE_SPIRV_H_
#define IREE4J_FAKE_SPIRV_H_

#include "fake_vulkan.h"

enum {
  FAKE_MAX_IDS = 1 << 16,
  FAKE_MAX_MEMBERS = 32,
  FAKE_MAX_CALLS = 16,
};

// A scalar or vector, one component per word, or a pointer: its address and the
// end of its object (0: unknown).
typedef struct fake_value_t {
  uint64_t c[4];
} fake_value_t;

// The properties of an id.
typedef struct fake_id_t {
  const uint32_t* at;  // where it is defined
  uint32_t type;       // of its value; 0 for types
  int32_t set, binding, builtin, spec_id;
  uint32_t stride;
  uint32_t offsets[FAKE_MAX_MEMBERS];
  bool laid_out;  // its members have offsets
} fake_id_t;

typedef struct fake_module_t {
  const fake_pipeline_t* pipeline;
  const uint32_t* words;
  size_t count;
  uint32_t bound;
  fake_id_t* ids;
  fake_value_t* constants;  // by number; of everything outside of functions
  const uint32_t* main;     // OpFunction of the entry point
  uint32_t size[3];         // of a workgroup
} fake_module_t;

// Reads the module of a pipeline; on failure reports and returns false.
bool fake_module_read(fake_module_t* module, const fake_pipeline_t* pipeline);
void fake_module_free(fake_module_t* module);

// The operation, and number of words, of an instruction.
static inline uint32_t fake_op_of(const uint32_t* at) { return *at & 0xFFFF; }
static inline uint32_t fake_length_of(const uint32_t* at) { return *at >> 16; }

// The instruction that defines a type.
static inline const uint32_t* fake_type(const fake_module_t* module,
                                        uint32_t type) {
  return module->ids[type].at;
}

uint64_t fake_size_of(const fake_module_t* module, uint32_t type);
uint32_t fake_components(const fake_module_t* module, uint32_t type);
uint32_t fake_width(const fake_module_t* module, uint32_t type);
bool fake_is_float(const fake_module_t* module, uint32_t type);

// The offset of one step in an access chain; advances |*type|.
uint64_t fake_member_offset(const fake_module_t* module, uint32_t* type,
                            uint64_t index);

// Computes one operation on values: arithmetic, comparison, conversion.
// |operand_type| is that of the first operand. False when unsupported.
bool fake_compute(const fake_module_t* module, uint32_t op,
                  uint32_t result_type, uint32_t operand_type,
                  const fake_value_t* operands, uint32_t operand_count,
                  fake_value_t* out);

// The same for the functions of GLSL.std.450.
bool fake_compute_extended(const fake_module_t* module, uint32_t function,
                           uint32_t result_type, const fake_value_t* operands,
                           fake_value_t* out);

#endif  // IREE4J_FAKE_SPIRV_H_

// A module, as the parts that read it and run it see it.
#ifndef IREE4J_TEST_PTX_MODULE_H_
#define IREE4J_TEST_PTX_MODULE_H_

#include "ptx_build.h"

typedef struct ptx_variable_t {
  char* name;
  uint64_t place, size;
  bool constant;
  const ptx_type_t* type;
  ptx_token_t initializer;  // "=", or nothing
  uint32_t line;
} ptx_variable_t;

struct ptx_module_t {
  ptx_function_t* functions;
  uint32_t function_count, function_capacity;
  ptx_variable_t* variables;
  uint32_t variable_count, variable_capacity;
  // Variables lie one after the other, constants last.
  uint64_t global_bytes, constant_bytes;
  void* allocation;
  uint8_t* memory;
  uint64_t constants_at;
};

// The next name of a declaration whose type has been read.
bool ptx_declarator(ptx_build_t* b, ptx_declaration_t* declaration);
// Gives variables their memory and first values.
bool ptx_place_variables(ptx_build_t* b);

#endif  // IREE4J_TEST_PTX_MODULE_H_

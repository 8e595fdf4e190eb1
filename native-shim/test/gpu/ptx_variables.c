// The memory and first values of a module's variables, and what a module says
// about itself.
#include <stdlib.h>
#include <string.h>

#include "ptx_module.h"

enum { ALIGNMENT = 4096 };

void ptx_go_to(ptx_build_t* b, ptx_token_t token) {
  b->at = token.at;
  b->line = token.line;
  ptx_next(b);
}

static uint64_t address_of(const ptx_module_t* module,
                           const ptx_variable_t* variable) {
  return (uint64_t)(uintptr_t)module->memory + variable->place +
         (variable->constant ? module->constants_at : 0);
}

static char width_for_number(const ptx_type_t* type) {
  if (type->kind != PTX_FLOAT) return 'd';
  return type->size == 8 ? 'g' : type->size == 4 ? 'f' : 'd';
}

// A number or an address: name, name + number, generic(name).
static bool read_value(ptx_build_t* b, const ptx_variable_t* variable,
                       uint64_t* value) {
  if (b->token.kind != PTX_WORD) {
    return ptx_number(b, width_for_number(variable->type), value);
  }
  bool generic = ptx_take(b, "generic") && ptx_expect(b, "(");
  ptx_symbol_t* symbol = ptx_find(b, b->token.at, b->token.length);
  if (!symbol || symbol->kind != PTX_VARIABLE) {
    return ptx_refuse(b, b->token.line, "'%.*s' is no variable",
                      (int)(b->token.length < 60 ? b->token.length : 60),
                      b->token.at);
  }
  *value = (uint64_t)symbol->place;
  ptx_next(b);
  if (generic && !ptx_expect(b, ")")) return false;
  uint64_t offset = 0;
  if (ptx_take(b, "+")) {
    if (!ptx_number(b, 'd', &offset)) return false;
  } else if (ptx_is(b, "-") && !ptx_number(b, 'd', &offset)) {
    return false;
  }
  *value += offset;
  return true;
}

static bool fill(ptx_build_t* b, const ptx_variable_t* variable) {
  uint8_t* out = (uint8_t*)(uintptr_t)address_of(b->module, variable);
  uint64_t at = 0;
  uint32_t depth = 0, size = variable->type->size;
  ptx_go_to(b, variable->initializer);
  ptx_next(b);
  for (;;) {
    while (ptx_take(b, "{")) ++depth;
    if (!ptx_is(b, "}")) {
      uint64_t value;
      if (!read_value(b, variable, &value)) return false;
      if (at + size > variable->size) {
        return ptx_refuse(b, b->token.line, "'%s' has more values than fit",
                          variable->name);
      }
      memcpy(out + at, &value, size);
      at += size;
    }
    while (depth > 0 && ptx_take(b, "}")) --depth;
    if (depth == 0) return true;
    if (!ptx_expect(b, ",")) return false;
  }
}

bool ptx_place_variables(ptx_build_t* b) {
  ptx_module_t* module = b->module;
  module->constants_at =
      (module->global_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  module->allocation =
      calloc(1, module->constants_at + module->constant_bytes + ALIGNMENT);
  if (!module->allocation) return ptx_refuse(b, b->line, "no memory");
  uintptr_t memory = (uintptr_t)module->allocation;
  module->memory = (uint8_t*)((memory + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  for (uint32_t i = 1; i < b->symbol_count; ++i) {
    ptx_symbol_t* symbol = &b->symbols[i];
    if (symbol->kind == PTX_VARIABLE) {
      symbol->place =
          (int64_t)address_of(module, &module->variables[symbol->count]);
    }
  }
  for (uint32_t i = 0; i < module->variable_count; ++i) {
    const ptx_variable_t* variable = &module->variables[i];
    if (variable->initializer.length && !fill(b, variable)) return false;
  }
  return true;
}

//===--------------------------------------------------------------------===//
// Questions
//===--------------------------------------------------------------------===//

const ptx_function_t* ptx_module_function(const ptx_module_t* module,
                                          const char* name) {
  for (uint32_t i = 0; i < module->function_count; ++i) {
    if (strcmp(module->functions[i].name, name) == 0) {
      return &module->functions[i];
    }
  }
  return NULL;
}

bool ptx_module_global(const ptx_module_t* module, const char* name,
                       uint64_t* address, uint64_t* size) {
  for (uint32_t i = 0; i < module->variable_count; ++i) {
    const ptx_variable_t* variable = &module->variables[i];
    if (strcmp(variable->name, name) == 0) {
      *address = address_of(module, variable);
      *size = variable->size;
      return true;
    }
  }
  return false;
}

uint32_t ptx_function_param_count(const ptx_function_t* function) {
  return function->param_count;
}

uint32_t ptx_function_param_offset(const ptx_function_t* function,
                                   uint32_t index) {
  return index < function->param_count ? function->params[index].offset : 0;
}

uint32_t ptx_function_param_size(const ptx_function_t* function,
                                 uint32_t index) {
  return index < function->param_count ? function->params[index].size : 0;
}

uint32_t ptx_function_shared_bytes(const ptx_function_t* function) {
  return function->shared_bytes;
}

uint32_t ptx_function_local_bytes(const ptx_function_t* function) {
  return function->local_bytes;
}

uint32_t ptx_function_max_threads(const ptx_function_t* function) {
  return function->max_threads;
}

uint32_t ptx_function_registers(const ptx_function_t* function) {
  uint32_t count = function->registers;
  return count > 255 ? 255 : count < 8 ? 8 : count;
}

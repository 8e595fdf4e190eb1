// Reads a module: its variables, and where its functions are. Kernels are
// built when all names are known.
#include "ptx_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--------------------------------------------------------------------===//
// Declarations
//===--------------------------------------------------------------------===//

static bool is_power_of_two(uint64_t value) {
  return value && (value & (value - 1)) == 0;
}

bool ptx_declarator(ptx_build_t* b, ptx_declaration_t* d) {
  if (b->token.kind != PTX_WORD || b->token.at[0] == '.') {
    return ptx_refuse(b, b->token.line, "'%.*s' where a name should be",
                      (int)(b->token.length < 60 ? b->token.length : 60),
                      b->token.at);
  }
  d->name = b->token;
  d->range = false;
  d->count = 1;
  ptx_next(b);
  if (ptx_take(b, "<")) {
    d->range = true;
    return ptx_count(b, PTX_MAX_REGISTERS, &d->count) && ptx_expect(b, ">");
  }
  uint64_t elements = d->vector;
  while (ptx_take(b, "[")) {
    uint64_t bound = 0;
    if (!ptx_is(b, "]") && !ptx_count(b, PTX_MAX_VARIABLES, &bound)) {
      return false;
    }
    if (!ptx_expect(b, "]")) return false;
    elements *= bound;
    if (elements > PTX_MAX_VARIABLES) {
      return ptx_refuse(b, d->name.line, "a variable of more than %d bytes",
                        PTX_MAX_VARIABLES);
    }
  }
  d->size = elements * d->type->size;
  return true;
}

bool ptx_declaration(ptx_build_t* b, ptx_declaration_t* d) {
  *d = (ptx_declaration_t){.vector = 1};
  bool pointer = false;
  while (b->token.kind == PTX_WORD && b->token.at[0] == '.') {
    ptx_token_t token = b->token;
    const ptx_type_t* type = ptx_type_of(token.at + 1, token.length - 1);
    uint64_t align;
    ptx_next(b);
    if (type) {
      d->type = type;
    } else if (token.length == 3 && token.at[1] == 'v' &&
               (token.at[2] == '2' || token.at[2] == '4')) {
      d->vector = (uint32_t)(token.at[2] - '0');
    } else if (token.length == 6 && memcmp(token.at, ".align", 6) == 0) {
      if (!ptx_count(b, 4096, &align)) return false;
      if (!is_power_of_two(align)) {
        return ptx_refuse(b, token.line, "an alignment of %u", (unsigned)align);
      }
      // After .ptr: of what it points to.
      if (!pointer) d->align = (uint32_t)align;
    } else if (token.length == 4 && memcmp(token.at, ".ptr", 4) == 0) {
      pointer = true;
    } else if (!pointer) {
      return ptx_refuse(b, token.line, "'%.*s' is not supported",
                        (int)(token.length < 60 ? token.length : 60), token.at);
    }
  }
  if (!d->type) return ptx_refuse(b, b->token.line, "a name without a type");
  uint32_t natural = d->vector * d->type->size;
  if (natural > d->align) d->align = natural;
  return ptx_declarator(b, d);
}

//===--------------------------------------------------------------------===//
// Variables
//===--------------------------------------------------------------------===//

static void skip_initializer(ptx_build_t* b) {
  uint32_t depth = 0;
  while (b->token.kind != PTX_END) {
    if (ptx_is(b, "{") || ptx_is(b, "(")) ++depth;
    if (ptx_is(b, "}") || ptx_is(b, ")")) --depth;
    if (depth == 0 && (ptx_is(b, ";") || ptx_is(b, ","))) return;
    ptx_next(b);
  }
}

static bool add_variable(ptx_build_t* b, const ptx_declaration_t* d,
                         bool constant, bool outside) {
  ptx_module_t* module = b->module;
  uint64_t* total = constant ? &module->constant_bytes : &module->global_bytes;
  uint64_t place = (*total + d->align - 1) / d->align * d->align;
  if (outside) {
    return ptx_refuse(b, d->name.line, "'%.*s' is of another module",
                      (int)d->name.length, d->name.at);
  }
  if (d->size == 0 || place + d->size > PTX_MAX_VARIABLES) {
    return ptx_refuse(b, d->name.line, "a variable of %llu bytes",
                      (unsigned long long)d->size);
  }
  *total = place + d->size;
  if (!ptx_grow(b, (void**)&module->variables, module->variable_count,
                &module->variable_capacity, sizeof(*module->variables))) {
    return false;
  }
  ptx_variable_t* variable = &module->variables[module->variable_count];
  *variable = (ptx_variable_t){.place = place,
                               .size = d->size,
                               .constant = constant,
                               .type = d->type,
                               .line = d->name.line};
  if (b->token.kind == PTX_MARK && ptx_is(b, "=")) {
    variable->initializer = b->token;
    skip_initializer(b);
  }
  ptx_symbol_t* symbol = ptx_define(b, d->name, PTX_VARIABLE);
  if (!symbol) return false;
  symbol->space = PTX_GLOBAL;
  symbol->size = d->size;
  symbol->count = module->variable_count;
  variable->name = strndup(d->name.at, d->name.length);
  if (!variable->name) return ptx_refuse(b, b->line, "no memory");
  ++module->variable_count;
  return true;
}

static bool add_shared(ptx_build_t* b, const ptx_declaration_t* d,
                       bool outside) {
  ptx_symbol_t* symbol = ptx_define(
      b, d->name,
      outside && d->size == 0 ? PTX_EXTERN_SHARED : PTX_SHARED_VARIABLE);
  if (!symbol) return false;
  symbol->space = PTX_SHARED;
  symbol->size = d->size;
  symbol->align = d->align;
  return true;
}

static bool read_variables(ptx_build_t* b, const char* space, bool outside) {
  ptx_declaration_t d;
  if (!ptx_declaration(b, &d)) return false;
  for (;;) {
    if (d.range) return ptx_refuse(b, d.name.line, "a range of variables");
    bool shared = strcmp(space, ".shared") == 0;
    if (shared ? !add_shared(b, &d, outside)
               : !add_variable(b, &d, strcmp(space, ".const") == 0, outside)) {
      return false;
    }
    if (!ptx_take(b, ",")) return ptx_expect(b, ";");
    if (!ptx_declarator(b, &d)) return false;
  }
}

//===--------------------------------------------------------------------===//
// Functions
//===--------------------------------------------------------------------===//

static bool skip_body(ptx_build_t* b) {
  uint32_t depth = 0;
  uint32_t line = b->token.line;
  while (b->token.kind != PTX_END) {
    if (ptx_is(b, "{")) ++depth;
    if (ptx_is(b, "}") && --depth == 0) {
      ptx_next(b);
      return true;
    }
    ptx_next(b);
  }
  return ptx_refuse(b, line, "'{' without its '}'");
}

static bool skip_parentheses(ptx_build_t* b) {
  if (!ptx_take(b, "(")) return true;
  while (b->token.kind != PTX_END && !ptx_is(b, ")")) ptx_next(b);
  return ptx_expect(b, ")");
}

static bool add_function(ptx_build_t* b, bool kernel) {
  ptx_module_t* module = b->module;
  ptx_token_t signature = b->token;
  if (!kernel && !skip_parentheses(b)) return false;
  ptx_token_t name = b->token;
  if (name.kind != PTX_WORD || name.at[0] == '.') {
    return ptx_refuse(b, name.line, "a function without a name");
  }
  ptx_next(b);
  if (!skip_parentheses(b)) return false;
  while (b->token.kind != PTX_END && !ptx_is(b, "{") && !ptx_is(b, ";")) {
    ptx_next(b);
  }
  bool defined = ptx_is(b, "{");
  if (defined ? !skip_body(b) : !ptx_expect(b, ";")) return false;
  if (kernel) {
    if (!defined) return true;
    if (!ptx_grow(b, (void**)&module->functions, module->function_count,
                  &module->function_capacity, sizeof(*module->functions))) {
      return false;
    }
    ptx_function_t* function = &module->functions[module->function_count++];
    *function = (ptx_function_t){.module = module, .max_threads = 1024};
    function->name = strndup(name.at, name.length);
    function->count = (uint32_t)(signature.at - b->text);  // until it is built
    function->list_count = signature.line;
    return function->name || ptx_refuse(b, name.line, "no memory");
  }
  ptx_symbol_t* symbol = ptx_find(b, name.at, name.length);
  if (!symbol) symbol = ptx_define(b, name, PTX_FUNCTION);
  if (!symbol) return false;
  if (defined) {
    symbol->signature = signature;
    symbol->defined = true;
  }
  return true;
}

//===--------------------------------------------------------------------===//
// The module
//===--------------------------------------------------------------------===//

static bool read_target(ptx_build_t* b) {
  uint64_t bits;
  if (ptx_take(b, ".version")) {
    ptx_next(b);  // 7.6
    return true;
  }
  if (ptx_take(b, ".address_size")) {
    uint32_t line = b->token.line;
    if (!ptx_count(b, 64, &bits)) return false;
    return bits == 64 || ptx_refuse(b, line, "addresses of %d bits", (int)bits);
  }
  ptx_next(b);  // .target
  do {
    ptx_next(b);
  } while (ptx_take(b, ","));
  return true;
}

// What debuggers read, and hints.
static bool skip_directive(ptx_build_t* b) {
  if (ptx_is(b, ".section")) {
    while (b->token.kind != PTX_END && !ptx_is(b, "{")) ptx_next(b);
    return skip_body(b);
  }
  if (ptx_take(b, ".pragma")) {
    ptx_next(b);
    return ptx_expect(b, ";");
  }
  // .file number "name" (, number, number)
  ptx_next(b);
  ptx_next(b);
  ptx_next(b);
  while (ptx_take(b, ",")) ptx_next(b);
  return true;
}

static bool read_module(ptx_build_t* b) {
  bool outside = false;
  while (b->token.kind != PTX_END && !b->failed) {
    ptx_token_t token = b->token;
    bool done = true;
    if (ptx_is(b, ".version") || ptx_is(b, ".target") ||
        ptx_is(b, ".address_size")) {
      done = read_target(b);
    } else if (ptx_is(b, ".file") || ptx_is(b, ".section") ||
               ptx_is(b, ".pragma")) {
      done = skip_directive(b);
    } else if (ptx_take(b, ".visible") || ptx_take(b, ".weak") ||
               ptx_take(b, ".common")) {
      continue;
    } else if (ptx_take(b, ".extern")) {
      outside = true;
      continue;
    } else if (ptx_take(b, ".global")) {
      done = read_variables(b, ".global", outside);
    } else if (ptx_take(b, ".const")) {
      done = read_variables(b, ".const", outside);
    } else if (ptx_take(b, ".shared")) {
      done = read_variables(b, ".shared", outside);
    } else if (ptx_take(b, ".entry")) {
      done = add_function(b, true);
    } else if (ptx_take(b, ".func")) {
      while (ptx_take(b, ".noreturn")) continue;
      done = add_function(b, false);
    } else {
      done = ptx_refuse(b, token.line, "'%.*s' is not supported",
                        (int)(token.length < 60 ? token.length : 60), token.at);
    }
    outside = false;
    if (!done) return false;
  }
  return !b->failed;
}

static bool build_kernels(ptx_build_t* b) {
  ptx_module_t* module = b->module;
  b->module_symbols = b->symbol_count;
  for (uint32_t i = 0; i < module->function_count; ++i) {
    ptx_function_t* function = &module->functions[i];
    ptx_token_t signature = {PTX_WORD, b->text + function->count, 0,
                             function->list_count};
    function->count = function->list_count = 0;
    b->kernel = i + 1;
    if (!ptx_build_kernel(b, function, signature)) return false;
  }
  return true;
}

ptx_module_t* ptx_module_load(const char* text, size_t length, char* error,
                              size_t error_size) {
  if (error && error_size) error[0] = '\0';
  ptx_build_t build = {
      .error = error, .error_size = error_size, .line = 1, .symbol_count = 1};
  ptx_build_t* b = &build;
  ptx_module_t* module = calloc(1, sizeof(*module));
  b->text = b->at = text;
  b->end = text + length;
  b->module = module;
  if (!module) {
    ptx_refuse(b, 1, "no memory");
  } else if (length > PTX_MAX_TEXT) {
    ptx_refuse(b, 1, "more than %d bytes", PTX_MAX_TEXT);
  } else {
    ptx_next(b);
    if (!ptx_is(b, ".version")) {
      ptx_refuse(b, b->token.line, "a module begins with .version");
    }
    if (read_module(b) && ptx_place_variables(b)) build_kernels(b);
  }
  free(b->symbols);
  free(b->chains);
  free(b->fixups);
  free(b->pool);
  if (!b->failed) return module;
  ptx_module_unload(module);
  return NULL;
}

void ptx_module_unload(ptx_module_t* module) {
  if (!module) return;
  for (uint32_t i = 0; i < module->function_count; ++i) {
    ptx_function_t* function = &module->functions[i];
    free(function->name);
    free(function->code);
    free(function->list);
    free(function->constants);
    free(function->params);
  }
  for (uint32_t i = 0; i < module->variable_count; ++i) {
    free(module->variables[i].name);
  }
  free(module->functions);
  free(module->variables);
  free(module->allocation);
  free(module);
}

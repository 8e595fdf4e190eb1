// Builds a kernel: its parameters, blocks, labels, and the functions that it
// calls, each expanded where it is called.
#include <stdlib.h>
#include <string.h>

#include "ptx_module.h"

//===--------------------------------------------------------------------===//
// Emitting
//===--------------------------------------------------------------------===//

static void nothing(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  (void)w, (void)c, (void)mask;
}

ptx_code_t* ptx_emit(ptx_build_t* b, ptx_op_t run) {
  ptx_function_t* function = b->function;
  if (function->count >= PTX_MAX_CODE) {
    ptx_refuse(b, b->instruction_line, "more than %d instructions",
               PTX_MAX_CODE);
    return NULL;
  }
  if (!ptx_grow(b, (void**)&function->code, function->count,
                &function->capacity, sizeof(*function->code))) {
    return NULL;
  }
  ptx_code_t* code = &function->code[function->count++];
  *code = (ptx_code_t){.run = run ? run : nothing,
                       .line = b->instruction_line,
                       .guard = b->guard,
                       .guarded = b->guarded};
  return code;
}

int32_t ptx_list(ptx_build_t* b, const int32_t* values, uint32_t count) {
  ptx_function_t* function = b->function;
  uint32_t first = function->list_count;
  for (uint32_t i = 0; i < count; ++i) {
    if (!ptx_grow(b, (void**)&function->list, function->list_count,
                  &function->list_capacity, sizeof(*function->list))) {
      return -1;
    }
    function->list[function->list_count++] = values[i];
  }
  return (int32_t)first;
}

//===--------------------------------------------------------------------===//
// Labels
//===--------------------------------------------------------------------===//

void ptx_branch_to(ptx_build_t* b, ptx_token_t label, uint32_t entry) {
  if (!ptx_grow(b, (void**)&b->fixups, b->fixup_count, &b->fixup_capacity,
                sizeof(*b->fixups))) {
    return;
  }
  b->fixups[b->fixup_count++] =
      (ptx_fixup_t){b->function->count - 1, entry, label};
}

static bool define_label(ptx_build_t* b, ptx_token_t name) {
  ptx_symbol_t* symbol = ptx_define(b, name, PTX_LABEL);
  if (symbol) symbol->place = b->function->count;
  return symbol != NULL;
}

// Resolves the branches whose labels are visible; others wait for the blocks
// around this one.
static void resolve(ptx_build_t* b, uint32_t first) {
  uint32_t kept = first;
  for (uint32_t i = first; i < b->fixup_count; ++i) {
    const ptx_fixup_t fixup = b->fixups[i];
    const ptx_symbol_t* symbol =
        ptx_find(b, fixup.label.at, fixup.label.length);
    if (!symbol || symbol->kind != PTX_LABEL) {
      b->fixups[kept++] = fixup;
    } else if (fixup.entry) {
      b->function->list[fixup.entry - 1] = (int32_t)symbol->place;
    } else {
      b->function->code[fixup.code].immediate = symbol->place;
    }
  }
  b->fixup_count = kept;
}

//===--------------------------------------------------------------------===//
// Blocks
//===--------------------------------------------------------------------===//

static bool declare_registers(ptx_build_t* b) {
  ptx_declaration_t d;
  if (!ptx_declaration(b, &d)) return false;
  if (d.type->size > 8 || d.vector != 1) {
    return ptx_refuse(b, d.name.line, "registers of .%s", d.type->name);
  }
  for (;;) {
    int32_t place = ptx_new_register(b, d.type->width, (uint32_t)d.count);
    ptx_symbol_t* symbol =
        ptx_define(b, d.name, d.range ? PTX_REGISTERS : PTX_REGISTER);
    if (place == PTX_NO_OPERAND || !symbol) return false;
    symbol->width = d.type->width;
    symbol->place = place;
    symbol->count = (uint32_t)d.count;
    b->function->registers += (uint32_t)d.count * (d.type->size > 4 ? 2 : 1);
    if (!ptx_take(b, ",")) return ptx_expect(b, ";");
    if (!ptx_declarator(b, &d)) return false;
  }
}

static bool declare_memory(ptx_build_t* b, ptx_space_t space) {
  ptx_declaration_t d;
  if (!ptx_declaration(b, &d)) return false;
  for (;;) {
    uint64_t count = d.range ? d.count : 1;
    if (d.size == 0 || d.range) {
      return ptx_refuse(b, d.name.line, "a variable without a size");
    }
    int64_t place = 0;
    if (space == PTX_LOCAL) {
      place = ptx_place_local(b, d.size * count, d.align);
    }
    ptx_symbol_t* symbol = ptx_define(
        b, d.name, space == PTX_LOCAL ? PTX_VARIABLE : PTX_SHARED_VARIABLE);
    if (!symbol || b->failed) return false;
    symbol->space = space;
    symbol->place = place;
    symbol->size = d.size;
    symbol->align = d.align;
    if (!ptx_take(b, ",")) return ptx_expect(b, ";");
    if (!ptx_declarator(b, &d)) return false;
  }
}

static bool read_block(ptx_build_t* b);

// Declarations within functions, and what debuggers read.
static bool directive(ptx_build_t* b) {
  if (ptx_take(b, ".reg")) return declare_registers(b);
  if (ptx_take(b, ".local") || ptx_take(b, ".param")) {
    return declare_memory(b, PTX_LOCAL);
  }
  if (ptx_take(b, ".shared")) return declare_memory(b, PTX_SHARED);
  if (ptx_take(b, ".pragma")) {
    ptx_next(b);
    return ptx_expect(b, ";");
  }
  if (ptx_is(b, ".loc")) {
    // .loc file line column (, function_name name (+ n), inlined_at ...)
    for (int i = 0; i < 4; ++i) ptx_next(b);
    while (ptx_take(b, ",")) {
      ptx_next(b);
      while (b->token.kind == PTX_NUMBER || ptx_is(b, "+") ||
             (b->token.kind == PTX_WORD && b->token.at[0] == '$')) {
        // A label begins the next statement.
        if (b->at < b->end && *b->at == ':') return true;
        ptx_next(b);
      }
    }
    return true;
  }
  return ptx_refuse(b, b->token.line, "'%.*s' is not supported",
                    (int)(b->token.length < 60 ? b->token.length : 60),
                    b->token.at);
}

static bool read_guard(ptx_build_t* b) {
  b->guarded = 0;
  b->guard = 0;
  if (!ptx_take(b, "@")) return true;
  b->guarded = ptx_take(b, "!") ? 2 : 1;
  b->guard = ptx_source(b, 'p', NULL);
  return b->guard != PTX_NO_OPERAND;
}

// A word that a colon follows.
static bool at_label(const ptx_build_t* b) {
  const char* at = b->at;
  while (at < b->end && (*at == ' ' || *at == '\t')) ++at;
  return at < b->end && *at == ':';
}

static bool statement(ptx_build_t* b) {
  ptx_token_t token = b->token;
  b->instruction_line = token.line;
  if (ptx_is(b, "{")) return read_block(b);
  if (ptx_take(b, ";")) return true;
  if (token.kind == PTX_WORD && at_label(b)) {
    ptx_next(b);
    ptx_next(b);
    if (!ptx_is(b, ".branchtargets")) return define_label(b, token);
    ptx_symbol_t* symbol = ptx_define(b, token, PTX_TARGETS);
    if (!symbol) return false;
    symbol->signature = b->token;
    while (b->token.kind != PTX_END && !ptx_is(b, ";")) ptx_next(b);
    return ptx_expect(b, ";");
  }
  if (token.kind == PTX_WORD && token.at[0] == '.') return directive(b);
  return read_guard(b) && ptx_instruction(b) && ptx_expect(b, ";");
}

static bool read_statements(ptx_build_t* b) {
  while (!ptx_is(b, "}")) {
    if (b->token.kind == PTX_END) {
      return ptx_refuse(b, b->token.line, "the text ends within a function");
    }
    if (!statement(b) || b->failed) return false;
  }
  return true;
}

// What is declared in a block ends with it.
static bool read_block(ptx_build_t* b) {
  if (b->depth >= PTX_MAX_NESTING) {
    return ptx_refuse(b, b->token.line, "blocks and calls deeper than %d",
                      PTX_MAX_NESTING);
  }
  uint32_t symbols = b->symbol_count, fixups = b->fixup_count;
  uint32_t registers = b->register_top, local = b->local_top;
  ++b->depth;
  bool read = ptx_expect(b, "{") && read_statements(b);
  if (read) resolve(b, fixups);
  --b->depth;
  ptx_forget(b, symbols);
  b->register_top = registers;
  b->local_top = local;
  return read && ptx_expect(b, "}");
}

//===--------------------------------------------------------------------===//
// Calls
//===--------------------------------------------------------------------===//

static const ptx_token_t end_label = {PTX_WORD, "", 0, 0};

typedef struct actual_t {
  ptx_token_t token;
  ptx_symbol_t symbol;
} actual_t;

static bool read_actuals(ptx_build_t* b, actual_t* actuals, uint32_t* count) {
  *count = 0;
  if (!ptx_take(b, "(")) return true;
  while (!ptx_is(b, ")")) {
    if (*count == PTX_MAX_PARAMS) {
      return ptx_refuse(b, b->token.line, "more than %d arguments",
                        PTX_MAX_PARAMS);
    }
    actual_t* actual = &actuals[(*count)++];
    ptx_symbol_t scratch;
    const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
    if (!symbol) {
      return ptx_refuse(b, b->token.line, "argument '%.*s' is not supported",
                        (int)(b->token.length < 60 ? b->token.length : 60),
                        b->token.at);
    }
    actual->token = b->token;
    actual->symbol = *symbol;
    ptx_next(b);
    if (!ptx_take(b, ",")) break;
  }
  return ptx_expect(b, ")");
}

// Gives the formal parameters the places of the actual ones. Arguments in
// registers are those of the caller too, which compilers do not rely on.
static bool bind(ptx_build_t* b, const actual_t* actuals, uint32_t count) {
  uint32_t bound = 0;
  if (!ptx_take(b, "(")) return count == 0;
  while (!ptx_is(b, ")")) {
    ptx_declaration_t d;
    bool in_register = ptx_take(b, ".reg");
    if (!in_register && !ptx_expect(b, ".param")) return false;
    if (!ptx_declaration(b, &d)) return false;
    if (bound >= count) return false;
    const ptx_symbol_t* actual = &actuals[bound++].symbol;
    if (actual->kind != (in_register ? PTX_REGISTER : PTX_VARIABLE) ||
        (in_register ? actual->width != d.type->width
                     : actual->size < d.size || actual->space != PTX_LOCAL)) {
      return false;
    }
    ptx_symbol_t* formal = ptx_define(b, d.name, actual->kind);
    if (!formal) return false;
    formal->width = actual->width;
    formal->place = actual->place;
    formal->space = actual->space;
    formal->size = actual->size;
    formal->count = 1;
    if (!ptx_take(b, ",")) break;
  }
  return bound == count && ptx_expect(b, ")");
}

static bool expand(ptx_build_t* b, uint32_t callee, const actual_t* results,
                   uint32_t result_count, const actual_t* actuals,
                   uint32_t actual_count) {
  uint32_t line = b->token.line, floor = b->floor;
  ptx_token_t back = b->token;
  uint32_t symbols = b->symbol_count, fixups = b->fixup_count;
  // The name of the callee stays valid: it is text.
  const char* name = b->symbols[callee].name;
  int length = (int)b->symbols[callee].length;
  ptx_go_to(b, b->symbols[callee].signature);
  b->floor = symbols;
  b->symbols[callee].open = true;
  ++b->calls;
  const char* from = b->at;
  bool fits = ptx_emit(b, NULL) && bind(b, results, result_count);
  ptx_next(b);
  fits = fits && bind(b, actuals, actual_count);
  if (!fits) {
    ptx_refuse(b, line, "the arguments of the call do not fit '%.*s'",
               length < 60 ? length : 60, name);
  }
  while (b->token.kind == PTX_WORD && !ptx_is(b, "{")) ptx_next(b);
  if (read_block(b) && define_label(b, end_label)) resolve(b, fixups);
  if (b->fixup_count > fixups) {
    ptx_token_t label = b->fixups[fixups].label;
    ptx_refuse(b, label.line, "label '%.*s' is not defined",
               (int)(label.length < 60 ? label.length : 60), label.at);
  }
  // Few calls of large functions expand to much, even where they are empty.
  b->expanded += (uint64_t)(b->at - from);
  if (b->expanded > PTX_MAX_TEXT) {
    ptx_refuse(b, line, "calls that expand to more than %d bytes",
               PTX_MAX_TEXT);
  }
  --b->calls;
  b->symbols[callee].open = false;
  ptx_forget(b, symbols);
  b->floor = floor;
  if (b->failed) return false;
  ptx_go_to(b, back);
  return true;
}

bool ptx_call(ptx_build_t* b) {
  actual_t* actuals = malloc(2 * PTX_MAX_PARAMS * sizeof(*actuals));
  if (!actuals) return ptx_refuse(b, b->line, "no memory");
  actual_t* results = actuals + PTX_MAX_PARAMS;
  uint32_t actual_count = 0, result_count = 0;
  bool guarded = b->guarded != 0;
  ptx_token_t after = {PTX_WORD, b->token.at, 0, 0};
  uint32_t symbols = b->symbol_count, fixups = b->fixup_count;
  bool done = false;
  if (ptx_is(b, "(") &&
      (!read_actuals(b, results, &result_count) || !ptx_expect(b, ","))) {
    goto done;
  }
  ptx_token_t name = b->token;
  ptx_next(b);
  if (ptx_take(b, ",") && !read_actuals(b, actuals, &actual_count)) goto done;
  ptx_symbol_t* callee = ptx_find(b, name.at, name.length);
  int length = (int)(name.length < 60 ? name.length : 60);
  if (!callee || callee->kind != PTX_FUNCTION || !callee->defined ||
      !ptx_is(b, ";")) {
    ptx_refuse(b, name.line, "a call of '%.*s' is not supported", length,
               name.at);
    goto done;
  }
  if (callee->open || b->calls >= PTX_MAX_NESTING) {
    ptx_refuse(b, name.line, "recursion: '%.*s'", length, name.at);
    goto done;
  }
  uint32_t index = (uint32_t)(callee - b->symbols);
  if (guarded) {
    // Branch around it where the guard does not hold.
    ptx_code_t* code = ptx_emit(b, NULL);
    if (!code) goto done;
    code->control = PTX_BRANCH;
    code->guarded = b->guarded == 1 ? 2 : 1;
    ptx_branch_to(b, after, 0);
    b->guarded = 0;
  }
  done = expand(b, index, results, result_count, actuals, actual_count);
  if (done && guarded) {
    done = define_label(b, after);
    resolve(b, fixups);
    ptx_forget(b, symbols);
  }
done:
  free(actuals);
  return done;
}

bool ptx_return(ptx_build_t* b) {
  ptx_code_t* code = ptx_emit(b, NULL);
  if (!code) return false;
  code->control = b->calls ? PTX_BRANCH : PTX_EXIT;
  if (b->calls) ptx_branch_to(b, end_label, 0);
  return true;
}

//===--------------------------------------------------------------------===//
// Kernels
//===--------------------------------------------------------------------===//

static bool read_params(ptx_build_t* b) {
  ptx_function_t* function = b->function;
  uint32_t capacity = 0;
  uint64_t top = 0;
  if (!ptx_take(b, "(")) return true;
  while (!ptx_is(b, ")")) {
    ptx_declaration_t d;
    if (!ptx_expect(b, ".param") || !ptx_declaration(b, &d)) return false;
    uint64_t place = (top + d.align - 1) / d.align * d.align;
    top = place + d.size;
    if (d.size == 0 || top > PTX_MAX_PARAM_BYTES ||
        function->param_count >= PTX_MAX_PARAMS) {
      return ptx_refuse(b, d.name.line, "more parameters than fit");
    }
    if (!ptx_grow(b, (void**)&function->params, function->param_count,
                  &capacity, sizeof(*function->params))) {
      return false;
    }
    function->params[function->param_count++] =
        (ptx_param_t){(uint32_t)place, (uint32_t)d.size};
    ptx_symbol_t* symbol = ptx_define(b, d.name, PTX_VARIABLE);
    if (!symbol) return false;
    symbol->space = PTX_PARAM;
    symbol->place = (int64_t)place;
    symbol->size = d.size;
    if (!ptx_take(b, ",")) break;
  }
  function->param_bytes = (uint32_t)top;
  return ptx_expect(b, ")");
}

static bool read_limits(ptx_build_t* b) {
  while (!ptx_is(b, "{")) {
    bool threads = ptx_is(b, ".maxntid") || ptx_is(b, ".reqntid");
    if (ptx_take(b, ".pragma")) {
      ptx_next(b);
      if (!ptx_expect(b, ";")) return false;
      continue;
    }
    if (!threads && !ptx_is(b, ".minnctapersm") && !ptx_is(b, ".maxnreg") &&
        !ptx_is(b, ".maxnctapersm")) {
      return ptx_refuse(b, b->token.line, "'%.*s' is not supported",
                        (int)(b->token.length < 60 ? b->token.length : 60),
                        b->token.at);
    }
    ptx_next(b);
    uint64_t total = 1, count;
    do {
      if (!ptx_count(b, 65536, &count)) return false;
      total *= count;
      if (total > 65536) total = 65536;
    } while (ptx_take(b, ","));
    if (threads) b->function->max_threads = (uint32_t)total;
  }
  return true;
}

bool ptx_build_kernel(ptx_build_t* b, ptx_function_t* function,
                      ptx_token_t signature) {
  b->function = function;
  b->register_top = PTX_SPECIAL(PTX_SPECIALS);
  function->file_bytes = b->register_top;
  b->local_top = 0;
  b->guarded = 0;
  b->fixup_count = 0;
  b->floor = b->symbol_count;
  if (b->pool) memset(b->pool, 0, 8192 * sizeof(*b->pool));
  ptx_go_to(b, signature);
  ptx_next(b);  // its name
  if (!read_params(b) || !read_limits(b) || !read_block(b)) return false;
  if (b->fixup_count) {
    ptx_token_t label = b->fixups[0].label;
    return ptx_refuse(b, label.line, "label '%.*s' is not defined",
                      (int)(label.length < 60 ? label.length : 60), label.at);
  }
  ptx_forget(b, b->module_symbols);
  // The end of the text is an end of the kernel.
  b->guarded = 0;
  ptx_code_t* code = ptx_emit(b, NULL);
  if (!code) return false;
  code->control = PTX_EXIT;
  return true;
}

// Names and the places of what they name: a hash table whose chains are also a
// stack, so that the names of a block go when it ends.
#include <stdlib.h>
#include <string.h>

#include "ptx_build.h"

enum { CHAINS = 4096 };

static uint32_t hash_of(const char* name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; ++i) {
    hash = (hash ^ (uint8_t)name[i]) * 16777619u;
  }
  return (hash ^ hash >> 15) % CHAINS;
}

ptx_symbol_t* ptx_define(ptx_build_t* b, ptx_token_t name,
                         ptx_symbol_kind_t kind) {
  if (!b->chains) b->chains = calloc(CHAINS, sizeof(*b->chains));
  if (!b->chains || !ptx_grow(b, (void**)&b->symbols, b->symbol_count,
                              &b->symbol_capacity, sizeof(*b->symbols))) {
    ptx_refuse(b, name.line, "no memory");
    return NULL;
  }
  uint32_t* chain = &b->chains[hash_of(name.at, name.length)];
  ptx_symbol_t* symbol = &b->symbols[b->symbol_count];
  *symbol = (ptx_symbol_t){
      .name = name.at, .length = name.length, .kind = kind, .next = *chain};
  *chain = b->symbol_count++;
  return symbol;
}

ptx_symbol_t* ptx_find(ptx_build_t* b, const char* name, size_t length) {
  if (!b->chains) return NULL;
  for (uint32_t i = b->chains[hash_of(name, length)]; i;
       i = b->symbols[i].next) {
    ptx_symbol_t* symbol = &b->symbols[i];
    if (symbol->length == length && memcmp(symbol->name, name, length) == 0 &&
        (i >= b->floor || i < b->module_symbols)) {
      return symbol;
    }
  }
  return NULL;
}

const ptx_symbol_t* ptx_lookup(ptx_build_t* b, ptx_token_t name,
                               ptx_symbol_t* scratch) {
  ptx_symbol_t* symbol = ptx_find(b, name.at, name.length);
  if (symbol) return symbol;
  uint32_t stem = name.length;
  uint64_t index = 0, scale = 1;
  while (stem > 1 && name.at[stem - 1] >= '0' && name.at[stem - 1] <= '9' &&
         name.length - stem < 8) {
    index += scale * (uint64_t)(name.at[--stem] - '0');
    scale *= 10;
  }
  // Digits may belong to the stem: the longest one that is known counts.
  for (uint32_t i = stem; i < name.length; ++i) {
    symbol = ptx_find(b, name.at, i);
    if (symbol && symbol->kind == PTX_REGISTERS) {
      if (index >= symbol->count) return NULL;
      *scratch = *symbol;
      scratch->kind = PTX_REGISTER;
      scratch->place += (int64_t)(index * ptx_width_bytes(symbol->width));
      return scratch;
    }
    scale /= 10;
    index %= scale;
  }
  return NULL;
}

void ptx_forget(ptx_build_t* b, uint32_t symbol_count) {
  while (b->symbol_count > symbol_count) {
    ptx_symbol_t* symbol = &b->symbols[--b->symbol_count];
    b->chains[hash_of(symbol->name, symbol->length)] = symbol->next;
  }
}

//===--------------------------------------------------------------------===//
// Places
//===--------------------------------------------------------------------===//

uint32_t ptx_width_bytes(char width) {
  switch (width) {
    case 'p':
      return 64;  // a word; the rest keeps others aligned
    case 'h':
      return 2 * PTX_LANES;
    case 'w':
      return 4 * PTX_LANES;
    default:
      return 8 * PTX_LANES;
  }
}

int32_t ptx_new_register(ptx_build_t* b, char width, uint32_t count) {
  uint64_t bytes = (uint64_t)ptx_width_bytes(width) * count;
  if (b->register_top + bytes > (uint64_t)PTX_MAX_REGISTERS * 128) {
    ptx_refuse(b, b->token.line, "more than %d registers", PTX_MAX_REGISTERS);
    return PTX_NO_OPERAND;
  }
  int32_t place = (int32_t)b->register_top;
  b->register_top += (uint32_t)bytes;
  if (b->register_top > b->function->file_bytes) {
    b->function->file_bytes = b->register_top;
  }
  return place;
}

int32_t ptx_constant(ptx_build_t* b, uint64_t value, char width, bool dynamic) {
  ptx_function_t* function = b->function;
  enum { SLOTS = 8192 };
  if (!b->pool && !(b->pool = calloc(SLOTS, sizeof(*b->pool)))) {
    ptx_refuse(b, b->line, "no memory");
    return PTX_NO_OPERAND;
  }
  uint64_t mix = (value + (uint64_t)width) * 0x9E3779B97F4A7C15u;
  uint32_t* slot = &b->pool[mix >> 51];
  // A slot remembers one constant; others are stored twice.
  if (*slot) {
    const ptx_constant_t* known = &function->constants[*slot - 1];
    if (known->value == value && known->width == width &&
        known->dynamic == dynamic) {
      return known->offset;
    }
  }
  if (function->constant_count >= PTX_MAX_REGISTERS) {
    ptx_refuse(b, b->token.line, "more than %d constants", PTX_MAX_REGISTERS);
    return PTX_NO_OPERAND;
  }
  if (!ptx_grow(b, (void**)&function->constants, function->constant_count,
                &function->constant_capacity, sizeof(*function->constants))) {
    return PTX_NO_OPERAND;
  }
  function->constant_bytes += ptx_width_bytes(width);
  int32_t offset = -(int32_t)function->constant_bytes;
  function->constants[function->constant_count] =
      (ptx_constant_t){value, offset, width, dynamic};
  *slot = ++function->constant_count;
  return offset;
}

static uint64_t align_up(uint64_t value, uint32_t align) {
  return (value + align - 1) / align * align;
}

int64_t ptx_place_shared(ptx_build_t* b, ptx_symbol_t* symbol) {
  ptx_function_t* function = b->function;
  if (symbol->kind == PTX_EXTERN_SHARED) {
    if (symbol->align > function->dynamic_align) {
      function->dynamic_align = symbol->align;
    }
    return 0;
  }
  if (symbol->user == b->kernel) return symbol->place;
  uint64_t place = align_up(function->shared_bytes, symbol->align);
  if (place + symbol->size > PTX_MAX_SHARED) {
    ptx_refuse(b, b->token.line, "more than %d bytes of shared memory",
               PTX_MAX_SHARED);
    return 0;
  }
  function->shared_bytes = (uint32_t)(place + symbol->size);
  symbol->user = b->kernel;
  symbol->place = (int64_t)place;
  return symbol->place;
}

int64_t ptx_place_local(ptx_build_t* b, uint64_t size, uint32_t align) {
  uint64_t place = align_up(b->local_top, align);
  if (size > PTX_MAX_LOCAL || place + size > PTX_MAX_LOCAL) {
    ptx_refuse(b, b->token.line, "more than %d bytes of local memory",
               PTX_MAX_LOCAL);
    return 0;
  }
  b->local_top = (uint32_t)(place + size);
  if (b->local_top > b->function->local_bytes) {
    b->function->local_bytes = b->local_top;
  }
  return (int64_t)place;
}

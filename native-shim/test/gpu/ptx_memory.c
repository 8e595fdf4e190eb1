// Loads, stores and copies.
#include <string.h>

#include "ptx_access.h"

enum { MAX_VECTOR = 8 };

//===--------------------------------------------------------------------===//
// Loads and stores
//===--------------------------------------------------------------------===//

// Vectors of elements of one size, to registers of the same size.
#define SAME_SIZE(type, bits)                                                  \
  static void load_##bits(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) { \
    uint8_t* at[PTX_LANES];                                                    \
    uint32_t count = c->count;                                                 \
    if (!ptx_reach_operand(w, c, mask, 1, (uint32_t)sizeof(type) * count,      \
                           false, at)) {                                       \
      return;                                                                  \
    }                                                                          \
    const int32_t* list = w->block->function->list + c->list;                  \
    for (uint32_t k = 0; k < count; ++k) {                                     \
      type* d = PTX_REG(type, count == 1 ? c->o[0] : list[k]);                 \
      for (uint32_t rest = mask; rest; rest &= rest - 1) {                     \
        int i = __builtin_ctz(rest);                                           \
        memcpy(&d[i], at[i] + k * sizeof(type), sizeof(type));                 \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  static void store_##bits(ptx_warp_t* w, const ptx_code_t* c,                 \
                           uint32_t mask) {                                    \
    uint8_t* at[PTX_LANES];                                                    \
    uint32_t count = c->count;                                                 \
    if (!ptx_reach_operand(w, c, mask, 1, (uint32_t)sizeof(type) * count,      \
                           true, at)) {                                        \
      return;                                                                  \
    }                                                                          \
    const int32_t* list = w->block->function->list + c->list;                  \
    for (uint32_t k = 0; k < count; ++k) {                                     \
      const type* s = PTX_REG(type, count == 1 ? c->o[0] : list[k]);           \
      for (uint32_t rest = mask; rest; rest &= rest - 1) {                     \
        int i = __builtin_ctz(rest);                                           \
        memcpy(at[i] + k * sizeof(type), &s[i], sizeof(type));                 \
      }                                                                        \
    }                                                                          \
  }
SAME_SIZE(uint16_t, 16)
SAME_SIZE(uint32_t, 32)
SAME_SIZE(uint64_t, 64)

// A register's width, as a number of bytes, in |to|; the type in memory in
// |from|.
static void load_any(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  uint8_t* at[PTX_LANES];
  const ptx_type_t* type = &ptx_types[c->from];
  uint32_t size = type->size;
  if (!ptx_reach_operand(w, c, mask, 1, size * c->count, false, at)) return;
  const int32_t* list = w->block->function->list + c->list;
  for (uint32_t k = 0; k < c->count; ++k) {
    uint8_t* d = PTX_REG(uint8_t, c->count == 1 ? c->o[0] : list[k]);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      int i = __builtin_ctz(rest);
      uint64_t value = 0;
      memcpy(&value, at[i] + k * size, size);
      if (type->kind == PTX_SIGNED && value >> (8 * size - 1) & 1) {
        value |= size < 8 ? ~(uint64_t)0 << 8 * size : 0;
      }
      memcpy(d + (size_t)i * c->to, &value, c->to);
    }
  }
}

static void store_any(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  uint8_t* at[PTX_LANES];
  uint32_t size = ptx_types[c->from].size;
  if (!ptx_reach_operand(w, c, mask, 1, size * c->count, true, at)) return;
  const int32_t* list = w->block->function->list + c->list;
  for (uint32_t k = 0; k < c->count; ++k) {
    const uint8_t* s = PTX_REG(uint8_t, c->count == 1 ? c->o[0] : list[k]);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      int i = __builtin_ctz(rest);
      memcpy(at[i] + k * size, s + (size_t)i * c->to, size);
    }
  }
}

static uint8_t bytes_of(char width) {
  return width == 'h' ? 2 : width == 'w' ? 4 : 8;
}

static ptx_op_t choose(bool load, const ptx_type_t* type, char width) {
  if (type->size != bytes_of(width)) return load ? load_any : store_any;
  switch (width) {
    case 'h':
      return load ? load_16 : store_16;
    case 'w':
      return load ? load_32 : store_32;
    default:
      return load ? load_64 : store_64;
  }
}

// ld d, [address]; st [address], s; each with vectors in braces.
static bool decode_access(ptx_build_t* b, ptx_name_t* name, bool load) {
  const ptx_type_t* type = ptx_take_type(name);
  ptx_space_t space;
  ptx_take_space(name, &space);
  ptx_take_hints(name);
  int vector = ptx_which(name, "v2 v4 v8");
  uint32_t count = vector < 0 ? 1 : 2u << vector;
  if (!type || type->kind == PTX_PRED || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t registers[MAX_VECTOR];
  ptx_address_t address;
  char width = 0;
  uint32_t found = 0;
  if (load) {
    found = ptx_vector(b, &width, true, type, registers, MAX_VECTOR);
    if (!found || !ptx_expect(b, ",")) return false;
  }
  if (!ptx_address(b, space, &address)) return false;
  if (!load) {
    if (!ptx_expect(b, ",")) return false;
    found = ptx_vector(b, &width, false, type, registers, MAX_VECTOR);
    if (!found) return false;
  }
  if (ptx_is(b, ",")) return ptx_unsupported(b, name);  // a cache policy
  if (!width) width = type->width;
  if (found != count || width == 'p' || bytes_of(width) < type->size) {
    return ptx_refuse(b, name->line, "the operands do not fit the instruction");
  }
  if (address.space == PTX_PARAM && !load) return ptx_unsupported(b, name);
  int32_t list = count > 1 ? ptx_list(b, registers, count) : 0;
  ptx_code_t* code = ptx_emit(b, choose(load, type, width));
  if (!code || list < 0) return false;
  code->o[0] = registers[0];
  ptx_set_address(code, 1, &address, space);
  code->list = (uint32_t)list;
  code->count = (uint8_t)count;
  code->from = ptx_type_index(type);
  code->to = bytes_of(width);
  return true;
}

static bool decode_ld(ptx_build_t* b, ptx_name_t* name) {
  return decode_access(b, name, true);
}
static bool decode_st(ptx_build_t* b, ptx_name_t* name) {
  return decode_access(b, name, false);
}

// Hints, which change nothing.
static bool decode_prefetch(ptx_build_t* b, ptx_name_t* name) {
  ptx_space_t space;
  ptx_address_t address;
  ptx_take_space(name, &space);
  ptx_take_hints(name);
  while (ptx_which(name, "L1 L2") >= 0) continue;
  if (!ptx_all_used(name)) return ptx_unsupported(b, name);
  return ptx_address(b, space, &address);
}

//===--------------------------------------------------------------------===//
// Copies without waiting
//===--------------------------------------------------------------------===//

// Copied at once: what a kernel may rely on after it has waited holds sooner.
static void copy(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  uint8_t *to[PTX_LANES], *from[PTX_LANES];
  const int32_t* list = w->block->function->list + c->list;
  int64_t offset =
      (int64_t)(((uint64_t)(uint32_t)list[1] << 32) | (uint32_t)list[0]);
  uint32_t size = c->count;
  uint32_t wanted = 0;  // lanes that read something
  const uint32_t* sizes = PTX_O(uint32_t, 2);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    if (sizes[i] > size) {
      ptx_fail(w, c, PTX_INVALID, sizes[i]);
      return;
    }
    if (sizes[i]) wanted |= 1u << i;
  }
  if (!ptx_reach(w, c, mask, c->o[0], c->flags & PTX_WIDE_ADDRESS, c->immediate,
                 PTX_SHARED, size, size, true, to)) {
    return;
  }
  for (uint32_t rest = wanted; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    // Only the bytes that it reads have to be there.
    if (!ptx_reach(w, c, 1u << i, c->o[1], list[2], offset, PTX_GLOBAL,
                   sizes[i], size, false, from)) {
      return;
    }
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    memset(to[i], 0, size);
    if (sizes[i]) memcpy(to[i], from[i], sizes[i]);
  }
}

// Skips to the end of an instruction that has nothing to do here.
static bool skip_operands(ptx_build_t* b) {
  while (b->token.kind != PTX_END && !ptx_is(b, ";")) ptx_next(b);
  return true;
}

static bool decode_cp(ptx_build_t* b, ptx_name_t* name) {
  if (!ptx_has(name, "async")) return ptx_unsupported(b, name);
  if (ptx_which(name, "commit_group wait_group wait_all") >= 0) {
    return ptx_all_used(name) ? skip_operands(b) : ptx_unsupported(b, name);
  }
  ptx_take_hints(name);
  ptx_space_t to, from;
  // In the order of the name: the destination first.
  bool shared = ptx_which(name, "shared shared::cta") >= 0;
  to = shared ? PTX_SHARED : PTX_GENERIC;
  from = ptx_has(name, "global") ? PTX_GLOBAL : PTX_GENERIC;
  if (!ptx_all_used(name) || to != PTX_SHARED || from != PTX_GLOBAL) {
    return ptx_unsupported(b, name);
  }
  ptx_address_t target, source;
  uint64_t size;
  if (!ptx_address(b, PTX_SHARED, &target) || !ptx_expect(b, ",") ||
      !ptx_address(b, PTX_GLOBAL, &source) || !ptx_expect(b, ",") ||
      !ptx_count(b, 16, &size)) {
    return false;
  }
  if (size != 4 && size != 8 && size != 16) {
    return ptx_refuse(b, name->line, "a copy of %u bytes", (unsigned)size);
  }
  int32_t sizes = PTX_NO_OPERAND;
  if (ptx_take(b, ",")) {
    sizes = ptx_source(b, 'w', NULL);
  } else {
    sizes = ptx_constant(b, size, 'w', false);
  }
  if (ptx_is(b, ",")) return ptx_unsupported(b, name);  // a cache policy
  const int32_t list[] = {(int32_t)(uint32_t)(uint64_t)source.offset,
                          (int32_t)(uint32_t)((uint64_t)source.offset >> 32),
                          source.wide};
  int32_t first = ptx_list(b, list, 3);
  ptx_code_t* code = sizes == PTX_NO_OPERAND ? NULL : ptx_emit(b, copy);
  if (!code || first < 0) return false;
  ptx_set_address(code, 0, &target, PTX_SHARED);
  code->o[1] = source.base;
  code->o[2] = sizes;
  code->list = (uint32_t)first;
  code->count = (uint8_t)size;
  return true;
}

const ptx_family_t ptx_memory_families[] = {
    {"ld", decode_ld},
    {"ldu", decode_ld},
    {"st", decode_st},
    {"cp", decode_cp},
    {"prefetch", decode_prefetch},
    {"prefetchu", decode_prefetch},
    {NULL, NULL},
};

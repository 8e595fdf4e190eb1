// Moves: of values, of addresses, between registers and their parts.
#include <string.h>
#include <time.h>

#include "ptx_build.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

#define MOVE(name, type)            \
  OPERATION(name) {                 \
    type* d = PTX_O(type, 0);       \
    const type* a = PTX_O(type, 1); \
    PTX_EACH(d[i] = a[i];)          \
  }
MOVE(move_h, uint16_t)
MOVE(move_w, uint32_t)
MOVE(move_d, uint64_t)

OPERATION(move_p) {
  uint32_t* d = PTX_O(uint32_t, 0);
  *d = (*d & ~mask) | (*PTX_O(uint32_t, 1) & mask);
}

OPERATION(clock_w) {
  uint32_t now = (uint32_t)(w->block->steps >> c->immediate);
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  now += (uint32_t)time.tv_nsec;
  PTX_EACH(PTX_O(uint32_t, 0)[i] = now;)
}

OPERATION(clock_d) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  uint64_t now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
  PTX_EACH(PTX_O(uint64_t, 0)[i] = now;)
}

//===--------------------------------------------------------------------===//
// Parts of registers
//===--------------------------------------------------------------------===//

// |to| is the size of the whole, |from| that of each of |count| parts.
OPERATION(pack) {
  const int32_t* list = w->block->function->list + c->list;
  uint64_t whole[PTX_LANES] = {0};
  for (uint32_t k = 0; k < c->count; ++k) {
    const uint8_t* part = PTX_REG(uint8_t, list[k]);
    for (uint32_t i = 0; i < PTX_LANES; ++i) {
      memcpy((uint8_t*)&whole[i] + (size_t)k * c->from,
             part + (size_t)i * c->from, c->from);
    }
  }
  uint8_t* d = PTX_O(uint8_t, 0);
  PTX_EACH(memcpy(d + (size_t)i * c->to, &whole[i], c->to);)
}

OPERATION(unpack) {
  const int32_t* list = w->block->function->list + c->list;
  uint8_t whole[PTX_LANES * 8];
  memcpy(whole, PTX_O(uint8_t, 1), (size_t)PTX_LANES * c->to);
  for (uint32_t k = 0; k < c->count; ++k) {
    uint8_t* part = PTX_REG(uint8_t, list[k]);
    PTX_EACH(memcpy(part + (size_t)i * c->from,
                    whole + (size_t)i * c->to + (size_t)k * c->from, c->from);)
  }
}

static char part_width(char width, uint32_t count) {
  if (width == 'd') return count == 2 ? 'w' : count == 4 ? 'h' : '\0';
  return width == 'w' && count == 2 ? 'h' : '\0';
}

static uint8_t size_of(char width) {
  return width == 'h' ? 2 : width == 'w' ? 4 : 8;
}

static bool decode_parts(ptx_build_t* b, ptx_name_t* name, char width,
                         bool packs, int32_t whole) {
  int32_t parts[4];
  char found = 0;
  uint32_t count = 0;
  if (packs) {
    // Immediates have the size of the others, which come first or not at all.
    const ptx_type_t* type = ptx_type_of("b16", 3);
    count = ptx_vector(b, &found, false, type, parts, 4);
  } else {
    count = ptx_vector(b, &found, true, NULL, parts, 4);
    if (count && ptx_expect(b, ",")) {
      whole = ptx_source(b, width, NULL);
    }
    if (whole == PTX_NO_OPERAND) return false;
  }
  if (!count || b->failed) return false;
  if (!found) found = part_width(width, count);
  if (found != part_width(width, count)) return ptx_unsupported(b, name);
  int32_t list = ptx_list(b, parts, count);
  ptx_code_t* code = ptx_emit(b, packs ? pack : unpack);
  if (!code || list < 0) return false;
  code->o[packs ? 0 : 1] = whole;
  code->list = (uint32_t)list;
  code->count = (uint8_t)count;
  code->from = size_of(found);
  code->to = size_of(width);
  return true;
}

//===--------------------------------------------------------------------===//
// Moves
//===--------------------------------------------------------------------===//

static bool emit_move(ptx_build_t* b, char width, int32_t target,
                      int32_t source) {
  if (target == PTX_NO_OPERAND || source == PTX_NO_OPERAND) return false;
  ptx_code_t* code = ptx_emit(b, width == 'p'   ? move_p
                                 : width == 'h' ? move_h
                                 : width == 'w' ? move_w
                                                : move_d);
  if (!code) return false;
  code->o[0] = target;
  code->o[1] = source;
  return true;
}

static bool is_clock(ptx_build_t* b, char width) {
  if (width == 'w') {
    return ptx_take(b, "%clock") || ptx_take(b, "%clock_hi") ||
           ptx_take(b, "%globaltimer_lo") || ptx_take(b, "%globaltimer_hi");
  }
  return width == 'd' &&
         (ptx_take(b, "%clock64") || ptx_take(b, "%globaltimer"));
}

// The address of a variable, as a constant.
static int32_t address_constant(ptx_build_t* b, char width) {
  ptx_symbol_t scratch;
  const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
  ptx_address_t address;
  if (!symbol || symbol->kind == PTX_REGISTER ||
      !ptx_variable_address(b, symbol, 0, &address)) {
    return PTX_NO_OPERAND;
  }
  bool dynamic = symbol->kind == PTX_EXTERN_SHARED;
  ptx_next(b);
  uint64_t offset = 0;
  if (ptx_take(b, "+") && !ptx_number(b, 'd', &offset)) return PTX_NO_OPERAND;
  return ptx_constant(b, (uint64_t)address.offset + offset, width, dynamic);
}

static bool names_variable(ptx_build_t* b) {
  ptx_symbol_t scratch;
  const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
  return b->token.kind == PTX_WORD && symbol && symbol->kind != PTX_REGISTER;
}

static bool decode_mov(ptx_build_t* b, ptx_name_t* name) {
  const ptx_type_t* type = ptx_take_type(name);
  if (!type || (type->size == 1 && type->kind != PTX_PRED) ||
      !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  char width = type->width;
  if (ptx_is(b, "{")) return decode_parts(b, name, width, false, 0);
  int32_t target = ptx_target(b, width);
  if (target == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  if (ptx_is(b, "{")) return decode_parts(b, name, width, true, target);
  if (is_clock(b, width)) {
    ptx_code_t* code = ptx_emit(b, width == 'w' ? clock_w : clock_d);
    if (code) code->o[0] = target;
    return code != NULL;
  }
  int32_t source = names_variable(b) && (width == 'w' || width == 'd')
                       ? address_constant(b, width)
                       : ptx_source(b, width, type);
  return emit_move(b, width, target, source);
}

//===--------------------------------------------------------------------===//
// Generic addresses
//===--------------------------------------------------------------------===//

OPERATION(to_generic) {
  uint64_t window = (uint64_t)c->immediate;
  const uint64_t* a = PTX_O(uint64_t, 1);
  PTX_EACH(PTX_O(uint64_t, 0)[i] = a[i] | window;)
}

OPERATION(from_generic) {
  const uint64_t* a = PTX_O(uint64_t, 1);
  PTX_EACH(PTX_O(uint64_t, 0)[i] = a[i] & ~PTX_WINDOW_MASK;)
}

OPERATION(is_space) {
  const uint64_t* a = PTX_O(uint64_t, 1);
  uint32_t* d = PTX_O(uint32_t, 0);
  uint32_t lanes = 0;
  for (int i = 0; i < PTX_LANES; ++i) {
    bool is = (a[i] & PTX_WINDOW_MASK) == (uint64_t)c->immediate;
    lanes |= (uint32_t)is << i;
  }
  *d = (*d & ~mask) | (lanes & mask);
}

// The window of a space that the name has.
static bool take_window(ptx_name_t* name, uint64_t* window) {
  static const uint64_t windows[] = {0,
                                     0,
                                     PTX_SHARED_WINDOW,
                                     PTX_SHARED_WINDOW,
                                     PTX_LOCAL_WINDOW,
                                     PTX_PARAM_WINDOW,
                                     PTX_PARAM_WINDOW};
  int space = ptx_which(
      name, "global const shared shared::cta local param param::entry");
  if (space >= 0) *window = windows[space];
  return space >= 0;
}

static bool decode_cvta(ptx_build_t* b, ptx_name_t* name) {
  uint64_t window;
  const ptx_type_t* type = ptx_take_type(name);
  bool to = ptx_has(name, "to");
  if (!type || type->size != 8 || !take_window(name, &window) ||
      !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t target = ptx_target(b, 'd');
  if (target == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  int32_t source =
      names_variable(b) ? address_constant(b, 'd') : ptx_source(b, 'd', NULL);
  if (source == PTX_NO_OPERAND) return false;
  if (window == 0) return emit_move(b, 'd', target, source);
  ptx_code_t* code = ptx_emit(b, to ? from_generic : to_generic);
  if (!code) return false;
  code->o[0] = target;
  code->o[1] = source;
  code->immediate = (int64_t)window;
  return true;
}

static bool decode_isspacep(ptx_build_t* b, ptx_name_t* name) {
  uint64_t window;
  if (!take_window(name, &window) || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t target = ptx_target(b, 'p');
  if (target == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  int32_t source = ptx_source(b, 'd', NULL);
  ptx_code_t* code = source == PTX_NO_OPERAND ? NULL : ptx_emit(b, is_space);
  if (!code) return false;
  code->o[0] = target;
  code->o[1] = source;
  code->immediate = (int64_t)window;
  return true;
}

const ptx_family_t ptx_plain_families[] = {
    {"mov", decode_mov},
    {"cvta", decode_cvta},
    {"isspacep", decode_isspacep},
    {NULL, NULL},
};

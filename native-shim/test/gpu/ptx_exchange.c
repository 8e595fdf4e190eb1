// What lanes do together: shuffles, votes, reductions, and barriers.
#include <string.h>

#include "ptx_build.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

static void set_lanes(uint32_t* predicate, uint32_t lanes, uint32_t mask) {
  *predicate = (*predicate & ~mask) | (lanes & mask);
}

//===--------------------------------------------------------------------===//
// Shuffles
//===--------------------------------------------------------------------===//

// The lane that |lane| reads in the mode; |*within| says whether it is in its
// segment, without which a lane keeps what it has.
static int source_lane(int mode, int lane, uint32_t b, uint32_t clamp,
                       bool* within) {
  int segment = (int)(clamp >> 8 & 31), most = (int)(clamp & 31);
  int by = (int)(b & 31);
  int last = (lane & segment) | (most & ~segment);
  int first = lane & segment, source;
  switch (mode) {
    case 0:  // up; its clamp is the least lane
      source = lane - by;
      *within = source >= last;
      break;
    case 1:  // down
      source = lane + by;
      *within = source <= last;
      break;
    case 2:  // bfly
      source = lane ^ by;
      *within = source <= last;
      break;
    default:  // idx
      source = first | (by & ~segment);
      *within = source <= last;
  }
  return *within ? source : lane;
}

OPERATION(shuffle) {
  const int32_t* list = w->block->function->list + c->list;
  const uint32_t* b = PTX_O(uint32_t, 2);
  const uint32_t* clamp = PTX_O(uint32_t, 3);
  uint32_t old[PTX_LANES], lanes = 0;
  memcpy(old, PTX_O(uint32_t, 1), sizeof(old));
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    bool within;
    int source = source_lane(c->count, i, b[i], clamp[i], &within);
    // Lanes that are not here have no value; theirs is undefined.
    PTX_O(uint32_t, 0)[i] = old[source];
    lanes |= (uint32_t)within << i;
  }
  if (list[0] != PTX_NO_OPERAND) {
    set_lanes(PTX_REG(uint32_t, list[0]), lanes, mask);
  }
}

// An instruction that waits for the lanes in operand |members|.
static ptx_code_t* emit_collective(ptx_build_t* b, ptx_op_t run,
                                   const int32_t* o, int members) {
  for (int i = 0; i < PTX_OPERANDS; ++i) {
    if (o[i] == PTX_NO_OPERAND) return NULL;
  }
  ptx_code_t* code = ptx_emit(b, run);
  if (!code) return NULL;
  memcpy(code->o, o, sizeof(code->o));
  code->control = PTX_COLLECT;
  code->to = (uint8_t)members;
  return code;
}

static bool decode_shfl(ptx_build_t* b, ptx_name_t* name) {
  bool sync = ptx_has(name, "sync");
  int mode = ptx_which(name, "up down bfly idx");
  const ptx_type_t* type = ptx_take_type(name);
  if (mode < 0 || !sync || !type || type->width != 'w' || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  int32_t predicate = PTX_NO_OPERAND;
  o[0] = ptx_target(b, 'w');
  if (o[0] != PTX_NO_OPERAND && ptx_take(b, "|")) {
    predicate = ptx_target(b, 'p');
    if (predicate == PTX_NO_OPERAND) return false;
  }
  for (int i = 1; i <= 4; ++i) {
    if (o[i - 1] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
    o[i] = ptx_source(b, 'w', NULL);
  }
  int32_t list = ptx_list(b, &predicate, 1);
  ptx_code_t* code = emit_collective(b, shuffle, o, 4);
  if (!code || list < 0) return false;
  code->count = (uint8_t)mode;
  code->list = (uint32_t)list;
  return true;
}

//===--------------------------------------------------------------------===//
// Votes and matches
//===--------------------------------------------------------------------===//

// The lanes that take part with a lane.
static uint32_t part(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask, int i) {
  return PTX_O(uint32_t, c->to)[i] & mask;
}

OPERATION(vote) {
  uint32_t predicate = *PTX_O(uint32_t, 1), lanes = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint32_t members = part(w, c, mask, i), set = predicate & members;
    bool truth = c->count == 0   ? set == members
                 : c->count == 1 ? set != 0
                                 : set == members || set == 0;
    if (c->count == 3) {
      PTX_O(uint32_t, 0)[i] = set;
    } else {
      lanes |= (uint32_t)truth << i;
    }
  }
  if (c->count != 3) set_lanes(PTX_O(uint32_t, 0), lanes, mask);
}

static bool decode_vote(ptx_build_t* b, ptx_name_t* name) {
  bool sync = ptx_has(name, "sync");
  int mode = ptx_which(name, "all any uni ballot");
  const ptx_type_t* type = ptx_take_type(name);
  if (mode < 0 || !sync || !type || !ptx_all_used(name) ||
      type->width != (mode == 3 ? 'w' : 'p')) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  o[0] = ptx_target(b, mode == 3 ? 'w' : 'p');
  if (o[0] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  o[1] = ptx_predicate(b);
  if (o[1] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  o[2] = ptx_source(b, 'w', NULL);
  ptx_code_t* code = emit_collective(b, vote, o, 2);
  if (code) code->count = (uint8_t)mode;
  return code != NULL;
}

// |from| is the size of the values.
OPERATION(match) {
  const uint8_t* values = PTX_O(uint8_t, 1);
  uint32_t lanes = 0, results[PTX_LANES] = {0};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint32_t members = part(w, c, mask, i), same = 0;
    for (uint32_t others = members; others; others &= others - 1) {
      int k = __builtin_ctz(others);
      if (memcmp(values + (size_t)i * c->from, values + (size_t)k * c->from,
                 c->from) == 0) {
        same |= 1u << k;
      }
    }
    bool all = same == members;
    results[i] = c->count == 0 || all ? same : 0;
    lanes |= (uint32_t)all << i;
  }
  PTX_EACH(PTX_O(uint32_t, 0)[i] = results[i];)
  if (c->count) set_lanes(PTX_O(uint32_t, 3), lanes, mask);
}

static bool decode_match(ptx_build_t* b, ptx_name_t* name) {
  bool sync = ptx_has(name, "sync");
  int mode = ptx_which(name, "any all");
  const ptx_type_t* type = ptx_take_type(name);
  if (mode < 0 || !sync || !type || type->size < 4 || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  o[3] = PTX_SPECIAL(PTX_SINK);
  o[0] = ptx_target(b, 'w');
  if (o[0] != PTX_NO_OPERAND && mode == 1 && ptx_take(b, "|")) {
    o[3] = ptx_target(b, 'p');
  }
  for (int i = 1; i <= 2; ++i) {
    if (o[i - 1] == PTX_NO_OPERAND || o[3] == PTX_NO_OPERAND ||
        !ptx_expect(b, ",")) {
      return false;
    }
    o[i] = ptx_source(b, i == 1 ? type->width : 'w', type);
  }
  ptx_code_t* code = emit_collective(b, match, o, 2);
  if (!code) return false;
  code->count = (uint8_t)mode;
  code->from = type->size;
  return true;
}

OPERATION(active) { PTX_EACH(PTX_O(uint32_t, 0)[i] = mask;) }

static bool decode_activemask(ptx_build_t* b, ptx_name_t* name) {
  if (!ptx_has(name, "b32") || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t target = ptx_target(b, 'w');
  ptx_code_t* code = target == PTX_NO_OPERAND ? NULL : ptx_emit(b, active);
  if (code) code->o[0] = target;
  return code != NULL;
}

// One lane of those that take part, always the first.
OPERATION(elect) {
  uint32_t lanes = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    int first = __builtin_ctz(part(w, c, mask, i) | 1u << 31);
    PTX_O(uint32_t, 0)[i] = (uint32_t)first;
    lanes |= (uint32_t)(i == first) << i;
  }
  set_lanes(PTX_O(uint32_t, 1), lanes, mask);
}

static bool decode_elect(ptx_build_t* b, ptx_name_t* name) {
  if (!ptx_has(name, "sync") || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  o[0] = ptx_target(b, 'w');
  if (o[0] == PTX_NO_OPERAND || !ptx_expect(b, "|")) return false;
  o[1] = ptx_target(b, 'p');
  if (o[1] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  o[2] = ptx_source(b, 'w', NULL);
  return emit_collective(b, elect, o, 2) != NULL;
}

//===--------------------------------------------------------------------===//
// Reductions
//===--------------------------------------------------------------------===//

static uint32_t reduce_two(uint32_t op, bool is_signed, uint32_t a,
                           uint32_t b) {
  bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  switch (op) {
    case 0:
      return a + b;
    case 1:
      return less ? a : b;
    case 2:
      return less ? b : a;
    case 3:
      return a & b;
    case 4:
      return a | b;
    default:
      return a ^ b;
  }
}

OPERATION(reduce) {
  uint32_t results[PTX_LANES] = {0};
  const uint32_t* values = PTX_O(uint32_t, 1);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint32_t members = part(w, c, mask, i) | 1u << i;
    uint32_t result = values[__builtin_ctz(members)];
    for (uint32_t others = members & (members - 1); others;
         others &= others - 1) {
      result =
          reduce_two(c->count, c->from, result, values[__builtin_ctz(others)]);
    }
    results[i] = result;
  }
  PTX_EACH(PTX_O(uint32_t, 0)[i] = results[i];)
}

static bool decode_redux(ptx_build_t* b, ptx_name_t* name) {
  bool sync = ptx_has(name, "sync");
  int op = ptx_which(name, "add min max and or xor");
  const ptx_type_t* type = ptx_take_type(name);
  if (op < 0 || !sync || !type || type->size != 4 ||
      type->kind > (op < 3 ? PTX_SIGNED : PTX_BITS) ||
      (op >= 3 && type->kind != PTX_BITS) || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  o[0] = ptx_target(b, 'w');
  for (int i = 1; i <= 2; ++i) {
    if (o[i - 1] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
    o[i] = ptx_source(b, 'w', NULL);
  }
  ptx_code_t* code = emit_collective(b, reduce, o, 2);
  if (!code) return false;
  code->count = (uint8_t)op;
  code->from = type->kind == PTX_SIGNED;
  return true;
}

//===--------------------------------------------------------------------===//
// Barriers
//===--------------------------------------------------------------------===//

OPERATION(nothing) { (void)w, (void)c, (void)mask; }

// bar.warp.sync members
static bool decode_warp_barrier(ptx_build_t* b) {
  int32_t o[PTX_OPERANDS] = {0};
  o[0] = ptx_source(b, 'w', NULL);
  return emit_collective(b, nothing, o, 0) != NULL;
}

// bar.sync a, b; bar.arrive a, b; bar.red d, a, b, c.
static bool decode_bar(ptx_build_t* b, ptx_name_t* name) {
  ptx_which(name, "cta");
  ptx_has(name, "aligned");
  if (ptx_has(name, "warp")) {
    bool sync = ptx_has(name, "sync");
    return sync && ptx_all_used(name) ? decode_warp_barrier(b)
                                      : ptx_unsupported(b, name);
  }
  int what = ptx_which(name, "sync arrive red");
  int reduction = what == 2 ? ptx_which(name, "popc and or") + 1 : 0;
  const ptx_type_t* type = what == 2 ? ptx_take_type(name) : NULL;
  if (what < 0 || (what == 2 && (!reduction || !type)) || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  o[0] = PTX_SPECIAL(PTX_SINK);
  o[2] = PTX_SPECIAL(PTX_ZEROS);
  if (what == 2) {
    o[0] = ptx_target(b, reduction == 1 ? 'w' : 'p');
    if (o[0] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  }
  o[1] = ptx_source(b, 'w', NULL);
  if (o[1] == PTX_NO_OPERAND) return false;
  bool more = ptx_take(b, ",");
  if (more && what == 2) {
    // A count, or at once the predicate.
    ptx_symbol_t scratch;
    const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
    if (!ptx_is(b, "!") && (!symbol || symbol->width == 'w')) {
      o[2] = ptx_source(b, 'w', NULL);
      if (o[2] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
    }
    o[3] = ptx_predicate(b);
  } else if (more) {
    o[2] = ptx_source(b, 'w', NULL);
  } else if (what != 0) {
    return ptx_refuse(b, name->line, "a barrier without its operands");
  }
  if (o[2] == PTX_NO_OPERAND || o[3] == PTX_NO_OPERAND) return false;
  ptx_code_t* code = ptx_emit(b, NULL);
  if (!code) return false;
  memcpy(code->o, o, sizeof(o));
  code->control = what == 1 ? PTX_ARRIVE : PTX_BARRIER;
  code->count = (uint8_t)reduction;
  return true;
}

const ptx_family_t ptx_warp_families[] = {
    {"shfl", decode_shfl},
    {"vote", decode_vote},
    {"match", decode_match},
    {"activemask", decode_activemask},
    {"elect", decode_elect},
    {"redux", decode_redux},
    {"bar", decode_bar},
    {"barrier", decode_bar},
    {NULL, NULL},
};

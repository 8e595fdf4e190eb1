// Atomic operations: atom and red.
#include <string.h>

#include "ptx_access.h"
#include "ptx_number.h"

enum { ADD, MIN, MAX, AND, OR, XOR, EXCHANGE, COMPARE, INCREMENT, DECREMENT };

static float least(float a, float b) {
  return a != a || b < a || (a == b && signbit(b)) ? b : a;
}

// What the memory is to hold, from what it holds.
static uint32_t change_word(const ptx_code_t* c, uint32_t old, uint32_t b,
                            uint32_t e) {
  const ptx_type_t* type = &ptx_types[c->from];
  bool is_signed = type->kind == PTX_SIGNED;
  bool less = is_signed ? (int32_t)b < (int32_t)old : b < old;
  switch (c->count) {
    case ADD:
      if (type->kind == PTX_FLOAT) {
        return ptx_bits(ptx_float(old) + ptx_float(b));
      }
      return old + b;
    case MIN:
      if (type->kind == PTX_FLOAT) {
        return ptx_bits(least(ptx_float(old), ptx_float(b)));
      }
      return less ? b : old;
    case MAX:
      if (type->kind == PTX_FLOAT) {
        return ptx_bits(-least(-ptx_float(old), -ptx_float(b)));
      }
      return less ? old : b;
    case AND:
      return old & b;
    case OR:
      return old | b;
    case XOR:
      return old ^ b;
    case EXCHANGE:
      return b;
    case COMPARE:
      return old == b ? e : old;
    case INCREMENT:
      return old >= b ? 0 : old + 1;
    default:
      return old == 0 || old > b ? b : old - 1;
  }
}

static uint64_t change_double(const ptx_code_t* c, uint64_t old, uint64_t b,
                              uint64_t e) {
  const ptx_type_t* type = &ptx_types[c->from];
  bool is_signed = type->kind == PTX_SIGNED;
  bool less = is_signed ? (int64_t)b < (int64_t)old : b < old;
  switch (c->count) {
    case ADD:
      if (type->kind == PTX_FLOAT) {
        return ptx_bits64(ptx_double(old) + ptx_double(b));
      }
      return old + b;
    case MIN:
      return less ? b : old;
    case MAX:
      return less ? old : b;
    case AND:
      return old & b;
    case OR:
      return old | b;
    case XOR:
      return old ^ b;
    case EXCHANGE:
      return b;
    default:
      return old == b ? e : old;
  }
}

static uint16_t add_half(const ptx_type_t* type, uint16_t a, uint16_t b) {
  bool brain = strncmp(type->name, "bf16", 4) == 0;
  double sum = brain ? (double)ptx_from_bfloat(a) + (double)ptx_from_bfloat(b)
                     : (double)ptx_from_half(a) + (double)ptx_from_half(b);
  return brain ? ptx_to_bfloat(sum, PTX_NEAREST)
               : ptx_to_half(sum, PTX_NEAREST);
}

static uint16_t change_half(const ptx_code_t* c, uint16_t old, uint16_t b,
                            uint16_t e) {
  if (c->count == COMPARE) return old == b ? e : old;
  return c->count == EXCHANGE ? b : add_half(&ptx_types[c->from], old, b);
}

static uint32_t change_pair(const ptx_code_t* c, uint32_t old, uint32_t b,
                            uint32_t e) {
  (void)e;
  const ptx_type_t* type = &ptx_types[c->from];
  uint32_t low = add_half(type, (uint16_t)old, (uint16_t)b);
  return low |
         (uint32_t)add_half(type, (uint16_t)(old >> 16), (uint16_t)(b >> 16))
             << 16;
}

// Lanes one after the other, each as an atomic operation of the processor:
// other blocks may run at the same time.
#define ATOMIC(name, type, change)                                           \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {      \
    uint8_t* at[PTX_LANES];                                                  \
    type b[PTX_LANES], e[PTX_LANES];                                         \
    if (!ptx_reach_operand(w, c, mask, 1, sizeof(type), true, at)) return;   \
    memcpy(b, PTX_O(type, 2), sizeof(b));                                    \
    memcpy(e, PTX_O(type, 3), sizeof(e));                                    \
    for (uint32_t rest = mask; rest; rest &= rest - 1) {                     \
      int i = __builtin_ctz(rest);                                           \
      type* place = (type*)(void*)at[i];                                     \
      type old = __atomic_load_n(place, __ATOMIC_SEQ_CST);                   \
      type changed;                                                          \
      do {                                                                   \
        changed = change(c, old, b[i], e[i]);                                \
      } while (!__atomic_compare_exchange_n(                                 \
          place, &old, changed, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
      PTX_O(type, 0)[i] = old;                                               \
    }                                                                        \
  }
ATOMIC(atomic_half, uint16_t, change_half)
ATOMIC(atomic_word, uint32_t, change_word)
ATOMIC(atomic_pair, uint32_t, change_pair)
ATOMIC(atomic_double, uint64_t, change_double)

// Which operations there are for a type.
static ptx_op_t choose(int op, const ptx_type_t* type) {
  bool logic = op >= AND && op <= COMPARE;
  if (op < 0) return NULL;
  if (type->kind == PTX_PACKED) {
    return op == ADD && strstr(type->name, "f16x2") ? atomic_pair : NULL;
  }
  if (type->size == 2) {
    bool number = type->kind == PTX_FLOAT || type->kind == PTX_BFLOAT;
    return (number && op == ADD) ||
                   (type->kind == PTX_BITS && (op == COMPARE || op == EXCHANGE))
               ? atomic_half
               : NULL;
  }
  if (type->size == 4) {
    if (type->kind == PTX_FLOAT) return op <= MAX ? atomic_word : NULL;
    if (type->kind == PTX_BITS) return logic ? atomic_word : NULL;
    return op <= MAX || type->kind == PTX_UNSIGNED ? atomic_word : NULL;
  }
  if (type->size == 8) {
    if (type->kind == PTX_FLOAT) return op == ADD ? atomic_double : NULL;
    if (type->kind == PTX_BITS) return logic ? atomic_double : NULL;
    return op <= MAX ? atomic_double : NULL;
  }
  return NULL;
}

static bool decode(ptx_build_t* b, ptx_name_t* name, bool result) {
  const ptx_type_t* type = ptx_take_type(name);
  ptx_space_t space;
  ptx_take_space(name, &space);
  ptx_take_hints(name);
  int op = ptx_which(name, "add min max and or xor exch cas inc dec");
  ptx_has(name, "noftz");
  ptx_op_t run = type ? choose(op, type) : NULL;
  if (!run || !ptx_all_used(name) || space == PTX_PARAM) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  o[0] = PTX_SPECIAL(PTX_SINK);
  ptx_address_t address;
  if (result) {
    o[0] = ptx_target(b, type->width);
    if (o[0] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  }
  if (!ptx_address(b, space, &address) || !ptx_expect(b, ",")) return false;
  o[2] = ptx_source(b, type->width, type);
  // Read, as of any width, but not used.
  o[3] = PTX_SPECIAL(PTX_ZEROS);
  if (op == COMPARE) {
    if (o[2] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
    o[3] = ptx_source(b, type->width, type);
  }
  if (o[2] == PTX_NO_OPERAND || o[3] == PTX_NO_OPERAND) return false;
  ptx_code_t* code = ptx_emit(b, run);
  if (!code) return false;
  memcpy(code->o, o, sizeof(o));
  ptx_set_address(code, 1, &address, space);
  code->count = (uint8_t)op;
  code->from = ptx_type_index(type);
  return true;
}

static bool decode_atom(ptx_build_t* b, ptx_name_t* name) {
  return decode(b, name, true);
}
static bool decode_red(ptx_build_t* b, ptx_name_t* name) {
  return decode(b, name, false);
}

const ptx_family_t ptx_atomic_families[] = {
    {"atom", decode_atom}, {"red", decode_red}, {NULL, NULL}};

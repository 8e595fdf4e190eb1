// Conversions between numbers: cvt.
#include <string.h>

#include "ptx_build.h"
#include "ptx_number.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

//===--------------------------------------------------------------------===//
// The usual ones
//===--------------------------------------------------------------------===//

#define USUAL(name, result, type)   \
  OPERATION(name) {                 \
    result* d = PTX_O(result, 0);   \
    const type* a = PTX_O(type, 1); \
    PTX_EACH(d[i] = (result)a[i];)  \
  }
USUAL(u64_u32, uint64_t, uint32_t)
USUAL(s64_s32, int64_t, int32_t)
USUAL(u32_u64, uint32_t, uint64_t)
USUAL(u32_u16, uint32_t, uint16_t)
USUAL(s32_s16, int32_t, int16_t)
USUAL(u16_u32, uint16_t, uint32_t)

OPERATION(f32_f16) {
  float* d = PTX_O(float, 0);
  const uint16_t* a = PTX_O(uint16_t, 1);
  PTX_EACH(d[i] = ptx_from_half(a[i]);)
}

static const struct {
  const char *to, *from;
  ptx_op_t run;
} usual[] = {
    {"u64", "u32", u64_u32}, {"s64", "u32", u64_u32}, {"s64", "s32", s64_s32},
    {"u64", "s32", s64_s32}, {"u32", "u64", u32_u64}, {"s32", "s64", u32_u64},
    {"u32", "s64", u32_u64}, {"s32", "u64", u32_u64}, {"u32", "u16", u32_u16},
    {"s32", "u16", u32_u16}, {"s32", "s16", s32_s16}, {"u32", "s16", s32_s16},
    {"u16", "u32", u16_u32}, {"s16", "s32", u16_u32}, {"f32", "f16", f32_f16},
};

//===--------------------------------------------------------------------===//
// One value
//===--------------------------------------------------------------------===//

// A number on its way: an integer, with its sign, or a floating one.
typedef struct number_t {
  bool is_float;
  bool negative;  // of an integer
  uint64_t integer;
  double real;
} number_t;

static number_t read_number(uint64_t bits, const ptx_type_t* type) {
  number_t number = {0};
  uint32_t width = 8u * type->size;
  if (width < 64) bits &= ((uint64_t)1 << width) - 1;
  if (type->kind == PTX_FLOAT || type->kind == PTX_BFLOAT) {
    number.is_float = true;
    number.real = type->kind == PTX_BFLOAT
                      ? (double)ptx_from_bfloat((uint16_t)bits)
                  : type->size == 2 ? (double)ptx_from_half((uint16_t)bits)
                  : type->size == 4 ? (double)ptx_float((uint32_t)bits)
                                    : ptx_double(bits);
    return number;
  }
  if (type->kind == PTX_SIGNED && bits >> (width - 1) & 1) {
    if (width < 64) bits |= ~(uint64_t)0 << width;
    number.negative = true;
  }
  number.integer = bits;
  return number;
}

static double round_to_integer(double value, ptx_rounding_t rounding) {
  switch (rounding) {
    case PTX_ZERO:
      return trunc(value);
    case PTX_DOWN:
      return floor(value);
    case PTX_UP:
      return ceil(value);
    case PTX_AWAY:
      return round(value);
    default:
      return nearbyint(value);
  }
}

static uint64_t float_to_integer(double value, const ptx_type_t* to,
                                 const ptx_type_t* from,
                                 ptx_rounding_t rounding) {
  uint32_t bits = 8u * to->size;
  bool is_signed = to->kind == PTX_SIGNED;
  if (value != value) {
    // What the manual says: zero unless 64 bits are involved.
    return from->size == 8 || to->size == 8 ? (uint64_t)1 << (bits - 1) : 0;
  }
  value = round_to_integer(value, rounding);
  double limit = ldexp(1.0, (int)(is_signed ? bits - 1 : bits));
  uint64_t most = (is_signed ? (uint64_t)1 << (bits - 1) : 0) - 1;
  if (bits < 64 && !is_signed) most = ((uint64_t)1 << bits) - 1;
  if (value >= limit) return most;
  if (is_signed) {
    return value < -limit ? ~most : (uint64_t)(int64_t)value;
  }
  return value <= 0 ? 0 : (uint64_t)value;
}

static uint64_t saturate(number_t number, const ptx_type_t* to) {
  uint32_t bits = 8u * to->size;
  uint64_t value = number.integer;
  if (to->kind == PTX_SIGNED) {
    uint64_t most = ((uint64_t)1 << (bits - 1)) - 1;
    if (number.negative) return (int64_t)value < (int64_t)~most ? ~most : value;
    return value > most ? most : value;
  }
  if (number.negative) return 0;
  uint64_t most = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
  return value > most ? most : value;
}

static uint64_t write_float(double value, const ptx_type_t* to,
                            ptx_rounding_t rounding) {
  if (to->kind == PTX_BFLOAT) return ptx_to_bfloat(value, rounding);
  if (to->size == 2) return ptx_to_half(value, rounding);
  if (to->size == 8) return ptx_bits64(value);
  if (value != value) return 0x7FFFFFFF;
  volatile double exact = value;
  ptx_set_rounding(rounding);
  volatile float rounded = (float)exact;
  ptx_set_rounding(PTX_NEAREST);
  return ptx_bits(rounded);
}

// Integers round once: not to a double and then again.
static uint64_t write_integer_as_float(number_t number, const ptx_type_t* to,
                                       ptx_rounding_t rounding) {
  volatile uint64_t value = number.integer;
  volatile float single;
  volatile double real;
  ptx_set_rounding(rounding);
  if (to->size == 4) {
    single = number.negative ? (float)(int64_t)value : (float)value;
  } else {
    real = number.negative ? (double)(int64_t)value : (double)value;
  }
  ptx_set_rounding(PTX_NEAREST);
  if (to->size == 4) return ptx_bits(single);
  if (to->size == 8) return ptx_bits64(real);
  // Formats of 16 bits: doubles hold whole numbers of up to 53 bits.
  double wide = number.negative ? (double)(int64_t)value : (double)value;
  return write_float(wide, to, rounding);
}

static double modify(const ptx_code_t* c, double value) {
  if (c->flags & PTX_SAT) return value > 0 ? (value < 1 ? value : 1.0) : 0.0;
  if (c->flags & PTX_RELU) return value < 0 ? 0.0 : value;
  return value;
}

static double flush(const ptx_code_t* c, double value) {
  if (!(c->flags & PTX_FTZ)) return value;
  return fabs(value) < 0x1p-126 ? copysign(0.0, value) : value;
}

static uint64_t convert_one(const ptx_code_t* c, uint64_t bits) {
  const ptx_type_t* to = &ptx_types[c->to];
  const ptx_type_t* from = &ptx_types[c->from];
  ptx_rounding_t rounding = (ptx_rounding_t)c->rounding;
  number_t number = read_number(bits, from);
  bool to_float = to->kind == PTX_FLOAT || to->kind == PTX_BFLOAT;
  if (!number.is_float && !to_float) {
    return c->flags & PTX_SAT ? saturate(number, to) : number.integer;
  }
  if (!number.is_float) {
    if (c->flags & PTX_SAT) {
      return write_float(number.negative || !number.integer ? 0.0 : 1.0, to,
                         rounding);
    }
    return write_integer_as_float(number, to, rounding);
  }
  double value = from->size == 4 ? flush(c, number.real) : number.real;
  if (!to_float) return float_to_integer(value, to, from, rounding);
  // .rni and the like: to an integer of the same format.
  if (c->count) value = round_to_integer(value, rounding);
  value = modify(c, value);
  bool same = to == from && !c->count && value == number.real;
  if (same && !(c->flags & PTX_SAT)) return bits;
  uint64_t result = write_float(value, to, c->count ? PTX_NEAREST : rounding);
  if (to->size == 4 && to->kind == PTX_FLOAT && c->flags & PTX_FTZ) {
    result = ptx_bits(ptx_flush(ptx_float((uint32_t)result)));
  }
  return result;
}

static uint64_t read_register(const uint8_t* at, char width, int i) {
  uint64_t value = 0;
  size_t size = width == 'h' ? 2 : width == 'w' ? 4 : 8;
  memcpy(&value, at + (size_t)i * size, size);
  return value;
}

static void write_register(uint8_t* at, char width, int i, uint64_t value) {
  size_t size = width == 'h' ? 2 : width == 'w' ? 4 : 8;
  memcpy(at + (size_t)i * size, &value, size);
}

// Results narrower than their registers are extended by their signs.
static uint64_t extend(uint64_t value, const ptx_type_t* type) {
  uint32_t bits = 8u * type->size;
  if (bits == 64) return value;
  uint64_t low = value & (((uint64_t)1 << bits) - 1);
  bool negative = type->kind == PTX_SIGNED && low >> (bits - 1) & 1;
  return negative ? low | ~(uint64_t)0 << bits : low;
}

OPERATION(convert) {
  char to = (char)(c->immediate & 0xFF), from = (char)(c->immediate >> 8);
  const uint8_t* a = PTX_O(uint8_t, 1);
  uint8_t* d = PTX_O(uint8_t, 0);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint64_t value = convert_one(c, read_register(a, from, i));
    write_register(d, to, i, extend(value, &ptx_types[c->to]));
  }
}

//===--------------------------------------------------------------------===//
// Pairs, and formats for matrices
//===--------------------------------------------------------------------===//

// The first source gives the upper half.
OPERATION(pair) {
  const float* high = PTX_O(float, 1);
  const float* low = PTX_O(float, 2);
  bool brain = c->to;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    double h = modify(c, (double)high[i]), l = modify(c, (double)low[i]);
    uint32_t upper =
        brain ? ptx_to_bfloat(h, c->rounding) : ptx_to_half(h, c->rounding);
    uint32_t lower =
        brain ? ptx_to_bfloat(l, c->rounding) : ptx_to_half(l, c->rounding);
    PTX_O(uint32_t, 0)[i] = upper << 16 | lower;
  }
}

OPERATION(pair_f8) {
  const float* high = PTX_O(float, 1);
  const float* low = PTX_O(float, 2);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    double h = modify(c, (double)high[i]), l = modify(c, (double)low[i]);
    PTX_O(uint16_t, 0)
    [i] = (uint16_t)(c->to ? ptx_to_e5m2(h) << 8 | ptx_to_e5m2(l)
                           : ptx_to_e4m3(h) << 8 | ptx_to_e4m3(l));
  }
}

OPERATION(pair_f8_of_halves) {
  const uint32_t* a = PTX_O(uint32_t, 1);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    double h = modify(c, (double)ptx_from_half((uint16_t)(a[i] >> 16)));
    double l = modify(c, (double)ptx_from_half((uint16_t)a[i]));
    PTX_O(uint16_t, 0)
    [i] = (uint16_t)(c->to ? ptx_to_e5m2(h) << 8 | ptx_to_e5m2(l)
                           : ptx_to_e4m3(h) << 8 | ptx_to_e4m3(l));
  }
}

OPERATION(halves_of_f8) {
  const uint16_t* a = PTX_O(uint16_t, 1);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint8_t high = (uint8_t)(a[i] >> 8), low = (uint8_t)a[i];
    double h = (double)(c->from ? ptx_from_e5m2(high) : ptx_from_e4m3(high));
    double l = (double)(c->from ? ptx_from_e5m2(low) : ptx_from_e4m3(low));
    uint32_t upper = ptx_to_half(modify(c, h), PTX_NEAREST);
    uint32_t lower = ptx_to_half(modify(c, l), PTX_NEAREST);
    PTX_O(uint32_t, 0)[i] = upper << 16 | lower;
  }
}

// 10 bits of mantissa, in the place of a float.
OPERATION(to_tf32) {
  const float* a = PTX_O(float, 1);
  PTX_EACH(PTX_O(uint32_t, 0)[i] =
               ptx_round_to(modify(c, (double)a[i]), 8, 10, c->rounding) << 13;)
}

static bool decode_special(ptx_build_t* b, ptx_name_t* name,
                           const ptx_type_t* to, const ptx_type_t* from) {
  ptx_code_t how = {0};
  ptx_take_rounding(name, &how);
  if (ptx_has(name, "relu")) how.flags |= PTX_RELU;
  bool finite = ptx_has(name, "satfinite");
  if (!ptx_all_used(name)) return ptx_unsupported(b, name);
  bool to_f8 = strstr(to->name, "e4m3x2") || strstr(to->name, "e5m2x2");
  bool from_f8 = strstr(from->name, "e4m3x2") || strstr(from->name, "e5m2x2");
  bool pairs =
      strcmp(to->name, "f16x2") == 0 || strcmp(to->name, "bf16x2") == 0;
  ptx_op_t run = NULL;
  int sources = 1;
  if (strcmp(from->name, "f32") == 0 && (pairs || to_f8)) {
    run = pairs ? pair : pair_f8;
    sources = 2;
    if (finite != to_f8) return ptx_unsupported(b, name);
    how.to = to->name[0] == 'b' || strcmp(to->name, "e5m2x2") == 0;
  } else if (to_f8 && strcmp(from->name, "f16x2") == 0 && finite) {
    run = pair_f8_of_halves;
    how.to = strcmp(to->name, "e5m2x2") == 0;
  } else if (from_f8 && strcmp(to->name, "f16x2") == 0) {
    run = halves_of_f8;
    how.from = strcmp(from->name, "e5m2x2") == 0;
  } else if (strcmp(to->name, "tf32") == 0 && strcmp(from->name, "f32") == 0 &&
             !finite) {
    run = to_tf32;
  }
  if (!run) return ptx_unsupported(b, name);
  int32_t o[3] = {0};
  o[0] = ptx_target(b, to->width);
  for (int i = 1; i <= sources; ++i) {
    if (o[i - 1] == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
    o[i] = ptx_source(b, from->width, from);
    if (o[i] == PTX_NO_OPERAND) return false;
  }
  ptx_code_t* code = ptx_emit(b, run);
  if (!code) return false;
  memcpy(code->o, o, sizeof(o));
  code->flags = how.flags;
  code->rounding = how.rounding;
  code->to = how.to;
  code->from = how.from;
  return true;
}

//===--------------------------------------------------------------------===//
// Names
//===--------------------------------------------------------------------===//

static ptx_op_t find_usual(const ptx_type_t* to, const ptx_type_t* from) {
  for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); ++i) {
    if (strcmp(usual[i].to, to->name) == 0 &&
        strcmp(usual[i].from, from->name) == 0) {
      return usual[i].run;
    }
  }
  return NULL;
}

static bool decode_cvt(ptx_build_t* b, ptx_name_t* name) {
  const ptx_type_t* from = ptx_take_type(name);
  const ptx_type_t* to = ptx_take_type(name);
  if (!from || !to || from->kind == PTX_PRED || to->kind == PTX_PRED) {
    return ptx_unsupported(b, name);
  }
  if (to->kind == PTX_PACKED || from->kind == PTX_PACKED) {
    return decode_special(b, name, to, from);
  }
  ptx_code_t how = {0};
  int to_integer = ptx_which(name, "rni rzi rmi rpi");
  if (to_integer >= 0) {
    how.rounding = (uint8_t)to_integer;
    how.count = 1;
  }
  ptx_take_rounding(name, &how);
  if (ptx_has(name, "ftz")) how.flags |= PTX_FTZ;
  if (ptx_has(name, "sat")) how.flags |= PTX_SAT;
  if (ptx_has(name, "relu")) how.flags |= PTX_RELU;
  if (!ptx_all_used(name)) return ptx_unsupported(b, name);
  char to_width = 0, from_width = from->width;
  int32_t target = ptx_any_register(b, &to_width, true), source;
  if (target == PTX_NO_OPERAND || !ptx_expect(b, ",")) return false;
  ptx_symbol_t scratch;
  const ptx_symbol_t* symbol = ptx_lookup(b, b->token, &scratch);
  source = b->token.kind == PTX_WORD && symbol
               ? ptx_any_register(b, &from_width, false)
               : ptx_source(b, from->width, from);
  if (source == PTX_NO_OPERAND) return false;
  if (to_width == 'p' || from_width == 'p') return ptx_unsupported(b, name);
  bool plain = !how.flags && !how.rounding && !how.count &&
               to_width == to->width && from_width == from->width;
  ptx_op_t run = plain ? find_usual(to, from) : NULL;
  ptx_code_t* code = ptx_emit(b, run ? run : convert);
  if (!code) return false;
  code->o[0] = target;
  code->o[1] = source;
  code->immediate = to_width | (int64_t)from_width << 8;
  code->flags = how.flags;
  code->rounding = how.rounding;
  code->count = how.count;
  code->to = ptx_type_index(to);
  code->from = ptx_type_index(from);
  return true;
}

const ptx_family_t ptx_convert_families[] = {{"cvt", decode_cvt}, {NULL, NULL}};

// Arithmetic of integers. What overflows wraps; signed numbers are computed as
// unsigned ones, for which C defines that.
#include <stdlib.h>

#include "ptx_internal.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

#define ONE(name, type, expression)      \
  OPERATION(name) {                      \
    type* d = PTX_O(type, 0);            \
    const type* a = PTX_O(type, 1);      \
    PTX_EACH(d[i] = (type)(expression);) \
  }
#define TWO(name, result, type, expression) \
  OPERATION(name) {                         \
    result* d = PTX_O(result, 0);           \
    const type* a = PTX_O(type, 1);         \
    const type* b = PTX_O(type, 2);         \
    PTX_EACH(d[i] = (result)(expression);)  \
  }
#define THREE(name, result, type, expression) \
  OPERATION(name) {                           \
    result* d = PTX_O(result, 0);             \
    const type* a = PTX_O(type, 1);           \
    const type* b = PTX_O(type, 2);           \
    const result* e = PTX_O(result, 3);       \
    PTX_EACH(d[i] = (result)(expression);)    \
  }

// Wide enough for products of any two.
__extension__ typedef __int128 int128_t;
__extension__ typedef unsigned __int128 uint128_t;

// Division by zero: all bits set, as the hardware does it.
#define DIVISIONS(suffix, type, least)                        \
  static inline type divide_##suffix(type a, type b) {        \
    if (b == 0) return (type) - 1;                            \
    if ((least) && a == (least) && b == (type) - 1) return a; \
    return (type)(a / b);                                     \
  }                                                           \
  static inline type rest_##suffix(type a, type b) {          \
    if (b == 0) return a;                                     \
    if ((least) && a == (least) && b == (type) - 1) return 0; \
    return (type)(a % b);                                     \
  }                                                           \
  TWO(div_##suffix, type, type, divide_##suffix(a[i], b[i]))  \
  TWO(rem_##suffix, type, type, rest_##suffix(a[i], b[i]))
DIVISIONS(u16, uint16_t, 0)
DIVISIONS(s16, int16_t, INT16_MIN)
DIVISIONS(u32, uint32_t, 0)
DIVISIONS(s32, int32_t, INT32_MIN)
DIVISIONS(u64, uint64_t, 0)
DIVISIONS(s64, int64_t, INT64_MIN)

// |bare| is the type without a sign in which to compute, |twice| one of double
// width.
#define ARITHMETIC(suffix, type, bare, twice, bits)                         \
  TWO(min_##suffix, type, type, a[i] < b[i] ? a[i] : b[i])                  \
  TWO(max_##suffix, type, type, a[i] > b[i] ? a[i] : b[i])                  \
  TWO(mul_hi_##suffix, type, type, ((twice)a[i] * (twice)b[i]) >> (bits))   \
  THREE(mad_hi_##suffix, type, type,                                        \
        (bare)(((twice)a[i] * (twice)b[i]) >> (bits)) + (bare)e[i])         \
  THREE(sad_##suffix, type, type,                                           \
        (a[i] > b[i] ? (bare)a[i] - (bare)b[i] : (bare)b[i] - (bare)a[i]) + \
            (bare)e[i])
ARITHMETIC(u16, uint16_t, uint32_t, uint32_t, 16)
ARITHMETIC(s16, int16_t, uint32_t, int32_t, 16)
ARITHMETIC(u32, uint32_t, uint32_t, uint64_t, 32)
ARITHMETIC(s32, int32_t, uint32_t, int64_t, 32)
ARITHMETIC(u64, uint64_t, uint64_t, uint128_t, 64)
ARITHMETIC(s64, int64_t, uint64_t, int128_t, 64)

// What is the same with and without a sign.
#define WRAPPING(bits, type, wide)                                   \
  TWO(add_##bits, type, type, (wide)a[i] + b[i])                     \
  TWO(sub_##bits, type, type, (wide)a[i] - b[i])                     \
  TWO(mul_lo_##bits, type, type, (wide)a[i] * b[i])                  \
  THREE(mad_lo_##bits, type, type, (wide)((wide)a[i] * b[i]) + e[i]) \
  ONE(neg_##bits, type, 0 - (wide)a[i])                              \
  ONE(abs_##bits, type, a[i] >> (bits - 1) ? 0 - (wide)a[i] : a[i])
WRAPPING(16, uint16_t, uint32_t)
WRAPPING(32, uint32_t, uint32_t)
WRAPPING(64, uint64_t, uint64_t)

#define WIDENING(suffix, type, result, bare)                        \
  TWO(mul_wide_##suffix, result, type, (result)a[i] * (result)b[i]) \
  THREE(mad_wide_##suffix, result, type,                            \
        (bare)((result)a[i] * (result)b[i]) + (bare)e[i])
WIDENING(u16, uint16_t, uint32_t, uint32_t)
WIDENING(s16, int16_t, int32_t, uint32_t)
WIDENING(u32, uint32_t, uint64_t, uint64_t)
WIDENING(s32, int32_t, int64_t, uint64_t)

static inline int32_t clamp(int64_t value) {
  return value > INT32_MAX   ? INT32_MAX
         : value < INT32_MIN ? INT32_MIN
                             : (int32_t)value;
}

OPERATION(add_s32) {
  if (!(c->flags & PTX_SAT)) {
    add_32(w, c, mask);
    return;
  }
  const int32_t* a = PTX_O(int32_t, 1);
  const int32_t* b = PTX_O(int32_t, 2);
  PTX_EACH(PTX_O(int32_t, 0)[i] = clamp((int64_t)a[i] + b[i]);)
}

OPERATION(sub_s32) {
  if (!(c->flags & PTX_SAT)) {
    sub_32(w, c, mask);
    return;
  }
  const int32_t* a = PTX_O(int32_t, 1);
  const int32_t* b = PTX_O(int32_t, 2);
  PTX_EACH(PTX_O(int32_t, 0)[i] = clamp((int64_t)a[i] - b[i]);)
}

static inline int64_t signed24(uint32_t value) {
  return (int32_t)(value << 8) >> 8;
}
#define LOW24(x) ((uint64_t)((x) & 0xFFFFFF))
TWO(mul24_u32, uint32_t, uint32_t, LOW24(a[i]) * LOW24(b[i]))
TWO(mul24_s32, uint32_t, uint32_t, signed24(a[i]) * signed24(b[i]))
TWO(mul24_hi_u32, uint32_t, uint32_t, LOW24(a[i]) * LOW24(b[i]) >> 16)
TWO(mul24_hi_s32, uint32_t, uint32_t, signed24(a[i]) * signed24(b[i]) >> 16)
THREE(mad24_u32, uint32_t, uint32_t, LOW24(a[i]) * LOW24(b[i]) + e[i])
THREE(mad24_s32, uint32_t, uint32_t, signed24(a[i]) * signed24(b[i]) + e[i])

//===--------------------------------------------------------------------===//
// Carries
//===--------------------------------------------------------------------===//

// Sums of more words than one: |carry| of the lane goes in and, with .cc, out.
#define CARRYING(name, type, twice, bits, in, out, expression) \
  OPERATION(name) {                                            \
    for (uint32_t rest = mask; rest; rest &= rest - 1) {       \
      int i = __builtin_ctz(rest);                             \
      twice a = PTX_O(type, 1)[i], b = PTX_O(type, 2)[i];      \
      twice carry = (in) ? w->carry >> i & 1 : 0;              \
      twice sum = (expression);                                \
      PTX_O(type, 0)[i] = (type)sum;                           \
      if (out) {                                               \
        uint32_t bit = (uint32_t)(sum >> (bits)) & 1;          \
        w->carry = (w->carry & ~(1u << i)) | bit << i;         \
      }                                                        \
    }                                                          \
  }
CARRYING(add_cc_32, uint32_t, uint64_t, 32, false, true, a + b + carry)
CARRYING(addc_32, uint32_t, uint64_t, 32, true, false, a + b + carry)
CARRYING(addc_cc_32, uint32_t, uint64_t, 32, true, true, a + b + carry)
CARRYING(sub_cc_32, uint32_t, uint64_t, 32, false, true, a - b - carry)
CARRYING(subc_32, uint32_t, uint64_t, 32, true, false, a - b - carry)
CARRYING(subc_cc_32, uint32_t, uint64_t, 32, true, true, a - b - carry)
CARRYING(add_cc_64, uint64_t, uint128_t, 64, false, true, a + b + carry)
CARRYING(addc_64, uint64_t, uint128_t, 64, true, false, a + b + carry)
CARRYING(addc_cc_64, uint64_t, uint128_t, 64, true, true, a + b + carry)
CARRYING(sub_cc_64, uint64_t, uint128_t, 64, false, true, a - b - carry)
CARRYING(subc_64, uint64_t, uint128_t, 64, true, false, a - b - carry)
CARRYING(subc_cc_64, uint64_t, uint128_t, 64, true, true, a - b - carry)

// Products that are added to a third operand, with carries.
#define CARRYING_PRODUCT(name, type, twice, bits, high, in, out)           \
  OPERATION(name) {                                                        \
    for (uint32_t rest = mask; rest; rest &= rest - 1) {                   \
      int i = __builtin_ctz(rest);                                         \
      twice product = (twice)PTX_O(type, 1)[i] * (twice)PTX_O(type, 2)[i]; \
      twice a = (bare_##bits)((high) ? product >> (bits) : product);       \
      twice carry = (in) ? w->carry >> i & 1 : 0;                          \
      twice sum = a + (twice)(bare_##bits)PTX_O(type, 3)[i] + carry;       \
      PTX_O(type, 0)[i] = (type)sum;                                       \
      if (out) {                                                           \
        uint32_t bit = (uint32_t)(sum >> (bits)) & 1;                      \
        w->carry = (w->carry & ~(1u << i)) | bit << i;                     \
      }                                                                    \
    }                                                                      \
  }
typedef uint32_t bare_32;
typedef uint64_t bare_64;
#define CARRYING_PRODUCTS(suffix, type, twice, bits)                          \
  CARRYING_PRODUCT(mad_lo_cc_##suffix, type, twice, bits, false, false, true) \
  CARRYING_PRODUCT(mad_hi_cc_##suffix, type, twice, bits, true, false, true)  \
  CARRYING_PRODUCT(madc_lo_##suffix, type, twice, bits, false, true, false)   \
  CARRYING_PRODUCT(madc_hi_##suffix, type, twice, bits, true, true, false)    \
  CARRYING_PRODUCT(madc_lo_cc_##suffix, type, twice, bits, false, true, true) \
  CARRYING_PRODUCT(madc_hi_cc_##suffix, type, twice, bits, true, true, true)
CARRYING_PRODUCTS(u32, uint32_t, uint64_t, 32)
CARRYING_PRODUCTS(s32, int32_t, int64_t, 32)
CARRYING_PRODUCTS(u64, uint64_t, uint128_t, 64)
CARRYING_PRODUCTS(s64, int64_t, int128_t, 64)

//===--------------------------------------------------------------------===//
// Dot products
//===--------------------------------------------------------------------===//

static inline int64_t part_of(uint32_t word, int index, int bits,
                              bool is_signed) {
  uint32_t low = word >> (index * bits);
  if (bits == 8) return is_signed ? (int8_t)low : (uint8_t)low;
  return is_signed ? (int16_t)low : (uint16_t)low;
}

static inline uint32_t dot4(uint32_t a, uint32_t b, bool a_signed,
                            bool b_signed) {
  int64_t sum = 0;
  for (int k = 0; k < 4; ++k) {
    sum += part_of(a, k, 8, a_signed) * part_of(b, k, 8, b_signed);
  }
  return (uint32_t)sum;
}

static inline uint32_t dot2(uint32_t a, uint32_t b, bool a_signed,
                            bool b_signed, int from) {
  int64_t sum = 0;
  for (int k = 0; k < 2; ++k) {
    sum += part_of(a, k, 16, a_signed) * part_of(b, k + from, 8, b_signed);
  }
  return (uint32_t)sum;
}

#define DOTS(suffix, one, two)                                                \
  THREE(dp4a_##suffix, uint32_t, uint32_t, dot4(a[i], b[i], one, two) + e[i]) \
  THREE(dp2a_lo_##suffix, uint32_t, uint32_t,                                 \
        dot2(a[i], b[i], one, two, 0) + e[i])                                 \
  THREE(dp2a_hi_##suffix, uint32_t, uint32_t,                                 \
        dot2(a[i], b[i], one, two, 2) + e[i])
DOTS(uu, false, false)
DOTS(us, false, true)
DOTS(su, true, false)
DOTS(ss, true, true)

//===--------------------------------------------------------------------===//

#define SIGNED_ROWS(suffix, bits, w)                    \
  {"div." #suffix, w w w, div_##suffix, 0},             \
      {"rem." #suffix, w w w, rem_##suffix, 0},         \
      {"min." #suffix, w w w, min_##suffix, 0},         \
      {"max." #suffix, w w w, max_##suffix, 0},         \
      {"mul.hi." #suffix, w w w, mul_hi_##suffix, 0},   \
      {"mul.lo." #suffix, w w w, mul_lo_##bits, 0},     \
      {"mad.hi." #suffix, w w w w, mad_hi_##suffix, 0}, \
      {"mad.lo." #suffix, w w w w, mad_lo_##bits, 0},   \
      {"sad." #suffix, w w w w, sad_##suffix, 0}
#define ADD_ROWS(suffix, bits, w) \
  {"add." #suffix, w w w, add_##bits, 0}, {"sub." #suffix, w w w, sub_##bits, 0}
#define WIDE_ROWS(suffix, w, d)                       \
  {"mul.wide." #suffix, d w w, mul_wide_##suffix, 0}, \
      {"mad.wide." #suffix, d w w d, mad_wide_##suffix, 0}
#define CARRY_ROWS(suffix, bits, w)                   \
  {"add.cc." #suffix, w w w, add_cc_##bits, 0},       \
      {"addc." #suffix, w w w, addc_##bits, 0},       \
      {"addc.cc." #suffix, w w w, addc_cc_##bits, 0}, \
      {"sub.cc." #suffix, w w w, sub_cc_##bits, 0},   \
      {"subc." #suffix, w w w, subc_##bits, 0},       \
      {"subc.cc." #suffix, w w w, subc_cc_##bits, 0}
#define CARRY_PRODUCT_ROWS(suffix, w)                           \
  {"mad.lo.cc." #suffix, w w w w, mad_lo_cc_##suffix, 0},       \
      {"mad.hi.cc." #suffix, w w w w, mad_hi_cc_##suffix, 0},   \
      {"madc.lo." #suffix, w w w w, madc_lo_##suffix, 0},       \
      {"madc.hi." #suffix, w w w w, madc_hi_##suffix, 0},       \
      {"madc.lo.cc." #suffix, w w w w, madc_lo_cc_##suffix, 0}, \
      {"madc.hi.cc." #suffix, w w w w, madc_hi_cc_##suffix, 0}
#define DOT_ROWS(name, suffix)                        \
  {"dp4a." name, "wwww", dp4a_##suffix, 0},           \
      {"dp2a.lo." name, "wwww", dp2a_lo_##suffix, 0}, \
      {"dp2a.hi." name, "wwww", dp2a_hi_##suffix, 0}

const ptx_row_t ptx_integer_rows[] = {
    ADD_ROWS(u16, 16, "h"),
    ADD_ROWS(s16, 16, "h"),
    ADD_ROWS(u32, 32, "w"),
    {"add.s32", "www", add_s32, PTX_MAY_SAT},
    {"sub.s32", "www", sub_s32, PTX_MAY_SAT},
    ADD_ROWS(u64, 64, "d"),
    ADD_ROWS(s64, 64, "d"),
    SIGNED_ROWS(u16, 16, "h"),
    SIGNED_ROWS(s16, 16, "h"),
    SIGNED_ROWS(u32, 32, "w"),
    SIGNED_ROWS(s32, 32, "w"),
    SIGNED_ROWS(u64, 64, "d"),
    SIGNED_ROWS(s64, 64, "d"),
    WIDE_ROWS(u16, "h", "w"),
    WIDE_ROWS(s16, "h", "w"),
    WIDE_ROWS(u32, "w", "d"),
    WIDE_ROWS(s32, "w", "d"),
    CARRY_ROWS(u32, 32, "w"),
    CARRY_ROWS(s32, 32, "w"),
    CARRY_ROWS(b32, 32, "w"),
    CARRY_ROWS(u64, 64, "d"),
    CARRY_ROWS(s64, 64, "d"),
    CARRY_PRODUCT_ROWS(u32, "w"),
    CARRY_PRODUCT_ROWS(s32, "w"),
    CARRY_PRODUCT_ROWS(u64, "d"),
    CARRY_PRODUCT_ROWS(s64, "d"),
    {"neg.s16", "hh", neg_16, 0},
    {"neg.s32", "ww", neg_32, 0},
    {"neg.s64", "dd", neg_64, 0},
    {"abs.s16", "hh", abs_16, 0},
    {"abs.s32", "ww", abs_32, 0},
    {"abs.s64", "dd", abs_64, 0},
    {"mul24.lo.u32", "www", mul24_u32, 0},
    {"mul24.lo.s32", "www", mul24_s32, 0},
    {"mul24.hi.u32", "www", mul24_hi_u32, 0},
    {"mul24.hi.s32", "www", mul24_hi_s32, 0},
    {"mad24.lo.u32", "wwww", mad24_u32, 0},
    {"mad24.lo.s32", "wwww", mad24_s32, 0},
    DOT_ROWS("u32.u32", uu),
    DOT_ROWS("u32.s32", us),
    DOT_ROWS("s32.u32", su),
    DOT_ROWS("s32.s32", ss),
    {NULL, NULL, NULL, 0},
};

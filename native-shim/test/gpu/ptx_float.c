// Arithmetic of numbers with 32 and 64 bits. An instruction without modifiers
// has a loop of its own; one with modifiers takes each lane by itself.
#include "ptx_number.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

//===--------------------------------------------------------------------===//
// With and without modifiers
//===--------------------------------------------------------------------===//

static inline float in_f32(const ptx_code_t* c, float value) {
  return c->flags & PTX_FTZ ? ptx_flush(value) : value;
}
static inline double in_f64(const ptx_code_t* c, double value) {
  (void)c;
  return value;
}

static inline float out_f32(const ptx_code_t* c, float value) {
  if (c->flags & PTX_SAT) return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
  return c->flags & PTX_FTZ ? ptx_flush(value) : value;
}
static inline double out_f64(const ptx_code_t* c, double value) {
  (void)c;
  return value;
}

// The operands and the result are volatile where the processor's rounding is
// changed: the compiler keeps them in order with the calls that change it.
#define WITH_MODIFIERS(type, suffix, set_operands, expression) \
  for (uint32_t rest = mask; rest; rest &= rest - 1) {         \
    int i = __builtin_ctz(rest);                               \
    set_operands;                                              \
    if (c->rounding) ptx_set_rounding(c->rounding);            \
    volatile type result = expression;                         \
    if (c->rounding) ptx_set_rounding(PTX_NEAREST);            \
    PTX_O(type, 0)[i] = out_##suffix(c, result);               \
  }

#define ONE(name, type, suffix, expression)                             \
  OPERATION(name##_##suffix) {                                          \
    if (!c->flags && !c->rounding) {                                    \
      type* d = PTX_O(type, 0);                                         \
      const type* p = PTX_O(type, 1);                                   \
      PTX_EACH(type a = p[i]; d[i] = expression;)                       \
      return;                                                           \
    }                                                                   \
    WITH_MODIFIERS(type, suffix,                                        \
                   volatile type a = in_##suffix(c, PTX_O(type, 1)[i]), \
                   expression)                                          \
  }
#define TWO(name, type, suffix, expression)                                \
  OPERATION(name##_##suffix) {                                             \
    if (!c->flags && !c->rounding) {                                       \
      type* d = PTX_O(type, 0);                                            \
      const type* p = PTX_O(type, 1);                                      \
      const type* q = PTX_O(type, 2);                                      \
      PTX_EACH(type a = p[i]; type b = q[i]; d[i] = expression;)           \
      return;                                                              \
    }                                                                      \
    WITH_MODIFIERS(                                                        \
        type, suffix, volatile type a = in_##suffix(c, PTX_O(type, 1)[i]); \
        volatile type b = in_##suffix(c, PTX_O(type, 2)[i]), expression)   \
  }
#define THREE(name, type, suffix, expression)                              \
  OPERATION(name##_##suffix) {                                             \
    if (!c->flags && !c->rounding) {                                       \
      type* d = PTX_O(type, 0);                                            \
      const type* p = PTX_O(type, 1);                                      \
      const type* q = PTX_O(type, 2);                                      \
      const type* r = PTX_O(type, 3);                                      \
      PTX_EACH(type a = p[i]; type b = q[i]; type e = r[i];                \
               d[i] = expression;)                                         \
      return;                                                              \
    }                                                                      \
    WITH_MODIFIERS(                                                        \
        type, suffix, volatile type a = in_##suffix(c, PTX_O(type, 1)[i]); \
        volatile type b = in_##suffix(c, PTX_O(type, 2)[i]);               \
        volatile type e = in_##suffix(c, PTX_O(type, 3)[i]), expression)   \
  }

TWO(add, float, f32, a + b)
TWO(sub, float, f32, a - b)
TWO(mul, float, f32, a* b)
TWO(div, float, f32, a / b)
TWO(add, double, f64, a + b)
TWO(sub, double, f64, a - b)
TWO(mul, double, f64, a* b)
TWO(div, double, f64, a / b)
THREE(fma, float, f32, fmaf(a, b, e))
THREE(fma, double, f64, fma(a, b, e))
ONE(sqrt, float, f32, sqrtf(a))
ONE(sqrt, double, f64, sqrt(a))
ONE(rcp, float, f32, 1.0f / a)
ONE(rcp, double, f64, 1.0 / a)

//===--------------------------------------------------------------------===//
// Fused products on processors that have them
//===--------------------------------------------------------------------===//

#if defined(__x86_64__)
// The same loops for newer processors: the C library's function, called for
// each lane, takes most of the time of a matrix product otherwise.
#define FAST_FMA(name, type, function, otherwise)                          \
  __attribute__((target("avx2,fma"))) static void name##_vector(           \
      ptx_warp_t* w, const ptx_code_t* c) {                                \
    type* d = PTX_O(type, 0);                                              \
    const type* a = PTX_O(type, 1);                                        \
    const type* b = PTX_O(type, 2);                                        \
    const type* e = PTX_O(type, 3);                                        \
    PTX_LANES_AT_ONCE for (int i = 0; i < PTX_LANES; ++i) {                \
      d[i] = function(a[i], b[i], e[i]);                                   \
    }                                                                      \
  }                                                                        \
  OPERATION(name) {                                                        \
    if (!c->flags && !c->rounding && mask == PTX_ALL_LANES &&              \
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) { \
      name##_vector(w, c);                                                 \
    } else {                                                               \
      otherwise(w, c, mask);                                               \
    }                                                                      \
  }
FAST_FMA(fast_fma_f32, float, __builtin_fmaf, fma_f32)
FAST_FMA(fast_fma_f64, double, __builtin_fma, fma_f64)
#else
#define fast_fma_f32 fma_f32
#define fast_fma_f64 fma_f64
#endif

//===--------------------------------------------------------------------===//
// Signs, and the lesser and greater of two
//===--------------------------------------------------------------------===//

static inline float flip_f32(float a) {
  return ptx_float(ptx_bits(a) ^ 0x80000000);
}
static inline double flip_f64(double a) {
  return ptx_double(ptx_bits64(a) ^ (uint64_t)1 << 63);
}
ONE(neg, float, f32, flip_f32(a))
ONE(neg, double, f64, flip_f64(a))
ONE(abs, float, f32, fabsf(a))
ONE(abs, double, f64, fabs(a))

#define NO_NUMBER_f32 ptx_float(0x7FFFFFFF)
#define NO_NUMBER_f64 ptx_double(0x7FFFFFFFFFFFFFFFu)

// -0 is less than +0. The other one where one is no number, unless |strict|.
#define EXTREMES(type, suffix)                                        \
  static inline type least_##suffix(type a, type b, bool strict) {    \
    if (strict && (a != a || b != b)) return NO_NUMBER_##suffix;      \
    if (a != a) return b != b ? NO_NUMBER_##suffix : b;               \
    if (b != b) return a;                                             \
    if (a == b) return signbit(a) ? a : b;                            \
    return a < b ? a : b;                                             \
  }                                                                   \
  static inline type greatest_##suffix(type a, type b, bool strict) { \
    if (strict && (a != a || b != b)) return NO_NUMBER_##suffix;      \
    if (a != a) return b != b ? NO_NUMBER_##suffix : b;               \
    if (b != b) return a;                                             \
    if (a == b) return signbit(a) ? b : a;                            \
    return a > b ? a : b;                                             \
  }                                                                   \
  TWO(min, type, suffix, least_##suffix(a, b, false))                 \
  TWO(max, type, suffix, greatest_##suffix(a, b, false))
EXTREMES(float, f32)
EXTREMES(double, f64)
TWO(min_nan, float, f32, least_f32(a, b, true))
TWO(max_nan, float, f32, greatest_f32(a, b, true))
THREE(min3, float, f32, least_f32(least_f32(a, b, false), e, false))
THREE(max3, float, f32, greatest_f32(greatest_f32(a, b, false), e, false))

// The lesser magnitude with the product of the signs.
static inline float sign_product(float a, float b, float magnitude) {
  uint32_t sign = (ptx_bits(a) ^ ptx_bits(b)) & 0x80000000;
  if (magnitude != magnitude) return magnitude;
  return ptx_float((ptx_bits(magnitude) & 0x7FFFFFFF) | sign);
}
TWO(min_xor, float, f32,
    sign_product(a, b, least_f32(fabsf(a), fabsf(b), false)))
TWO(max_xor, float, f32,
    sign_product(a, b, greatest_f32(fabsf(a), fabsf(b), false)))

// The first operand gives the sign.
TWO(copysign, float, f32, copysignf(b, a))
TWO(copysign, double, f64, copysign(b, a))

//===--------------------------------------------------------------------===//
// Functions
//===--------------------------------------------------------------------===//

ONE(rsqrt, float, f32, 1.0f / sqrtf(a))
ONE(rsqrt, double, f64, 1.0 / sqrt(a))
ONE(ex2, float, f32, exp2f(a))
ONE(lg2, float, f32, log2f(a))
ONE(sin, float, f32, sinf(a))
ONE(cos, float, f32, cosf(a))
ONE(tanh, float, f32, tanhf(a))

//===--------------------------------------------------------------------===//
// Tests
//===--------------------------------------------------------------------===//

#define TESTP(name, type, expression)              \
  OPERATION(name) {                                \
    uint32_t lanes = 0;                            \
    for (int i = 0; i < PTX_LANES; ++i) {          \
      type a = PTX_O(type, 1)[i];                  \
      lanes |= (uint32_t)((expression) != 0) << i; \
    }                                              \
    uint32_t* d = PTX_O(uint32_t, 0);              \
    *d = (*d & ~mask) | (lanes & mask);            \
  }
TESTP(finite_f32, float, isfinite(a))
TESTP(infinite_f32, float, isinf(a))
TESTP(number_f32, float, a == a)
TESTP(notanumber_f32, float, a != a)
TESTP(normal_f32, float, isnormal(a))
TESTP(subnormal_f32, float, fpclassify(a) == FP_SUBNORMAL)
TESTP(finite_f64, double, isfinite(a))
TESTP(infinite_f64, double, isinf(a))
TESTP(number_f64, double, a == a)
TESTP(notanumber_f64, double, a != a)
TESTP(normal_f64, double, isnormal(a))
TESTP(subnormal_f64, double, fpclassify(a) == FP_SUBNORMAL)

//===--------------------------------------------------------------------===//
// Pairs
//===--------------------------------------------------------------------===//

// Two numbers of 32 bits in one register of 64: lane |i| has 2i and 2i + 1.
#define PAIRS(name, expression)                           \
  OPERATION(name) {                                       \
    for (uint32_t rest = mask; rest; rest &= rest - 1) {  \
      int lane = __builtin_ctz(rest);                     \
      for (int i = 2 * lane; i < 2 * lane + 2; ++i) {     \
        volatile float a = in_f32(c, PTX_O(float, 1)[i]); \
        volatile float b = in_f32(c, PTX_O(float, 2)[i]); \
        volatile float e = in_f32(c, PTX_O(float, 3)[i]); \
        (void)e;                                          \
        if (c->rounding) ptx_set_rounding(c->rounding);   \
        volatile float result = expression;               \
        if (c->rounding) ptx_set_rounding(PTX_NEAREST);   \
        PTX_O(float, 0)[i] = out_f32(c, result);          \
      }                                                   \
    }                                                     \
  }
PAIRS(add_f32x2, a + b)
PAIRS(sub_f32x2, a - b)
PAIRS(mul_f32x2, a* b)
PAIRS(fma_f32x2, fmaf(a, b, e))

//===--------------------------------------------------------------------===//

enum {
  SUMS = PTX_MAY_FTZ | PTX_MAY_SAT | PTX_MAY_ROUND,
  FUNCTIONS = PTX_MAY_FTZ | PTX_MAY_APPROX | PTX_MAY_ROUND,
};

const ptx_row_t ptx_float_rows[] = {
    {"add.f32", "www", add_f32, SUMS},
    {"sub.f32", "www", sub_f32, SUMS},
    {"mul.f32", "www", mul_f32, SUMS},
    {"fma.f32", "wwww", fast_fma_f32, SUMS},
    {"mad.f32", "wwww", fast_fma_f32, SUMS},
    {"div.f32", "www", div_f32, FUNCTIONS},
    {"add.f64", "ddd", add_f64, PTX_MAY_ROUND},
    {"sub.f64", "ddd", sub_f64, PTX_MAY_ROUND},
    {"mul.f64", "ddd", mul_f64, PTX_MAY_ROUND},
    {"fma.f64", "dddd", fast_fma_f64, PTX_MAY_ROUND},
    {"mad.f64", "dddd", fast_fma_f64, PTX_MAY_ROUND},
    {"div.f64", "ddd", div_f64, PTX_MAY_ROUND},
    {"add.f32x2", "ddd", add_f32x2, SUMS},
    {"sub.f32x2", "ddd", sub_f32x2, SUMS},
    {"mul.f32x2", "ddd", mul_f32x2, SUMS},
    {"fma.f32x2", "dddd", fma_f32x2, SUMS},
    {"neg.f32", "ww", neg_f32, PTX_MAY_FTZ},
    {"abs.f32", "ww", abs_f32, PTX_MAY_FTZ},
    {"neg.f64", "dd", neg_f64, 0},
    {"abs.f64", "dd", abs_f64, 0},
    {"min.f32", "www", min_f32, PTX_MAY_FTZ},
    {"max.f32", "www", max_f32, PTX_MAY_FTZ},
    {"min.NaN.f32", "www", min_nan_f32, PTX_MAY_FTZ},
    {"max.NaN.f32", "www", max_nan_f32, PTX_MAY_FTZ},
    {"min.xorsign.abs.f32", "www", min_xor_f32, PTX_MAY_FTZ},
    {"max.xorsign.abs.f32", "www", max_xor_f32, PTX_MAY_FTZ},
    {"min3.f32", "wwww", min3_f32, PTX_MAY_FTZ},
    {"max3.f32", "wwww", max3_f32, PTX_MAY_FTZ},
    {"min.f64", "ddd", min_f64, 0},
    {"max.f64", "ddd", max_f64, 0},
    {"copysign.f32", "www", copysign_f32, 0},
    {"copysign.f64", "ddd", copysign_f64, 0},
    {"sqrt.f32", "ww", sqrt_f32, FUNCTIONS},
    {"rcp.f32", "ww", rcp_f32, FUNCTIONS},
    {"rsqrt.f32", "ww", rsqrt_f32, FUNCTIONS},
    {"ex2.f32", "ww", ex2_f32, FUNCTIONS},
    {"lg2.f32", "ww", lg2_f32, FUNCTIONS},
    {"sin.f32", "ww", sin_f32, FUNCTIONS},
    {"cos.f32", "ww", cos_f32, FUNCTIONS},
    {"tanh.f32", "ww", tanh_f32, FUNCTIONS},
    {"sqrt.f64", "dd", sqrt_f64, PTX_MAY_ROUND},
    {"rcp.f64", "dd", rcp_f64, FUNCTIONS},
    {"rsqrt.f64", "dd", rsqrt_f64, FUNCTIONS},
    {"testp.finite.f32", "pw", finite_f32, 0},
    {"testp.infinite.f32", "pw", infinite_f32, 0},
    {"testp.number.f32", "pw", number_f32, 0},
    {"testp.notanumber.f32", "pw", notanumber_f32, 0},
    {"testp.normal.f32", "pw", normal_f32, 0},
    {"testp.subnormal.f32", "pw", subnormal_f32, 0},
    {"testp.finite.f64", "pd", finite_f64, 0},
    {"testp.infinite.f64", "pd", infinite_f64, 0},
    {"testp.number.f64", "pd", number_f64, 0},
    {"testp.notanumber.f64", "pd", notanumber_f64, 0},
    {"testp.normal.f64", "pd", normal_f64, 0},
    {"testp.subnormal.f64", "pd", subnormal_f64, 0},
    {NULL, NULL, NULL, 0},
};

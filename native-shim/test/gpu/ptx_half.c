// Arithmetic of numbers with 16 bits, and of pairs of them in one register. It
// is done with more bits and rounded once.
#include "ptx_number.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

//===--------------------------------------------------------------------===//
// One number
//===--------------------------------------------------------------------===//

typedef double (*half_op_t)(double a, double b, double e);

static double add(double a, double b, double e) {
  (void)e;
  return a + b;
}
static double sub(double a, double b, double e) {
  (void)e;
  return a - b;
}
static double mul(double a, double b, double e) {
  (void)e;
  return a * b;
}
static double fused(double a, double b, double e) { return ptx_fused(a, b, e); }
static double negated(double a, double b, double e) {
  (void)b, (void)e;
  return -a;
}
static double magnitude(double a, double b, double e) {
  (void)b, (void)e;
  return fabs(a);
}
static double exponential(double a, double b, double e) {
  (void)b, (void)e;
  return exp2(a);
}
static double tangent(double a, double b, double e) {
  (void)b, (void)e;
  return tanh(a);
}
static double least(double a, double b, double e) {
  (void)e;
  if (a == b) return signbit(a) ? a : b;
  return fmin(a, b);
}
static double greatest(double a, double b, double e) {
  (void)e;
  if (a == b) return signbit(a) ? b : a;
  return fmax(a, b);
}
static double least_strict(double a, double b, double e) {
  return a != a || b != b ? (double)NAN : least(a, b, e);
}
static double greatest_strict(double a, double b, double e) {
  return a != a || b != b ? (double)NAN : greatest(a, b, e);
}

static double finish(const ptx_code_t* c, double value) {
  if (c->flags & PTX_SAT) return value > 0 ? (value < 1 ? value : 1.0) : 0.0;
  if (c->flags & PTX_RELU) return value < 0 ? 0.0 : value;
  return value;
}

// Subnormal numbers of the format, as zeros where the instruction says so.
static uint16_t flush(const ptx_code_t* c, uint16_t bits) {
  bool small = !(bits & 0x7C00);
  return c->flags & PTX_FTZ && small ? bits & 0x8000 : bits;
}

static uint16_t half(const ptx_code_t* c, half_op_t op, uint16_t a, uint16_t b,
                     uint16_t e) {
  double result =
      op((double)ptx_from_half(flush(c, a)), (double)ptx_from_half(flush(c, b)),
         (double)ptx_from_half(flush(c, e)));
  return flush(c, ptx_to_half(finish(c, result), c->rounding));
}

static uint16_t bfloat(const ptx_code_t* c, half_op_t op, uint16_t a,
                       uint16_t b, uint16_t e) {
  double result = op((double)ptx_from_bfloat(a), (double)ptx_from_bfloat(b),
                     (double)ptx_from_bfloat(e));
  return ptx_to_bfloat(finish(c, result), c->rounding);
}

#define BOTH(name, op)                                                 \
  OPERATION(name##_f16) {                                              \
    const uint16_t *a = PTX_O(uint16_t, 1), *b = PTX_O(uint16_t, 2),   \
                   *e = PTX_O(uint16_t, 3);                            \
    PTX_EACH(PTX_O(uint16_t, 0)[i] = half(c, op, a[i], b[i], e[i]);)   \
  }                                                                    \
  OPERATION(name##_bf16) {                                             \
    const uint16_t *a = PTX_O(uint16_t, 1), *b = PTX_O(uint16_t, 2),   \
                   *e = PTX_O(uint16_t, 3);                            \
    PTX_EACH(PTX_O(uint16_t, 0)[i] = bfloat(c, op, a[i], b[i], e[i]);) \
  }                                                                    \
  OPERATION(name##_f16x2) {                                            \
    const uint16_t *a = PTX_O(uint16_t, 1), *b = PTX_O(uint16_t, 2),   \
                   *e = PTX_O(uint16_t, 3);                            \
    uint16_t* d = PTX_O(uint16_t, 0);                                  \
    PTX_EACH(for (int k = 2 * i; k < 2 * i + 2;                        \
                  ++k) { d[k] = half(c, op, a[k], b[k], e[k]); })      \
  }                                                                    \
  OPERATION(name##_bf16x2) {                                           \
    const uint16_t *a = PTX_O(uint16_t, 1), *b = PTX_O(uint16_t, 2),   \
                   *e = PTX_O(uint16_t, 3);                            \
    uint16_t* d = PTX_O(uint16_t, 0);                                  \
    PTX_EACH(for (int k = 2 * i; k < 2 * i + 2;                        \
                  ++k) { d[k] = bfloat(c, op, a[k], b[k], e[k]); })    \
  }
BOTH(add, add)
BOTH(sub, sub)
BOTH(mul, mul)
BOTH(fma, fused)
BOTH(min, least)
BOTH(max, greatest)
BOTH(min_nan, least_strict)
BOTH(max_nan, greatest_strict)
BOTH(neg, negated)
BOTH(abs, magnitude)
BOTH(ex2, exponential)
BOTH(tanh, tangent)

#define UNARY(name, flags)                           \
  {#name ".f16", "hh", name##_f16, flags},           \
      {#name ".bf16", "hh", name##_bf16, flags},     \
      {#name ".f16x2", "ww", name##_f16x2, flags}, { \
    #name ".bf16x2", "ww", name##_bf16x2, flags      \
  }
#define BINARY(key, name, flags)                    \
  {key ".f16", "hhh", name##_f16, flags},           \
      {key ".bf16", "hhh", name##_bf16, flags},     \
      {key ".f16x2", "www", name##_f16x2, flags}, { \
    key ".bf16x2", "www", name##_bf16x2, flags      \
  }

enum { SUMS = PTX_MAY_FTZ | PTX_MAY_SAT | PTX_MAY_ROUND };

const ptx_row_t ptx_half_rows[] = {
    BINARY("add", add, SUMS),
    BINARY("sub", sub, SUMS),
    BINARY("mul", mul, SUMS),
    {"fma.f16", "hhhh", fma_f16, SUMS | PTX_MAY_RELU},
    {"fma.bf16", "hhhh", fma_bf16, SUMS | PTX_MAY_RELU},
    {"fma.f16x2", "wwww", fma_f16x2, SUMS | PTX_MAY_RELU},
    {"fma.bf16x2", "wwww", fma_bf16x2, SUMS | PTX_MAY_RELU},
    BINARY("min", min, PTX_MAY_FTZ),
    BINARY("max", max, PTX_MAY_FTZ),
    BINARY("min.NaN", min_nan, PTX_MAY_FTZ),
    BINARY("max.NaN", max_nan, PTX_MAY_FTZ),
    UNARY(neg, PTX_MAY_FTZ),
    UNARY(abs, PTX_MAY_FTZ),
    UNARY(ex2, PTX_MAY_APPROX | PTX_MAY_FTZ),
    UNARY(tanh, PTX_MAY_APPROX),
    {NULL, NULL, NULL, 0},
};

//===--------------------------------------------------------------------===//
// Pairs of integers
//===--------------------------------------------------------------------===//

#define PAIRS(name, type, expression)                  \
  OPERATION(name) {                                    \
    type* d = PTX_O(type, 0);                          \
    const type* a = PTX_O(type, 1);                    \
    const type* b = PTX_O(type, 2);                    \
    PTX_EACH(for (int k = 2 * i; k < 2 * i + 2;        \
                  ++k) { d[k] = (type)(expression); }) \
  }
PAIRS(add_16x2, uint16_t, a[k] + b[k])
PAIRS(min_u16x2, uint16_t, a[k] < b[k] ? a[k] : b[k])
PAIRS(max_u16x2, uint16_t, a[k] > b[k] ? a[k] : b[k])
PAIRS(min_s16x2, int16_t, a[k] < b[k] ? a[k] : b[k])
PAIRS(max_s16x2, int16_t, a[k] > b[k] ? a[k] : b[k])

const ptx_row_t ptx_packed_rows[] = {
    {"add.u16x2", "www", add_16x2, 0},
    {"add.s16x2", "www", add_16x2, 0},
    {"min.u16x2", "www", min_u16x2, 0},
    {"max.u16x2", "www", max_u16x2, 0},
    {"min.s16x2", "www", min_s16x2, 0},
    {"max.s16x2", "www", max_s16x2, 0},
    {NULL, NULL, NULL, 0},
};

// Comparisons: setp and set, and selections.
#include <math.h>
#include <string.h>

#include "ptx_build.h"
#include "ptx_number.h"

// The lanes of which a comparison holds, all of them computed.
typedef uint32_t (*compare_t)(const void* a, const void* b, bool ftz);

#define COMPARE(name, type, get, expression)                         \
  static uint32_t name(const void* one, const void* two, bool ftz) { \
    const type* p = one;                                             \
    const type* q = two;                                             \
    uint32_t lanes = 0;                                              \
    (void)ftz;                                                       \
    for (int i = 0; i < PTX_LANES; ++i) {                            \
      get(a, p[i]);                                                  \
      get(b, q[i]);                                                  \
      lanes |= (uint32_t)(expression) << i;                          \
    }                                                                \
    return lanes;                                                    \
  }

#define AS_IS(x, value) __typeof__(value) x = value
#define AS_FLOAT(x, value) float x = ftz ? ptx_flush(value) : (value)
#define AS_DOUBLE(x, value) double x = value
#define AS_HALF(x, value) float x = ptx_from_half(value)
#define AS_BFLOAT(x, value) float x = ptx_from_bfloat(value)

#define INTEGERS(type, suffix)                                           \
  COMPARE(eq_##suffix, type, AS_IS, a == b)                              \
  COMPARE(ne_##suffix, type, AS_IS, a != b)                              \
  COMPARE(lt_##suffix, type, AS_IS, a < b)                               \
  COMPARE(le_##suffix, type, AS_IS, a <= b)                              \
  COMPARE(gt_##suffix, type, AS_IS, a > b)                               \
  COMPARE(ge_##suffix, type, AS_IS, a >= b)                              \
  static const compare_t compare_##suffix[] = {eq_##suffix, ne_##suffix, \
                                               lt_##suffix, le_##suffix, \
                                               gt_##suffix, ge_##suffix};
INTEGERS(uint16_t, u16)
INTEGERS(int16_t, s16)
INTEGERS(uint32_t, u32)
INTEGERS(int32_t, s32)
INTEGERS(uint64_t, u64)
INTEGERS(int64_t, s64)

// Comparisons of C are false, "not equal" true, where one is no number.
#define FLOATS(type, get, suffix)                                           \
  COMPARE(eq_##suffix, type, get, a == b)                                   \
  COMPARE(ne_##suffix, type, get, a<b || a> b)                              \
  COMPARE(lt_##suffix, type, get, a < b)                                    \
  COMPARE(le_##suffix, type, get, a <= b)                                   \
  COMPARE(gt_##suffix, type, get, a > b)                                    \
  COMPARE(ge_##suffix, type, get, a >= b)                                   \
  COMPARE(equ_##suffix, type, get, !(a < b || a > b))                       \
  COMPARE(neu_##suffix, type, get, a != b)                                  \
  COMPARE(ltu_##suffix, type, get, !(a >= b))                               \
  COMPARE(leu_##suffix, type, get, !(a > b))                                \
  COMPARE(gtu_##suffix, type, get, !(a <= b))                               \
  COMPARE(geu_##suffix, type, get, !(a < b))                                \
  COMPARE(num_##suffix, type, get, a == a && b == b)                        \
  COMPARE(nan_##suffix, type, get, a != a || b != b)                        \
  static const compare_t compare_##suffix[] = {                             \
      eq_##suffix,  ne_##suffix,  lt_##suffix,  le_##suffix,  gt_##suffix,  \
      ge_##suffix,  equ_##suffix, neu_##suffix, ltu_##suffix, leu_##suffix, \
      gtu_##suffix, geu_##suffix, num_##suffix, nan_##suffix};
FLOATS(float, AS_FLOAT, f32)
FLOATS(double, AS_DOUBLE, f64)
FLOATS(uint16_t, AS_HALF, f16)
FLOATS(uint16_t, AS_BFLOAT, bf16)

static const struct {
  const char* type;
  const compare_t* compare;
  int count;
} comparisons[] = {
    {"b16", compare_u16, 2},    {"u16", compare_u16, 6},
    {"s16", compare_s16, 6},    {"b32", compare_u32, 2},
    {"u32", compare_u32, 6},    {"s32", compare_s32, 6},
    {"b64", compare_u64, 2},    {"u64", compare_u64, 6},
    {"s64", compare_s64, 6},    {"f32", compare_f32, 14},
    {"f64", compare_f64, 14},   {"f16", compare_f16, 14},
    {"bf16", compare_bf16, 14}, {"f16x2", compare_f16, 14},
    {"bf16x2", compare_bf16, 14},
};

// Which comparison; its function is found again at run time, as an index.
static compare_t find(ptx_name_t* name, const ptx_type_t* type,
                      uint8_t* index) {
  int op = ptx_which(name, "eq ne lt le gt ge equ neu ltu leu gtu geu num nan");
  if (op < 0) {
    // Other names of comparisons without a sign.
    op = ptx_which(name, "lo ls hi hs");
    if (op >= 0) op += 2;
    if (type->kind != PTX_UNSIGNED) return NULL;
  }
  for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); ++i) {
    if (strcmp(comparisons[i].type, type->name) == 0 && op >= 0 &&
        op < comparisons[i].count) {
      *index = (uint8_t)op;
      return comparisons[i].compare[op];
    }
  }
  return NULL;
}

static uint32_t combine(ptx_warp_t* w, const ptx_code_t* c, uint32_t lanes) {
  uint32_t other = *PTX_O(uint32_t, 3);
  switch (c->count) {
    case 1:
      return lanes & other;
    case 2:
      return lanes | other;
    case 3:
      return lanes ^ other;
    default:
      return lanes;
  }
}

static uint32_t compare(ptx_warp_t* w, const ptx_code_t* c) {
  compare_t function;
  memcpy(&function, &c->immediate, sizeof(function));
  return function(PTX_O(void, 1), PTX_O(void, 2), c->flags & PTX_FTZ);
}

static void set_lanes(uint32_t* predicate, uint32_t lanes, uint32_t mask) {
  *predicate = (*predicate & ~mask) | (lanes & mask);
}

static void setp(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  set_lanes(PTX_O(uint32_t, 0), combine(w, c, compare(w, c)), mask);
}

// With a second result, for the opposite comparison.
static void setp_two(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  uint32_t lanes = compare(w, c);
  uint32_t first = combine(w, c, lanes), second = combine(w, c, ~lanes);
  set_lanes(PTX_O(uint32_t, 0), first, mask);
  set_lanes(PTX_O(uint32_t, 4), second, mask);
}

// Of the lower halves and, as the second result, of the upper ones.
static void setp_halves(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  compare_t function;
  memcpy(&function, &c->immediate, sizeof(function));
  uint16_t lower[2][PTX_LANES], upper[2][PTX_LANES];
  for (int i = 0; i < PTX_LANES; ++i) {
    const uint32_t a = PTX_O(uint32_t, 1)[i], b = PTX_O(uint32_t, 2)[i];
    lower[0][i] = (uint16_t)a;
    lower[1][i] = (uint16_t)b;
    upper[0][i] = (uint16_t)(a >> 16);
    upper[1][i] = (uint16_t)(b >> 16);
  }
  uint32_t first = combine(w, c, function(lower[0], lower[1], false));
  uint32_t second = combine(w, c, function(upper[0], upper[1], false));
  set_lanes(PTX_O(uint32_t, 0), first, mask);
  set_lanes(PTX_O(uint32_t, 4), second, mask);
}

static void set_integer(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  uint32_t lanes = combine(w, c, compare(w, c));
  PTX_EACH(PTX_O(uint32_t, 0)[i] = lanes >> i & 1 ? ~0u : 0;)
}

static void set_float(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  uint32_t lanes = combine(w, c, compare(w, c));
  PTX_EACH(PTX_O(float, 0)[i] = lanes >> i & 1 ? 1.0f : 0.0f;)
}

static bool decode(ptx_build_t* b, ptx_name_t* name, bool predicate) {
  const ptx_type_t* type = ptx_take_type(name);
  const ptx_type_t* result = predicate ? NULL : ptx_take_type(name);
  if (!type || (!predicate && (!result || result->width != 'w'))) {
    return ptx_unsupported(b, name);
  }
  uint8_t index = 0;
  compare_t function = find(name, type, &index);
  int combination = ptx_which(name, "and or xor") + 1;
  bool ftz = ptx_has(name, "ftz");
  bool halves = type->kind == PTX_PACKED;
  if (!function || !ptx_all_used(name) || (halves && !predicate)) {
    return ptx_unsupported(b, name);
  }
  int32_t o[PTX_OPERANDS] = {0};
  bool two = false;
  o[0] = ptx_target(b, predicate ? 'p' : 'w');
  if (o[0] != PTX_NO_OPERAND && predicate && ptx_take(b, "|")) {
    two = true;
    o[4] = ptx_target(b, 'p');
  }
  if (halves && !two) return ptx_unsupported(b, name);
  for (int i = 1; i < (combination ? 4 : 3); ++i) {
    if (o[0] == PTX_NO_OPERAND || o[4] == PTX_NO_OPERAND ||
        !ptx_expect(b, ",")) {
      return false;
    }
    o[i] = i == 3 ? ptx_predicate(b) : ptx_source(b, type->width, type);
    if (o[i] == PTX_NO_OPERAND) return false;
  }
  ptx_code_t* code = ptx_emit(
      b, predicate ? (halves ? setp_halves : two ? setp_two : setp)
                   : (result->kind == PTX_FLOAT ? set_float : set_integer));
  if (!code) return false;
  memcpy(code->o, o, sizeof(o));
  memcpy(&code->immediate, &function, sizeof(function));
  code->count = (uint8_t)combination;
  code->flags = ftz ? PTX_FTZ : 0;
  return true;
}

static bool decode_setp(ptx_build_t* b, ptx_name_t* name) {
  return decode(b, name, true);
}

static bool decode_set(ptx_build_t* b, ptx_name_t* name) {
  return decode(b, name, false);
}

const ptx_family_t ptx_compare_families[] = {
    {"setp", decode_setp}, {"set", decode_set}, {NULL, NULL}};

//===--------------------------------------------------------------------===//
// Selections
//===--------------------------------------------------------------------===//

#define SELECT(type, suffix)                                            \
  static void selp_##suffix(ptx_warp_t* w, const ptx_code_t* c,         \
                            uint32_t mask) {                            \
    type* d = PTX_O(type, 0);                                           \
    const type* a = PTX_O(type, 1);                                     \
    const type* b = PTX_O(type, 2);                                     \
    uint32_t p = *PTX_O(uint32_t, 3);                                   \
    PTX_EACH(d[i] = p >> i & 1 ? a[i] : b[i];)                          \
  }                                                                     \
  static void slct_##suffix(ptx_warp_t* w, const ptx_code_t* c,         \
                            uint32_t mask) {                            \
    type* d = PTX_O(type, 0);                                           \
    const type* a = PTX_O(type, 1);                                     \
    const type* b = PTX_O(type, 2);                                     \
    const int32_t* s = PTX_O(int32_t, 3);                               \
    PTX_EACH(d[i] = s[i] >= 0 ? a[i] : b[i];)                           \
  }                                                                     \
  static void slctf_##suffix(ptx_warp_t* w, const ptx_code_t* c,        \
                             uint32_t mask) {                           \
    type* d = PTX_O(type, 0);                                           \
    const type* a = PTX_O(type, 1);                                     \
    const type* b = PTX_O(type, 2);                                     \
    const float* s = PTX_O(float, 3);                                   \
    bool ftz = c->flags & PTX_FTZ;                                      \
    PTX_EACH(d[i] = (ftz ? ptx_flush(s[i]) : s[i]) >= 0 ? a[i] : b[i];) \
  }
SELECT(uint16_t, h)
SELECT(uint32_t, w)
SELECT(uint64_t, d)

#define SELECT_ROWS(size, width, kind)                                        \
  {"selp." kind #size, #width #width #width "p", selp_##width, 0},            \
      {"slct." kind #size ".s32", #width #width #width "w", slct_##width, 0}, \
  {                                                                           \
    "slct." kind #size ".f32", #width #width #width "w", slctf_##width,       \
        PTX_MAY_FTZ                                                           \
  }

const ptx_row_t ptx_select_rows[] = {
    SELECT_ROWS(16, h, "b"), SELECT_ROWS(16, h, "u"), SELECT_ROWS(16, h, "s"),
    SELECT_ROWS(16, h, "f"), SELECT_ROWS(32, w, "b"), SELECT_ROWS(32, w, "u"),
    SELECT_ROWS(32, w, "s"), SELECT_ROWS(32, w, "f"), SELECT_ROWS(64, d, "b"),
    SELECT_ROWS(64, d, "u"), SELECT_ROWS(64, d, "s"), SELECT_ROWS(64, d, "f"),
    {NULL, NULL, NULL, 0},
};

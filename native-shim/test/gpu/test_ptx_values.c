// One instruction at a time, on known values.
#include <math.h>

#include "test_ptx.h"

// The operands are d, a, b, c and e; the shape gives their widths.
typedef struct value_t {
  const char* shape;
  const char* text;
  uint64_t expected;
  uint64_t a, b, c, e;
} value_t;

static const char* type_of(char width) {
  return width == 'h'   ? "b16"
         : width == 'w' ? "b32"
         : width == 'd' ? "b64"
                        : "pred";
}

static void check_value(const value_t* value) {
  char text[2048];
  uint64_t memory[8] = {0xAAAAAAAAAAAAAAAAu, value->a, value->b, value->c,
                        value->e};
  int n = snprintf(text, sizeof(text),
                   KERNEL
                   ".reg .u64 %%in;\n.reg .b32 %%t;\n.reg .pred %%q;\n"
                   "ld.param.u64 %%in, [p];\n");
  for (int i = 0; value->shape[i]; ++i) {
    char width = value->shape[i], name = "dabce"[i];
    n += snprintf(text + n, sizeof(text) - (size_t)n, ".reg .%s %c;\n",
                  type_of(width), name);
    if (i > 0 && width == 'p') {
      n += snprintf(text + n, sizeof(text) - (size_t)n,
                    "ld.global.u32 %%t, [%%in+%d];\nsetp.ne.u32 %c, %%t, 0;\n",
                    8 * i, name);
    } else if (i > 0) {
      n += snprintf(text + n, sizeof(text) - (size_t)n,
                    "ld.global.%s %c, [%%in+%d];\n", type_of(width), name,
                    8 * i);
    }
  }
  n += snprintf(text + n, sizeof(text) - (size_t)n, "%s\n", value->text);
  if (value->shape[0] == 'p') {
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  "selp.u32 %%t, 1, 0, d;\nst.global.u32 [%%in], %%t;\n}\n");
  } else {
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  "st.global.%s [%%in], d;\n}\n", type_of(value->shape[0]));
  }
  CHECK((size_t)n < sizeof(text));
  char error[512];
  room_t room = {(uint8_t*)memory, sizeof(memory), false};
  int code = run_text(text, 1, 1, room, error, sizeof(error));
  uint64_t bits = value->shape[0] == 'h'   ? 0xFFFF
                  : value->shape[0] == 'd' ? ~(uint64_t)0
                                           : 0xFFFFFFFF;
  if (code != PTX_OK || (memory[0] & bits) != value->expected) {
    fprintf(stderr,
            "'%s' of 0x%llx, 0x%llx, 0x%llx, 0x%llx gave 0x%llx, expected "
            "0x%llx (%d %s)\n",
            value->text, (unsigned long long)value->a,
            (unsigned long long)value->b, (unsigned long long)value->c,
            (unsigned long long)value->e,
            (unsigned long long)(memory[0] & bits),
            (unsigned long long)value->expected, code, error);
    exit(1);
  }
}

static void check_values(const value_t* values, size_t count) {
  for (size_t i = 0; i < count; ++i) check_value(&values[i]);
}
#define CHECK_VALUES(values) \
  check_values(values, sizeof(values) / sizeof(*(values)))

#define MIN64 ((uint64_t)1 << 63)

void test_values(void) {
  static const value_t arithmetic[] = {
      {"www", "add.s32 d, a, b;", 0x80000000, 0x7FFFFFFF, 1, 0, 0},
      {"www", "add.sat.s32 d, a, b;", 0x7FFFFFFF, 0x7FFFFFFF, 1, 0, 0},
      {"www", "sub.sat.s32 d, a, b;", 0x80000000, 0x80000000, 1, 0, 0},
      {"hhh", "add.s16 d, a, b;", 0x8000, 0x7FFF, 1, 0, 0},
      {"ddd", "sub.u64 d, a, b;", ~(uint64_t)0, 0, 1, 0, 0},
      {"www", "mul.hi.u32 d, a, b;", 0xFFFFFFFE, ~0u, ~0u, 0, 0},
      {"www", "mul.hi.s32 d, a, b;", 0, ~0u, ~0u, 0, 0},
      {"ddd", "mul.hi.u64 d, a, b;", ~(uint64_t)1, ~(uint64_t)0, ~(uint64_t)0,
       0, 0},
      {"ddd", "mul.hi.s64 d, a, b;", (uint64_t)1 << 62, MIN64, MIN64, 0, 0},
      {"dww", "mul.wide.s32 d, a, b;", (uint64_t)-6, (uint32_t)-2, 3, 0, 0},
      {"dww", "mul.wide.u32 d, a, b;", 0xFFFFFFFE00000001u, ~0u, ~0u, 0, 0},
      {"whh", "mul.wide.s16 d, a, b;", 0x40000000, 0x8000, 0x8000, 0, 0},
      {"wwww", "mad.lo.s32 d, a, b, c;", 11, 2, 3, 5, 0},
      {"dwwd", "mad.wide.u32 d, a, b, c;", 0x100000004u, 0x10000, 0x10000, 4,
       0},
      {"wwww", "mad.hi.u32 d, a, b, c;", 8, 0x10000, 0x10000, 7, 0},
      {"www", "div.s32 d, a, b;", 0x80000000, 0x80000000, ~0u, 0, 0},
      {"www", "rem.s32 d, a, b;", (uint32_t)-1, (uint32_t)-7, 3, 0, 0},
      {"www", "div.u32 d, a, b;", ~0u, 7, 0, 0, 0},
      {"ddd", "rem.s64 d, a, b;", 0, MIN64, ~(uint64_t)0, 0, 0},
      {"hhh", "div.s16 d, a, b;", 0xFFFE, 0xFFF9, 3, 0, 0},
      {"www", "min.s32 d, a, b;", ~0u, ~0u, 1, 0, 0},
      {"www", "min.u32 d, a, b;", 1, ~0u, 1, 0, 0},
      {"ddd", "max.s64 d, a, b;", 1, ~(uint64_t)0, 1, 0, 0},
      {"ww", "abs.s32 d, a;", 5, (uint32_t)-5, 0, 0, 0},
      {"dd", "neg.s64 d, a;", MIN64, MIN64, 0, 0, 0},
      {"wwww", "sad.s32 d, a, b, c;", 9, (uint32_t)-3, 4, 2, 0},
      {"www", "mul24.lo.s32 d, a, b;", 1, 0xFFFFFF, 0xFFFFFF, 0, 0},
      {"wwww", "dp4a.s32.s32 d, a, b, c;", 100 - 4, 0xFFFFFFFF, 0x01010101, 100,
       0},
      {"wwww", "dp4a.u32.u32 d, a, b, c;", 1020, 0xFFFFFFFF, 0x01010101, 0, 0},
      {"wwww", "dp2a.hi.s32.s32 d, a, b, c;", 11, 0x00030001, 0x03020000, 0, 0},
      {"www", "{ .reg .b32 x; add.cc.u32 x, a, b; addc.u32 d, 0, 0; }", 1, ~0u,
       1, 0, 0},
      {"www", "{ .reg .b32 x; sub.cc.u32 x, a, b; subc.u32 d, 0, 0; }", ~0u, 0,
       1, 0, 0},
      // 0xFFFFFFFF * 0xFFFFFFFF + 0xFFFFFFFF, the upper half.
      {"www",
       "{ .reg .b32 x; mad.lo.cc.u32 x, a, b, a; "
       "madc.hi.u32 d, a, b, 0; }",
       ~0u, ~0u, ~0u, 0, 0},
      {"ww", "{ mov.b32 d, a; add.s32 d, d, d; add.s32 d, d, d; }", 12, 3, 0, 0,
       0},
  };
  static const value_t bits[] = {
      {"www", "shl.b32 d, a, b;", 0, 1, 32, 0, 0},
      {"www", "shr.s32 d, a, b;", ~0u, 0x80000000, 99, 0, 0},
      {"www", "shr.u32 d, a, b;", 0, 0x80000000, 32, 0, 0},
      {"hhw", "shr.s16 d, a, b;", 0xFFFF, 0x8000, 15, 0, 0},
      {"hhw", "shl.b16 d, a, b;", 0x8000, 1, 15, 0, 0},
      {"wwww", "shf.l.wrap.b32 d, a, b, c;", 0x23456788, 0x89ABCDEF, 0x12345678,
       36, 0},
      {"wwww", "shf.r.clamp.b32 d, a, b, c;", 0x12345678, 0x89ABCDEF,
       0x12345678, 99, 0},
      {"wwww", "lop3.b32 d, a, b, c, 0x96;", 0xF ^ 0x33 ^ 0x55, 0xF, 0x33, 0x55,
       0},
      {"wwww", "lop3.b32 d, a, b, c, 0xCA;", (0xF0 & 0x33) | (0x0F & 0x55),
       0xF0, 0x33, 0x55, 0},
      {"wwww", "prmt.b32 d, a, b, c;", 0x88004411, 0x44332211, 0x88776655,
       0x7B30, 0},
      {"wwww", "prmt.b32 d, a, b, c;", 0xFF000044, 0x44332211, 0x88776655,
       0xFBB3, 0},
      {"wwww", "bfe.u32 d, a, b, c;", 0xB, 0xABCD1234, 24, 4, 0},
      {"wwww", "bfe.s32 d, a, b, c;", 0xFFFFFFFB, 0xABCD1234, 24, 4, 0},
      {"wwww", "bfe.s32 d, a, b, c;", 0xFFFFFFFA, 0xABCD1234, 28, 8, 0},
      {"wwww", "bfe.u32 d, a, b, c;", 0, 0xABCD1234, 4, 0, 0},
      {"ddww", "bfe.u64 d, a, b, c;", 0xABCD, 0xABCD123400000000u, 48, 16, 0},
      {"wwwww", "bfi.b32 d, a, b, c, e;", 0xFFFF5AFF, 0x5A, ~0u, 8, 8},
      {"wd", "clz.b64 d, a;", 63, 1, 0, 0, 0},
      {"ww", "clz.b32 d, a;", 32, 0, 0, 0, 0},
      {"ww", "popc.b32 d, a;", 16, 0xF0F0F0F0, 0, 0, 0},
      {"ww", "brev.b32 d, a;", 0x80000000, 1, 0, 0, 0},
      {"ww", "bfind.u32 d, a;", 31, 0x80000000, 0, 0, 0},
      {"ww", "bfind.s32 d, a;", ~0u, ~0u, 0, 0, 0},
      {"ww", "bfind.shiftamt.u32 d, a;", 28, 8, 0, 0, 0},
      {"hh", "not.b16 d, a;", 0xFF00, 0x00FF, 0, 0, 0},
      {"ww", "cnot.b32 d, a;", 1, 0, 0, 0, 0},
      {"www", "bmsk.clamp.b32 d, a, b;", 0xF0, 4, 4, 0, 0},
      {"www", "szext.wrap.s32 d, a, b;", ~0u, 0xF, 4, 0, 0},
      {"whh", "mov.b32 d, {a, b};", 0x56781234, 0x1234, 0x5678, 0, 0},
      {"wd", "mov.b64 {_, d}, a;", 0x12345678, 0x123456789ABCDEF0u, 0, 0, 0},
      {"dww", "mov.b64 d, {a, b};", 0x0000000200000001u, 1, 2, 0, 0},
      {"wwwp", "selp.b32 d, a, b, c;", 5, 5, 6, 1, 0},
      {"wwwp", "selp.b32 d, a, b, !c;", 6, 5, 6, 1, 0},
      {"wwww", "slct.u32.s32 d, a, b, c;", 6, 5, 6, ~0u, 0},
      {"www",
       "{ .reg .pred x; setp.lt.s32 x, a, b; @!x mov.u32 d, 7; @x "
       "mov.u32 d, 8; }",
       8, ~0u, 1, 0, 0},
      {"pww", "setp.lt.u32 d, a, b;", 0, ~0u, 1, 0, 0},
      {"pww", "setp.hs.u32 d, a, b;", 1, ~0u, 1, 0, 0},
      {"pwwp", "setp.eq.and.s32 d, a, b, !c;", 0, 1, 1, 1, 0},
      {"pwwp", "setp.ne.or.s32 d, a, b, c;", 1, 1, 1, 1, 0},
      {"pwwp", "setp.eq.xor.s32 d, a, b, c;", 0, 1, 1, 1, 0},
      {"pww", "{ .reg .pred x; setp.eq.s32 x|d, a, b; }", 1, 1, 2, 0, 0},
      {"www", "set.gt.u32.s32 d, a, b;", ~0u, 1, ~0u, 0, 0},
      {"www", "set.gt.f32.s32 d, a, b;", 0x3F800000, 1, ~0u, 0, 0},
  };
  CHECK_VALUES(arithmetic);
  CHECK_VALUES(bits);
}

#define NAN32 0x7FFFFFFF
#define INF32 0x7F800000
#define ONE32 0x3F800000
#define TWO32 0x40000000
#define THREE32 0x40400000
#define ONE64 0x3FF0000000000000u

void test_floats(void) {
  static const value_t singles[] = {
      {"www", "add.rn.f32 d, a, b;", THREE32, ONE32, TWO32, 0, 0},
      {"www", "add.rz.f32 d, a, b;", ONE32, ONE32, 0x33FFFFFF, 0, 0},
      {"www", "add.rp.f32 d, a, b;", 0x3F800001, ONE32, 0x00800000, 0, 0},
      {"www", "add.rm.f32 d, a, b;", 0x3F7FFFFF, ONE32, 0x80800000, 0, 0},
      {"www", "mul.f32 d, a, b;", 0x00400000, 0x00800000, 0x3F000000, 0, 0},
      {"www", "mul.ftz.f32 d, a, b;", 0, 0x00800000, 0x3F000000, 0, 0},
      {"www", "add.ftz.f32 d, a, b;", 0x80000000, 0x80400000, 0x80000000, 0, 0},
      {"www", "add.sat.f32 d, a, b;", ONE32, ONE32, TWO32, 0, 0},
      {"www", "add.sat.f32 d, a, b;", 0, NAN32, TWO32, 0, 0},
      // Fused: the product is not rounded.
      {"wwww", "fma.rn.f32 d, a, b, c;", 0x28800000, 0x3F800001, 0x3F800001,
       0xBF800002, 0},
      {"wwww", "fma.rz.f32 d, a, b, c;", 0x3F800001, 0x3F800001, ONE32,
       0x33000000, 0},
      {"www", "div.rn.f32 d, a, b;", 0x3EAAAAAB, ONE32, THREE32, 0, 0},
      {"www", "div.full.f32 d, a, b;", INF32, ONE32, 0, 0, 0},
      {"ww", "sqrt.rn.f32 d, a;", 0x3FB504F3, TWO32, 0, 0, 0},
      {"ww", "sqrt.approx.f32 d, a;", TWO32, 0x40800000, 0, 0, 0},
      {"ww", "rcp.approx.ftz.f32 d, a;", 0x3F000000, TWO32, 0, 0, 0},
      {"ww", "rsqrt.approx.f32 d, a;", 0x3F000000, 0x40800000, 0, 0, 0},
      {"ww", "ex2.approx.f32 d, a;", 0x41000000, THREE32, 0, 0, 0},
      {"ww", "lg2.approx.f32 d, a;", THREE32, 0x41000000, 0, 0, 0},
      {"ww", "lg2.approx.f32 d, a;", 0xFF800000, 0, 0, 0, 0},
      {"ww", "sin.approx.f32 d, a;", 0, 0, 0, 0, 0},
      {"ww", "cos.approx.f32 d, a;", ONE32, 0, 0, 0, 0},
      {"ww", "tanh.approx.f32 d, a;", ONE32, 0x42C80000, 0, 0, 0},
      {"ww", "neg.f32 d, a;", 0x80000000, 0, 0, 0, 0},
      {"ww", "abs.f32 d, a;", ONE32, 0xBF800000, 0, 0, 0},
      {"www", "copysign.f32 d, a, b;", 0xC0000000, 0xBF800000, TWO32, 0, 0},
      {"www", "min.f32 d, a, b;", ONE32, ONE32, 0x7FC00001, 0, 0},
      {"www", "min.f32 d, a, b;", NAN32, 0x7FC00001, 0x7FC00001, 0, 0},
      {"www", "min.NaN.f32 d, a, b;", NAN32, ONE32, 0x7FC00001, 0, 0},
      {"www", "max.NaN.f32 d, a, b;", TWO32, ONE32, TWO32, 0, 0},
      {"www", "min.f32 d, a, b;", 0x80000000, 0, 0x80000000, 0, 0},
      {"www", "max.f32 d, a, b;", 0, 0, 0x80000000, 0, 0},
      {"www", "max.xorsign.abs.f32 d, a, b;", 0xC0000000, 0xBF800000, TWO32, 0,
       0},
      {"pww", "setp.lt.f32 d, a, b;", 0, ONE32, NAN32, 0, 0},
      {"pww", "setp.ltu.f32 d, a, b;", 1, ONE32, NAN32, 0, 0},
      {"pww", "setp.ne.f32 d, a, b;", 0, ONE32, NAN32, 0, 0},
      {"pww", "setp.neu.f32 d, a, b;", 1, ONE32, NAN32, 0, 0},
      {"pww", "setp.equ.f32 d, a, b;", 1, NAN32, NAN32, 0, 0},
      {"pww", "setp.num.f32 d, a, b;", 0, ONE32, NAN32, 0, 0},
      {"pww", "setp.nan.f32 d, a, b;", 1, ONE32, NAN32, 0, 0},
      {"pww", "setp.eq.ftz.f32 d, a, b;", 1, 0, 1, 0, 0},
      {"pww", "setp.gt.f32 d, a, 0f3F800000;", 1, TWO32, 0, 0, 0},
      {"pw", "testp.infinite.f32 d, a;", 1, INF32, 0, 0, 0},
      {"pw", "testp.subnormal.f32 d, a;", 1, 1, 0, 0, 0},
      {"ww", "mov.f32 d, 0f3FC00000;", 0x3FC00000, 0, 0, 0, 0},
      {"ww", "mov.f32 d, 1.5;", 0x3FC00000, 0, 0, 0, 0},
      {"ww", "add.f32 d, a, -2.5e-1;", 0x3F400000, ONE32, 0, 0, 0},
  };
  static const value_t doubles[] = {
      {"ddd", "add.rn.f64 d, a, b;", ONE64, ONE64, 0, 0, 0},
      {"ddd", "add.rp.f64 d, a, b;", ONE64 + 1, ONE64, 1, 0, 0},
      {"ddd", "div.rn.f64 d, a, b;", 0x3FD5555555555555u, ONE64,
       0x4008000000000000u, 0, 0},
      {"dddd", "fma.rn.f64 d, a, b, c;", 0x4014000000000000u,
       0x4000000000000000u, 0x4000000000000000u, ONE64, 0},
      {"dd", "sqrt.rn.f64 d, a;", 0x4000000000000000u, 0x4010000000000000u, 0,
       0, 0},
      {"ddd", "max.f64 d, a, b;", ONE64, ONE64, 0x7FF8000000000000u, 0, 0},
      {"pdd", "setp.leu.f64 d, a, b;", 1, ONE64, 0x7FF8000000000000u, 0, 0},
      {"dd", "mov.f64 d, 0d3FF0000000000000;", ONE64, 0, 0, 0, 0},
      {"dd", "mov.b64 d, 0d3FF0000000000000;", ONE64, 0, 0, 0, 0},
      {"dd", "mov.b64 d, 0dC338000000000000;", 0xC338000000000000, 0, 0, 0, 0},
      {"ww", "mov.b32 d, 0f3F800000;", 0x3F800000, 0, 0, 0, 0},
  };
  static const value_t halves[] = {
      {"hhh", "add.rn.f16 d, a, b;", 0x4200, 0x3C00, 0x4000, 0, 0},
      {"hhh", "mul.rn.f16 d, a, b;", 0x7C00, 0x7BFF, 0x4000, 0, 0},
      {"hhh", "sub.f16 d, a, b;", 0x0001, 0x0002, 0x0001, 0, 0},
      {"hhhh", "fma.rn.f16 d, a, b, c;", 0x4500, 0x4000, 0x4000, 0x3C00, 0},
      // (1 + 2^-10)^2 - 1 is 2^-9 + 2^-20, which needs 12 bits.
      {"hhhh", "fma.rn.f16 d, a, b, c;", 0x1800, 0x3C01, 0x3C01, 0xBC00, 0},
      {"hhhh", "fma.rn.relu.f16 d, a, b, c;", 0, 0x4000, 0x4000, 0xC800, 0},
      {"hhhh", "fma.rn.bf16 d, a, b, c;", 0x40A0, 0x4000, 0x4000, 0x3F80, 0},
      {"pww", "{ .reg .pred x; setp.lt.f16x2 d|x, a, b; }", 0, 0x3C004000,
       0x40003C00, 0, 0},
      {"pww", "{ .reg .pred x; setp.lt.f16x2 x|d, a, b; }", 1, 0x3C004000,
       0x40003C00, 0, 0},
      {"pww", "{ .reg .pred x; setp.nan.bf16x2 x|d, a, b; }", 1, 0x7FC03F80,
       0x3F803F80, 0, 0},
      {"www", "add.rn.f16x2 d, a, b;", 0x42004000, 0x3C003C00, 0x40003C00, 0,
       0},
      {"wwww", "fma.rn.bf16x2 d, a, b, c;", 0x40A040A0, 0x40004000, 0x40004000,
       0x3F803F80, 0},
      {"hhh", "max.f16 d, a, b;", 0x3C00, 0x3C00, 0x7E00, 0, 0},
      {"hhh", "max.NaN.f16 d, a, b;", 0x7FFF, 0x3C00, 0x7E00, 0, 0},
      {"hh", "neg.bf16 d, a;", 0xBF80, 0x3F80, 0, 0, 0},
      {"pww",
       "{ .reg .b16 x, y; mov.b32 {x, _}, a; mov.b32 {y, _}, b; "
       "setp.gt.f16 d, x, y; }",
       1, 0x4000, 0x3C00, 0, 0},
      {"hh", "tanh.approx.f16 d, a;", 0x3C00, 0x5640, 0, 0, 0},
  };
  CHECK_VALUES(singles);
  CHECK_VALUES(doubles);
  CHECK_VALUES(halves);
}

void test_conversions(void) {
  static const value_t conversions[] = {
      {"dw", "cvt.s64.s32 d, a;", ~(uint64_t)0, ~0u, 0, 0, 0},
      {"dw", "cvt.u64.u32 d, a;", 0xFFFFFFFF, ~0u, 0, 0, 0},
      {"wd", "cvt.u32.u64 d, a;", 2, 0x100000002u, 0, 0, 0},
      {"wh", "cvt.s32.s16 d, a;", 0xFFFF8000, 0x8000, 0, 0, 0},
      {"ww", "cvt.s32.s8 d, a;", 0xFFFFFF80, 0x1280, 0, 0, 0},
      {"hh", "cvt.s16.s8 d, a;", 0xFF80, 0x80, 0, 0, 0},
      {"ww", "cvt.s8.s32 d, a;", 0xFFFFFF80, 0x1280, 0, 0, 0},
      {"hw", "cvt.u16.u32 d, a;", 0x5678, 0x12345678, 0, 0, 0},
      {"ww", "cvt.sat.s8.s32 d, a;", 127, 1000, 0, 0, 0},
      {"ww", "cvt.sat.u8.s32 d, a;", 0, (uint32_t)-5, 0, 0, 0},
      {"wd", "cvt.sat.s32.s64 d, a;", 0x80000000, MIN64, 0, 0, 0},
      {"ww", "cvt.rzi.s32.f32 d, a;", (uint32_t)-2, 0xC0266666, 0, 0, 0},
      {"ww", "cvt.rni.s32.f32 d, a;", 2, 0x40200000, 0, 0, 0},
      {"ww", "cvt.rmi.s32.f32 d, a;", (uint32_t)-3, 0xC0266666, 0, 0, 0},
      {"ww", "cvt.rpi.s32.f32 d, a;", 3, 0x40266666, 0, 0, 0},
      {"ww", "cvt.rzi.s32.f32 d, a;", 0x7FFFFFFF, 0x4F800000, 0, 0, 0},
      {"ww", "cvt.rzi.u32.f32 d, a;", 0, 0xC0266666, 0, 0, 0},
      {"ww", "cvt.rzi.u32.f32 d, a;", ~0u, INF32, 0, 0, 0},
      {"ww", "cvt.rzi.s32.f32 d, a;", 0, NAN32, 0, 0, 0},
      {"dw", "cvt.rzi.s64.f32 d, a;", MIN64, NAN32, 0, 0, 0},
      {"ww", "cvt.rmi.f32.f32 d, a;", 0xC0400000, 0xC0266666, 0, 0, 0},
      {"ww", "cvt.rni.f32.f32 d, a;", TWO32, 0x40200000, 0, 0, 0},
      {"ww", "cvt.sat.f32.f32 d, a;", ONE32, TWO32, 0, 0, 0},
      {"ww", "cvt.rn.f32.s32 d, a;", 0x4B800000, 0x1000001, 0, 0, 0},
      {"ww", "cvt.rp.f32.s32 d, a;", 0x4B800001, 0x1000001, 0, 0, 0},
      {"ww", "cvt.rn.f32.u32 d, a;", 0x4F800000, ~0u, 0, 0, 0},
      {"wd", "cvt.rn.f32.s64 d, a;", 0xDF000000, MIN64, 0, 0, 0},
      {"dw", "cvt.rn.f64.s32 d, a;", 0xBFF0000000000000u, ~0u, 0, 0, 0},
      {"dw", "cvt.f64.f32 d, a;", ONE64, ONE32, 0, 0, 0},
      {"wd", "cvt.rn.f32.f64 d, a;", ONE32, ONE64 + 1, 0, 0, 0},
      {"wd", "cvt.rp.f32.f64 d, a;", ONE32 + 1, ONE64 + 1, 0, 0, 0},
      {"wh", "cvt.f32.f16 d, a;", 0x33800000, 1, 0, 0, 0},
      {"wh", "cvt.f32.f16 d, a;", 0xFF800000, 0xFC00, 0, 0, 0},
      {"hw", "cvt.rn.f16.f32 d, a;", 0x3C00, 0x3F801000, 0, 0, 0},
      {"hw", "cvt.rn.f16.f32 d, a;", 0x3C02, 0x3F803000, 0, 0, 0},
      {"hw", "cvt.rn.f16.f32 d, a;", 0x7C00, 0x477FF000, 0, 0, 0},
      {"hw", "cvt.rz.f16.f32 d, a;", 0x7BFF, 0x477FF000, 0, 0, 0},
      {"hw", "cvt.rn.f16.f32 d, a;", 1, 0x33800000, 0, 0, 0},
      {"hw", "cvt.rn.f16.f32 d, a;", 0, 0x33000000, 0, 0, 0},
      {"hw", "cvt.rn.f16.f32 d, a;", 0x7FFF, 0xFFC00000, 0, 0, 0},
      {"hw", "cvt.rn.bf16.f32 d, a;", 0x3F80, 0x3F808000, 0, 0, 0},
      {"hw", "cvt.rn.relu.bf16.f32 d, a;", 0, 0xBF800000, 0, 0, 0},
      {"hd", "cvt.rn.f16.f64 d, a;", 0x3C00, ONE64, 0, 0, 0},
      {"hw", "cvt.rn.f16.s32 d, a;", 0xC000, (uint32_t)-2, 0, 0, 0},
      {"www", "cvt.rn.f16x2.f32 d, a, b;", 0x40003C00, TWO32, ONE32, 0, 0},
      {"www", "cvt.rn.bf16x2.f32 d, a, b;", 0x40003F80, TWO32, ONE32, 0, 0},
      {"ww", "cvt.rna.tf32.f32 d, a;", 0x3F802000, 0x3F801000, 0, 0, 0},
      {"hww", "cvt.rn.satfinite.e4m3x2.f32 d, a, b;", 0x7E38, 0x47000000, ONE32,
       0, 0},
      {"hww", "cvt.rn.satfinite.e5m2x2.f32 d, a, b;", 0x7BBC, 0x49000000,
       0xBF800000, 0, 0},
      {"wh", "cvt.rn.f16x2.e4m3x2 d, a;", 0x5F001800, 0x7E01, 0, 0, 0},
      {"dd",
       "{ .reg .pred x; cvta.shared.u64 d, a; isspacep.shared x, d; "
       "cvta.to.shared.u64 d, d; @!x mov.u64 d, 0; }",
       64, 64, 0, 0, 0},
  };
  CHECK_VALUES(conversions);
}

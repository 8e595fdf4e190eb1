// Operations on bits: logic, shifts, fields, permutations.
#include "ptx_internal.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

#define ONE(name, result, type, expression) \
  OPERATION(name) {                         \
    result* d = PTX_O(result, 0);           \
    const type* a = PTX_O(type, 1);         \
    PTX_EACH(d[i] = (result)(expression);)  \
  }
#define TWO(name, type, other, expression) \
  OPERATION(name) {                        \
    type* d = PTX_O(type, 0);              \
    const type* a = PTX_O(type, 1);        \
    const other* b = PTX_O(other, 2);      \
    PTX_EACH(d[i] = (type)(expression);)   \
  }
#define THREE(name, type, one, two, expression) \
  OPERATION(name) {                             \
    type* d = PTX_O(type, 0);                   \
    const type* a = PTX_O(type, 1);             \
    const one* b = PTX_O(one, 2);               \
    const two* e = PTX_O(two, 3);               \
    PTX_EACH(d[i] = (type)(expression);)        \
  }

//===--------------------------------------------------------------------===//
// Logic and shifts
//===--------------------------------------------------------------------===//

// Shifts by more than the width give zeros, or copies of the sign.
#define LOGIC(bits, type, sign)                                                \
  TWO(and_##bits, type, type, a[i] & b[i])                                     \
  TWO(or_##bits, type, type, a[i] | b[i])                                      \
  TWO(xor_##bits, type, type, a[i] ^ b[i])                                     \
  ONE(not_##bits, type, type, ~a[i])                                           \
  ONE(cnot_##bits, type, type, a[i] == 0)                                      \
  TWO(shl_##bits, type, uint32_t, b[i] >= (bits) ? 0 : (uint64_t)a[i] << b[i]) \
  TWO(shr_u##bits, type, uint32_t, b[i] >= (bits) ? 0 : a[i] >> b[i])          \
  TWO(shr_s##bits, sign, uint32_t, a[i] >> (b[i] >= (bits) ? (bits) - 1 : b[i]))
LOGIC(16, uint16_t, int16_t)
LOGIC(32, uint32_t, int32_t)
LOGIC(64, uint64_t, int64_t)

// Predicates are whole words.
#define PREDICATES(name, expression)                           \
  OPERATION(name) {                                            \
    uint32_t a = *PTX_O(uint32_t, 1), b = *PTX_O(uint32_t, 2); \
    uint32_t* d = PTX_O(uint32_t, 0);                          \
    (void)b;                                                   \
    *d = (*d & ~mask) | ((expression) & mask);                 \
  }
PREDICATES(and_pred, a& b)
PREDICATES(or_pred, a | b)
PREDICATES(xor_pred, a ^ b)
PREDICATES(not_pred, ~a)

static inline uint32_t shift_left(uint32_t low, uint32_t high, uint32_t by) {
  return (uint32_t)((((uint64_t)high << 32 | low) << by) >> 32);
}
static inline uint32_t shift_right(uint32_t low, uint32_t high, uint32_t by) {
  return (uint32_t)(((uint64_t)high << 32 | low) >> by);
}
#define CLAMPED(x) ((x) > 32 ? 32 : (x))
THREE(shf_l_wrap, uint32_t, uint32_t, uint32_t,
      shift_left(a[i], b[i], e[i] & 31))
THREE(shf_r_wrap, uint32_t, uint32_t, uint32_t,
      shift_right(a[i], b[i], e[i] & 31))
THREE(shf_l_clamp, uint32_t, uint32_t, uint32_t,
      shift_left(a[i], b[i], CLAMPED(e[i])))
THREE(shf_r_clamp, uint32_t, uint32_t, uint32_t,
      shift_right(a[i], b[i], CLAMPED(e[i])))

// The table gives the result for each combination of the three bits.
static inline uint32_t look_up(uint32_t a, uint32_t b, uint32_t e,
                               uint32_t table) {
  uint32_t result = 0;
  if (table & 0x01) result |= ~a & ~b & ~e;
  if (table & 0x02) result |= ~a & ~b & e;
  if (table & 0x04) result |= ~a & b & ~e;
  if (table & 0x08) result |= ~a & b & e;
  if (table & 0x10) result |= a & ~b & ~e;
  if (table & 0x20) result |= a & ~b & e;
  if (table & 0x40) result |= a & b & ~e;
  if (table & 0x80) result |= a & b & e;
  return result;
}

OPERATION(lop3) {
  uint32_t* d = PTX_O(uint32_t, 0);
  const uint32_t* a = PTX_O(uint32_t, 1);
  const uint32_t* b = PTX_O(uint32_t, 2);
  const uint32_t* e = PTX_O(uint32_t, 3);
  uint32_t table = PTX_O(uint32_t, 4)[0];
  PTX_EACH(d[i] = look_up(a[i], b[i], e[i], table);)
}

//===--------------------------------------------------------------------===//
// Counting and fields
//===--------------------------------------------------------------------===//

ONE(popc_32, uint32_t, uint32_t, __builtin_popcount(a[i]))
ONE(popc_64, uint32_t, uint64_t, __builtin_popcountll(a[i]))
ONE(clz_32, uint32_t, uint32_t, a[i] ? __builtin_clz(a[i]) : 32)
ONE(clz_64, uint32_t, uint64_t, a[i] ? __builtin_clzll(a[i]) : 64)

static inline uint64_t reverse(uint64_t value, int bits) {
  uint64_t result = 0;
  for (int k = 0; k < bits; ++k) result |= (value >> k & 1) << (bits - 1 - k);
  return result;
}
ONE(brev_32, uint32_t, uint32_t, reverse(a[i], 32))
ONE(brev_64, uint64_t, uint64_t, reverse(a[i], 64))

static inline uint32_t highest(uint64_t value) {
  return value ? 63 - (uint32_t)__builtin_clzll(value) : ~0u;
}
#define BARE32(x) (uint32_t)((int32_t)(x) < 0 ? ~(x) : (x))
#define BARE64(x) (uint64_t)((int64_t)(x) < 0 ? ~(x) : (x))
// The number of shifts that brings the bit to the top; none stays none.
#define SHIFTS(found, top) ((found) == ~0u ? ~0u : (top) - (found))
ONE(bfind_u32, uint32_t, uint32_t, highest(a[i]))
ONE(bfind_s32, uint32_t, uint32_t, highest(BARE32(a[i])))
ONE(bfind_u64, uint32_t, uint64_t, highest(a[i]))
ONE(bfind_s64, uint32_t, uint64_t, highest(BARE64(a[i])))
ONE(bfind_sh_u32, uint32_t, uint32_t, SHIFTS(highest(a[i]), 31))
ONE(bfind_sh_s32, uint32_t, uint32_t, SHIFTS(highest(BARE32(a[i])), 31))
ONE(bfind_sh_u64, uint32_t, uint64_t, SHIFTS(highest(a[i]), 63))
ONE(bfind_sh_s64, uint32_t, uint64_t, SHIFTS(highest(BARE64(a[i])), 63))

// |length| bits from |position| on; beyond the top, zeros or the sign.
static inline uint64_t extract(uint64_t value, uint32_t position,
                               uint32_t length, uint32_t bits, bool sign) {
  position &= 0xFF;
  length &= 0xFF;
  if (length == 0) return 0;
  uint32_t last = position + length - 1;
  if (last > bits - 1) last = bits - 1;
  uint64_t fill = sign && (value >> last & 1) ? ~(uint64_t)0 : 0;
  uint64_t field = position < bits ? value >> position : 0;
  if (position >= bits) return fill;
  uint32_t kept = last - position + 1;
  uint64_t low = kept >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << kept) - 1;
  return (field & low) | (fill & ~low);
}
THREE(bfe_u32, uint32_t, uint32_t, uint32_t,
      extract(a[i], b[i], e[i], 32, false))
THREE(bfe_s32, uint32_t, uint32_t, uint32_t,
      extract(a[i], b[i], e[i], 32, true))
THREE(bfe_u64, uint64_t, uint32_t, uint32_t,
      extract(a[i], b[i], e[i], 64, false))
THREE(bfe_s64, uint64_t, uint32_t, uint32_t,
      extract(a[i], b[i], e[i], 64, true))

static inline uint64_t insert(uint64_t field, uint64_t value, uint32_t position,
                              uint32_t length, uint32_t bits) {
  position &= 0xFF;
  length &= 0xFF;
  if (position >= bits || length == 0) return value;
  uint64_t ones = length >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << length) - 1;
  return (value & ~(ones << position)) | (field & ones) << position;
}
#define INSERT(name, type, bits)                                             \
  OPERATION(name) {                                                          \
    type* d = PTX_O(type, 0);                                                \
    const type* a = PTX_O(type, 1);                                          \
    const type* b = PTX_O(type, 2);                                          \
    const uint32_t* position = PTX_O(uint32_t, 3);                           \
    const uint32_t* length = PTX_O(uint32_t, 4);                             \
    PTX_EACH(d[i] = (type)insert(a[i], b[i], position[i], length[i], bits);) \
  }
INSERT(bfi_32, uint32_t, 32)
INSERT(bfi_64, uint64_t, 64)

// A mask of |b| bits from |a| on; both wrap or stop at 32.
static inline uint32_t make_mask(uint32_t from, uint32_t count, bool wrap) {
  if (wrap) from &= 31, count &= 31;
  if (from >= 32 || count == 0) return 0;
  return (uint32_t)((((uint64_t)1 << CLAMPED(count)) - 1) << from);
}
TWO(bmsk_wrap, uint32_t, uint32_t, make_mask(a[i], b[i], true))
TWO(bmsk_clamp, uint32_t, uint32_t, make_mask(a[i], b[i], false))

static inline uint32_t extend(uint32_t value, uint32_t from, bool wrap,
                              bool sign) {
  if (wrap) from &= 31;
  if (from == 0) return 0;
  if (from >= 32) return value;
  uint32_t low = value & ((1u << from) - 1);
  return sign && value >> (from - 1) & 1 ? low | ~0u << from : low;
}
TWO(szext_wrap_u32, uint32_t, uint32_t, extend(a[i], b[i], true, false))
TWO(szext_wrap_s32, uint32_t, uint32_t, extend(a[i], b[i], true, true))
TWO(szext_clamp_u32, uint32_t, uint32_t, extend(a[i], b[i], false, false))
TWO(szext_clamp_s32, uint32_t, uint32_t, extend(a[i], b[i], false, true))

//===--------------------------------------------------------------------===//
// Permutations
//===--------------------------------------------------------------------===//

static inline uint32_t byte_of(uint32_t a, uint32_t b, uint32_t selector) {
  uint32_t byte =
      (uint32_t)(((uint64_t)b << 32 | a) >> (selector & 7) * 8) & 0xFF;
  return selector & 8 ? (byte & 0x80 ? 0xFF : 0) : byte;
}

// Four bytes of eight; the modes are ways to write selectors.
#define PERMUTE(name, selector)                                               \
  static inline uint32_t permute_##name(uint32_t a, uint32_t b, uint32_t s) { \
    uint32_t result = 0;                                                      \
    for (uint32_t k = 0; k < 4; ++k) {                                        \
      result |= byte_of(a, b, (selector) & 15) << k * 8;                      \
    }                                                                         \
    return result;                                                            \
  }                                                                           \
  THREE(prmt_##name, uint32_t, uint32_t, uint32_t,                            \
        permute_##name(a[i], b[i], e[i]))
PERMUTE(any, s >> k * 4)
PERMUTE(f4e, ((s & 3) + k) & 7)
PERMUTE(b4e, ((s & 3) - k) & 7)
PERMUTE(rc8, s & 3)
PERMUTE(ecl, k < (s & 3) ? (s & 3) : k)
PERMUTE(ecr, k > (s & 3) ? (s & 3) : k)
PERMUTE(rc16, (s & 1) * 2 + (k & 1))

//===--------------------------------------------------------------------===//

#define LOGIC_ROWS(bits, w)                                                   \
  {"and.b" #bits, w w w, and_##bits, 0}, {"or.b" #bits, w w w, or_##bits, 0}, \
      {"xor.b" #bits, w w w, xor_##bits, 0},                                  \
      {"not.b" #bits, w w, not_##bits, 0},                                    \
      {"cnot.b" #bits, w w, cnot_##bits, 0},                                  \
      {"shl.b" #bits, w w "w", shl_##bits, 0},                                \
      {"shr.b" #bits, w w "w", shr_u##bits, 0},                               \
      {"shr.u" #bits, w w "w", shr_u##bits, 0},                               \
      {"shr.s" #bits, w w "w", shr_s##bits, 0}

const ptx_row_t ptx_bit_rows[] = {
    LOGIC_ROWS(16, "h"),
    LOGIC_ROWS(32, "w"),
    LOGIC_ROWS(64, "d"),
    {"and.pred", "ppp", and_pred, 0},
    {"or.pred", "ppp", or_pred, 0},
    {"xor.pred", "ppp", xor_pred, 0},
    {"not.pred", "pp", not_pred, 0},
    {"shf.l.wrap.b32", "wwww", shf_l_wrap, 0},
    {"shf.r.wrap.b32", "wwww", shf_r_wrap, 0},
    {"shf.l.clamp.b32", "wwww", shf_l_clamp, 0},
    {"shf.r.clamp.b32", "wwww", shf_r_clamp, 0},
    {"lop3.b32", "wwwww", lop3, 0},
    {"popc.b32", "ww", popc_32, 0},
    {"popc.b64", "wd", popc_64, 0},
    {"clz.b32", "ww", clz_32, 0},
    {"clz.b64", "wd", clz_64, 0},
    {"brev.b32", "ww", brev_32, 0},
    {"brev.b64", "dd", brev_64, 0},
    {"bfind.u32", "ww", bfind_u32, 0},
    {"bfind.s32", "ww", bfind_s32, 0},
    {"bfind.u64", "wd", bfind_u64, 0},
    {"bfind.s64", "wd", bfind_s64, 0},
    {"bfind.shiftamt.u32", "ww", bfind_sh_u32, 0},
    {"bfind.shiftamt.s32", "ww", bfind_sh_s32, 0},
    {"bfind.shiftamt.u64", "wd", bfind_sh_u64, 0},
    {"bfind.shiftamt.s64", "wd", bfind_sh_s64, 0},
    {"bfe.u32", "wwww", bfe_u32, 0},
    {"bfe.s32", "wwww", bfe_s32, 0},
    {"bfe.u64", "ddww", bfe_u64, 0},
    {"bfe.s64", "ddww", bfe_s64, 0},
    {"bfi.b32", "wwwww", bfi_32, 0},
    {"bfi.b64", "dddww", bfi_64, 0},
    {"bmsk.wrap.b32", "www", bmsk_wrap, 0},
    {"bmsk.clamp.b32", "www", bmsk_clamp, 0},
    {"szext.wrap.u32", "www", szext_wrap_u32, 0},
    {"szext.wrap.s32", "www", szext_wrap_s32, 0},
    {"szext.clamp.u32", "www", szext_clamp_u32, 0},
    {"szext.clamp.s32", "www", szext_clamp_s32, 0},
    {"prmt.b32", "wwww", prmt_any, 0},
    {"prmt.b32.f4e", "wwww", prmt_f4e, 0},
    {"prmt.b32.b4e", "wwww", prmt_b4e, 0},
    {"prmt.b32.rc8", "wwww", prmt_rc8, 0},
    {"prmt.b32.ecl", "wwww", prmt_ecl, 0},
    {"prmt.b32.ecr", "wwww", prmt_ecr, 0},
    {"prmt.b32.rc16", "wwww", prmt_rc16, 0},
    {NULL, NULL, NULL, 0},
};

// Matrix products of warps: mma, and the loads that go with them. Fragments of
// mma are where the manual says; those of wmma, whose places are not defined,
// lie row by row.
#include "ptx_matrix.h"

#include <string.h>

#include "ptx_access.h"
#include "ptx_number.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

//===--------------------------------------------------------------------===//
// Elements of registers
//===--------------------------------------------------------------------===//

double ptx_element(ptx_warp_t* w, const int32_t* list, ptx_element_t type,
                   uint32_t index, int lane) {
  uint32_t each = ptx_per_register(type);
  const uint32_t* words = PTX_REG(uint32_t, list[index / each]);
  uint32_t word = words[lane], at = index % each;
  switch (type) {
    case PTX_E_F16:
      return (double)ptx_from_half((uint16_t)(word >> 16 * at));
    case PTX_E_BF16:
      return (double)ptx_from_bfloat((uint16_t)(word >> 16 * at));
    case PTX_E_TF32:
      return (double)ptx_float(word & 0xFFFFE000);
    case PTX_E_F32:
      return (double)ptx_float(word);
    case PTX_E_F64:
      return PTX_REG(double, list[index])[lane];
    case PTX_E_S8:
      return (int8_t)(word >> 8 * at);
    case PTX_E_U8:
      return (uint8_t)(word >> 8 * at);
    case PTX_E_S4:
      return (int8_t)(word >> 4 * at << 4 & 0xF0) >> 4;
    case PTX_E_U4:
      return word >> 4 * at & 15;
    case PTX_E_S32:
      return (int32_t)word;
    case PTX_E_E4M3:
      return (double)ptx_from_e4m3((uint8_t)(word >> 8 * at));
    case PTX_E_E5M2:
      return (double)ptx_from_e5m2((uint8_t)(word >> 8 * at));
    default:
      return 0;
  }
}

void ptx_set_element(ptx_warp_t* w, const int32_t* list, ptx_element_t type,
                     uint32_t index, int lane, double value) {
  uint32_t each = ptx_per_register(type), at = index % each;
  uint32_t* word = &PTX_REG(uint32_t, list[index / each])[lane];
  uint32_t half;
  switch (type) {
    case PTX_E_F16:
      half = ptx_to_half(value, PTX_NEAREST);
      *word = (*word & ~(0xFFFFu << 16 * at)) | half << 16 * at;
      break;
    case PTX_E_F64:
      PTX_REG(double, list[index])[lane] = value;
      break;
    case PTX_E_S32:
      *word = (uint32_t)(int64_t)value;
      break;
    default:
      *word = ptx_bits((float)value);
  }
}

uint32_t ptx_per_register(ptx_element_t type) {
  switch (type) {
    case PTX_E_F16:
    case PTX_E_BF16:
      return 2;
    case PTX_E_S8:
    case PTX_E_U8:
    case PTX_E_E4M3:
    case PTX_E_E5M2:
      return 4;
    case PTX_E_S4:
    case PTX_E_U4:
      return 8;
    default:
      return 1;
  }
}

static const char* const element_names[] = {"f16", "bf16", "tf32", "f32",
                                            "f64", "s8",   "u8",   "s4",
                                            "u4",  "s32",  "e4m3", "e5m2"};

bool ptx_take_element(ptx_name_t* name, ptx_element_t* type) {
  for (uint32_t i = 1; i < name->count; ++i) {
    for (uint32_t k = 0; k < PTX_E_COUNT; ++k) {
      if (!(name->used >> i & 1) &&
          strcmp(name->part[i], element_names[k]) == 0) {
        name->used |= 1u << i;
        *type = (ptx_element_t)k;
        return true;
      }
    }
  }
  return false;
}

//===--------------------------------------------------------------------===//
// Products
//===--------------------------------------------------------------------===//

// d = a * b + e for whole matrices. Sums of floats are kept with more bits
// than the hardware has, and rounded at the end; of integers they wrap.
void ptx_product(ptx_matrices_t* m, ptx_element_t type, bool saturate) {
  for (uint32_t r = 0; r < m->m; ++r) {
    for (uint32_t n = 0; n < m->n; ++n) {
      double sum = m->e[r][n];
      for (uint32_t k = 0; k < m->k; ++k) sum += m->a[r][k] * m->b[k][n];
      if (type == PTX_E_S32 && saturate) {
        if (sum > INT32_MAX) sum = INT32_MAX;
        if (sum < INT32_MIN) sum = INT32_MIN;
      }
      m->d[r][n] = sum;
    }
  }
}

// Where lane |lane| has element |index| of a fragment: see the figures of the
// manual. Lanes are in groups of four, one for each row of eight.
static void place_a(const ptx_matrices_t* m, uint32_t each, uint32_t lane,
                    uint32_t index, uint32_t* row, uint32_t* column) {
  uint32_t group = lane / 4, in_group = lane % 4;
  uint32_t reg = index / each, at = index % each;
  if (m->m == 8) {
    *row = group;
    *column = in_group * each + at + reg * 4 * each;
    return;
  }
  // Registers: upper rows, lower rows, then the same for columns further right.
  *row = group + (reg & 1 ? 8 : 0);
  *column = in_group * each + at + (reg >> 1) * 4 * each;
}

static void place_b(uint32_t each, uint32_t lane, uint32_t index, uint32_t* row,
                    uint32_t* column) {
  uint32_t reg = index / each, at = index % each;
  *row = lane % 4 * each + at + reg * 4 * each;
  *column = lane / 4;
}

static void place_c(uint32_t lane, uint32_t index, uint32_t* row,
                    uint32_t* column) {
  *row = lane / 4 + (index >= 2 ? 8 : 0);
  *column = lane % 4 * 2 + (index & 1);
}

// The list: shape, types, then the registers of d, a, b and c.
enum { M, N, K, TYPE_D, TYPE_A, TYPE_B, TYPE_C, D, REGISTERS };

OPERATION(mma) {
  const int32_t* list = w->block->function->list + c->list;
  ptx_matrices_t m = {
      .m = (uint32_t)list[M], .n = (uint32_t)list[N], .k = (uint32_t)list[K]};
  ptx_element_t d_type = (ptx_element_t)list[TYPE_D];
  ptx_element_t a_type = (ptx_element_t)list[TYPE_A];
  ptx_element_t b_type = (ptx_element_t)list[TYPE_B];
  ptx_element_t c_type = (ptx_element_t)list[TYPE_C];
  uint32_t of_a = m.m * m.k / PTX_LANES, of_b = m.k * m.n / PTX_LANES;
  uint32_t of_c = m.m * m.n / PTX_LANES;
  uint32_t a_each = ptx_per_register(a_type), b_each = ptx_per_register(b_type);
  const int32_t* d = list + REGISTERS;
  const int32_t* a = d + of_c / ptx_per_register(d_type);
  const int32_t* b = a + of_a / a_each;
  const int32_t* e = b + of_b / b_each;
  uint32_t row, column;
  if (mask != PTX_ALL_LANES) {
    ptx_fail(w, c, PTX_INVALID, mask);
    return;
  }
  for (uint32_t lane = 0; lane < PTX_LANES; ++lane) {
    for (uint32_t i = 0; i < of_a; ++i) {
      place_a(&m, a_each, lane, i, &row, &column);
      m.a[row][column] = ptx_element(w, a, a_type, i, (int)lane);
    }
    for (uint32_t i = 0; i < of_b; ++i) {
      place_b(b_each, lane, i, &row, &column);
      m.b[row][column] = ptx_element(w, b, b_type, i, (int)lane);
    }
    for (uint32_t i = 0; i < of_c; ++i) {
      place_c(lane, i, &row, &column);
      m.e[row][column] = ptx_element(w, e, c_type, i, (int)lane);
    }
  }
  ptx_product(&m, d_type, c->flags & PTX_SAT);
  for (uint32_t lane = 0; lane < PTX_LANES; ++lane) {
    for (uint32_t i = 0; i < of_c; ++i) {
      place_c(lane, i, &row, &column);
      ptx_set_element(w, d, d_type, i, (int)lane, m.d[row][column]);
    }
  }
}

// The shapes of mma by the types of their factors.
static bool has_shape(uint32_t m, uint32_t n, uint32_t k, ptx_element_t a,
                      ptx_element_t d) {
  if (n != 8) return false;
  switch (a) {
    case PTX_E_F16:
      return m == 16 && (k == 8 || k == 16) &&
             (d == PTX_E_F16 || d == PTX_E_F32);
    case PTX_E_BF16:
      return m == 16 && (k == 8 || k == 16) && d == PTX_E_F32;
    case PTX_E_TF32:
      return m == 16 && (k == 4 || k == 8) && d == PTX_E_F32;
    case PTX_E_F64:
      return d == PTX_E_F64 &&
             ((m == 8 && k == 4) || (m == 16 && (k == 4 || k == 8 || k == 16)));
    case PTX_E_S8:
    case PTX_E_U8:
      return d == PTX_E_S32 &&
             ((m == 8 && k == 16) || (m == 16 && (k == 16 || k == 32)));
    case PTX_E_S4:
    case PTX_E_U4:
      return d == PTX_E_S32 &&
             ((m == 8 && k == 32) || (m == 16 && (k == 32 || k == 64)));
    case PTX_E_E4M3:
    case PTX_E_E5M2:
      return m == 16 && k == 32 && d == PTX_E_F32;
    default:
      return false;
  }
}

bool ptx_take_shape(ptx_name_t* name, uint32_t* m, uint32_t* n, uint32_t* k) {
  static const struct {
    const char* name;
    uint8_t m, n, k;
  } shapes[] = {
      {"m16n8k4", 16, 8, 4},     {"m16n8k8", 16, 8, 8},
      {"m16n8k16", 16, 8, 16},   {"m16n8k32", 16, 8, 32},
      {"m16n8k64", 16, 8, 64},   {"m8n8k4", 8, 8, 4},
      {"m8n8k16", 8, 8, 16},     {"m8n8k32", 8, 8, 32},
      {"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16},
      {"m8n32k16", 8, 32, 16},   {"m16n16k8", 16, 16, 8},
  };
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); ++i) {
    if (ptx_has(name, shapes[i].name)) {
      *m = shapes[i].m;
      *n = shapes[i].n;
      *k = shapes[i].k;
      return true;
    }
  }
  return false;
}

// Registers in braces, added to the list.
bool ptx_fragment(ptx_build_t* b, ptx_element_t type, uint32_t elements,
                  bool target) {
  int32_t registers[64];
  char width = type == PTX_E_F64 ? 'd' : 'w';
  uint32_t wanted = elements / ptx_per_register(type);
  const ptx_type_t* as = type == PTX_E_F32   ? ptx_type_of("f32", 3)
                         : type == PTX_E_F64 ? ptx_type_of("f64", 3)
                                             : NULL;
  uint32_t line = b->token.line;
  uint32_t count = ptx_vector(b, &width, target, as, registers, 64);
  if (!count) return false;
  if (count != wanted) {
    return ptx_refuse(b, line, "%u registers where %u should be", count,
                      wanted);
  }
  return ptx_list(b, registers, count) >= 0;
}

static bool decode_mma(ptx_build_t* b, ptx_name_t* name) {
  ptx_element_t d, a, two, e;
  uint32_t m, n, k;
  bool known = ptx_has(name, "sync");
  ptx_has(name, "aligned");
  known = known && ptx_take_shape(name, &m, &n, &k) && ptx_has(name, "row") &&
          ptx_has(name, "col");
  ptx_which(name, "kind::f8f6f4");
  bool saturate = ptx_has(name, "satfinite");
  ptx_which(name, "rn");
  if (!known || !ptx_take_element(name, &d) || !ptx_take_element(name, &a) ||
      !ptx_take_element(name, &two) || !ptx_take_element(name, &e) ||
      !ptx_all_used(name) || !has_shape(m, n, k, a, d) ||
      !has_shape(m, n, k, two, e) || (saturate && d != PTX_E_S32)) {
    return ptx_unsupported(b, name);
  }
  const int32_t head[] = {(int32_t)m, (int32_t)n,   (int32_t)k, (int32_t)d,
                          (int32_t)a, (int32_t)two, (int32_t)e, 0};
  int32_t list = ptx_list(b, head, REGISTERS);
  if (list < 0 || !ptx_fragment(b, d, m * n / PTX_LANES, true) ||
      !ptx_expect(b, ",") || !ptx_fragment(b, a, m * k / PTX_LANES, false) ||
      !ptx_expect(b, ",") || !ptx_fragment(b, two, k * n / PTX_LANES, false) ||
      !ptx_expect(b, ",") || !ptx_fragment(b, e, m * n / PTX_LANES, false)) {
    return false;
  }
  ptx_code_t* code = ptx_emit(b, mma);
  if (!code) return false;
  return ptx_warp_wide(b, code, (uint32_t)list, saturate);
}

bool ptx_warp_wide(ptx_build_t* b, ptx_code_t* code, uint32_t list,
                   bool saturate) {
  uint32_t at = (uint32_t)(code - b->function->code);
  int32_t all = ptx_constant(b, PTX_ALL_LANES, 'w', false);
  if (all == PTX_NO_OPERAND) return false;
  code = &b->function->code[at];
  code->control = PTX_COLLECT;
  code->o[4] = all;
  code->to = 4;
  code->list = list;
  code->flags |= saturate ? PTX_SAT : 0;
  return true;
}

//===--------------------------------------------------------------------===//
// Loads of 8x8 matrices
//===--------------------------------------------------------------------===//

// Lanes 8i..8i+7 give the addresses of the rows of matrix i; lane l gets two
// neighbours of row l/4, or of column l/4 when transposed.
OPERATION(load_matrices) {
  uint8_t* at[PTX_LANES];
  const int32_t* list = w->block->function->list + c->list;
  uint32_t used = c->count == 4 ? PTX_ALL_LANES : (1u << c->count * 8) - 1;
  if (mask != PTX_ALL_LANES) {
    ptx_fail(w, c, PTX_INVALID, mask);
    return;
  }
  if (!ptx_reach_operand(w, c, used, 1, 16, false, at)) return;
  for (uint32_t k = 0; k < c->count; ++k) {
    uint32_t* d = PTX_REG(uint32_t, list[k]);
    for (uint32_t lane = 0; lane < PTX_LANES; ++lane) {
      uint32_t row = lane / 4, column = lane % 4 * 2;
      uint16_t low, high;
      if (c->from) {
        memcpy(&low, at[k * 8 + column] + row * 2, 2);
        memcpy(&high, at[k * 8 + column + 1] + row * 2, 2);
      } else {
        memcpy(&low, at[k * 8 + row] + column * 2, 2);
        memcpy(&high, at[k * 8 + row] + column * 2 + 2, 2);
      }
      d[lane] = (uint32_t)high << 16 | low;
    }
  }
}

OPERATION(store_matrices) {
  uint8_t* at[PTX_LANES];
  const int32_t* list = w->block->function->list + c->list;
  uint32_t used = c->count == 4 ? PTX_ALL_LANES : (1u << c->count * 8) - 1;
  if (mask != PTX_ALL_LANES) {
    ptx_fail(w, c, PTX_INVALID, mask);
    return;
  }
  if (!ptx_reach_operand(w, c, used, 1, 16, true, at)) return;
  for (uint32_t k = 0; k < c->count; ++k) {
    const uint32_t* s = PTX_REG(uint32_t, list[k]);
    for (uint32_t lane = 0; lane < PTX_LANES; ++lane) {
      uint32_t row = lane / 4, column = lane % 4 * 2;
      uint16_t low = (uint16_t)s[lane], high = (uint16_t)(s[lane] >> 16);
      if (c->from) {
        memcpy(at[k * 8 + column] + row * 2, &low, 2);
        memcpy(at[k * 8 + column + 1] + row * 2, &high, 2);
      } else {
        memcpy(at[k * 8 + row] + column * 2, &low, 2);
        memcpy(at[k * 8 + row] + column * 2 + 2, &high, 2);
      }
    }
  }
}

static bool decode_matrices(ptx_build_t* b, ptx_name_t* name, bool load) {
  bool known = ptx_has(name, "sync");
  ptx_has(name, "aligned");
  known = known && ptx_has(name, "m8n8") && ptx_has(name, "b16") &&
          ptx_which(name, "shared shared::cta") >= 0;
  int number = ptx_which(name, "x1 x2 x4");
  bool transposed = ptx_has(name, "trans");
  if (!known || number < 0 || !ptx_all_used(name)) {
    return ptx_unsupported(b, name);
  }
  int32_t registers[4];
  ptx_address_t address;
  char width = 'w';
  uint32_t count = 0;
  if (load) {
    count = ptx_vector(b, &width, true, NULL, registers, 4);
    if (!count || !ptx_expect(b, ",")) return false;
  }
  if (!ptx_address(b, PTX_SHARED, &address)) return false;
  if (!load) {
    if (!ptx_expect(b, ",")) return false;
    count = ptx_vector(b, &width, false, NULL, registers, 4);
  }
  if (count != 1u << number) {
    return ptx_refuse(b, name->line, "the operands do not fit the instruction");
  }
  int32_t list = ptx_list(b, registers, count);
  ptx_code_t* code = ptx_emit(b, load ? load_matrices : store_matrices);
  if (!code || list < 0) return false;
  ptx_set_address(code, 1, &address, PTX_SHARED);
  code->count = (uint8_t)count;
  code->from = transposed;
  return ptx_warp_wide(b, code, (uint32_t)list, false);
}

static bool decode_ldmatrix(ptx_build_t* b, ptx_name_t* name) {
  return decode_matrices(b, name, true);
}
static bool decode_stmatrix(ptx_build_t* b, ptx_name_t* name) {
  return decode_matrices(b, name, false);
}

const ptx_family_t ptx_matrix_families[] = {
    {"mma", decode_mma},
    {"wmma", ptx_decode_wmma},
    {"ldmatrix", decode_ldmatrix},
    {"stmatrix", decode_stmatrix},
    {NULL, NULL},
};

// wmma: matrices whose places in registers only the hardware knows. Here the
// lanes have their elements one after the other, row by row.
#include <string.h>

#include "ptx_access.h"
#include "ptx_matrix.h"
#include "ptx_number.h"

#define OPERATION(name) \
  static void name(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask)

// The list of a load or store: rows, columns, whether lines are columns, type,
// then registers.
enum { ROWS, COLUMNS, BY_COLUMNS, TYPE, REGISTERS };

static uint32_t bytes_of(ptx_element_t type) {
  switch (type) {
    case PTX_E_F16:
    case PTX_E_BF16:
      return 2;
    case PTX_E_S8:
    case PTX_E_U8:
      return 1;
    case PTX_E_F64:
      return 8;
    default:
      return 4;
  }
}

// Moves the bits of one element between a register and memory.
static void move_element(ptx_warp_t* w, const int32_t* registers,
                         ptx_element_t type, uint32_t index, uint32_t lane,
                         uint8_t* at, bool load) {
  uint32_t size = bytes_of(type), each = type == PTX_E_F64 ? 1 : 4 / size;
  uint32_t whole = each * size;
  uint8_t* in = PTX_REG(uint8_t, registers[index / each]) +
                (size_t)lane * whole + (size_t)(index % each) * size;
  memcpy(load ? in : at, load ? at : in, size);
}

static void transfer(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask,
                     bool load) {
  const int32_t* list = w->block->function->list + c->list;
  uint32_t rows = (uint32_t)list[ROWS], columns = (uint32_t)list[COLUMNS];
  bool by_columns = list[BY_COLUMNS];
  ptx_element_t type = (ptx_element_t)list[TYPE];
  uint32_t lines = by_columns ? columns : rows;
  uint32_t length = by_columns ? rows : columns;
  uint32_t size = bytes_of(type), stride = PTX_O(uint32_t, 2)[0];
  uint32_t per_lane = rows * columns / PTX_LANES;
  if (mask != PTX_ALL_LANES) {
    ptx_fail(w, c, PTX_INVALID, mask);
    return;
  }
  for (uint32_t line = 0; line < lines; ++line) {
    uint8_t* at[PTX_LANES];
    int64_t offset = c->immediate + (int64_t)line * stride * size;
    if (!ptx_reach(w, c, 1, c->o[1], c->flags & PTX_WIDE_ADDRESS, offset,
                   (ptx_space_t)c->space, length * size, size, !load, at)) {
      return;
    }
    for (uint32_t k = 0; k < length; ++k) {
      uint32_t index = by_columns ? k * columns + line : line * columns + k;
      move_element(w, list + REGISTERS, type, index % per_lane,
                   index / per_lane, at[0] + (size_t)k * size, load);
    }
  }
}

OPERATION(load) { transfer(w, c, mask, true); }
OPERATION(store) { transfer(w, c, mask, false); }

// The list of a product: shape, types, number of registers of each matrix.
enum {
  M,
  N,
  K,
  TYPE_D,
  TYPE_A,
  TYPE_B,
  TYPE_C,
  D_COUNT,
  A_COUNT,
  B_COUNT,
  PRODUCT
};

static void gather(ptx_warp_t* w, const int32_t* registers, ptx_element_t type,
                   uint32_t rows, uint32_t columns, uint32_t pitch,
                   double* out) {
  uint32_t per_lane = rows * columns / PTX_LANES;
  for (uint32_t i = 0; i < rows * columns; ++i) {
    out[i / columns * pitch + i % columns] =
        ptx_element(w, registers, type, i % per_lane, (int)(i / per_lane));
  }
}

OPERATION(multiply) {
  const int32_t* list = w->block->function->list + c->list;
  ptx_matrices_t m = {
      .m = (uint32_t)list[M], .n = (uint32_t)list[N], .k = (uint32_t)list[K]};
  const int32_t* d = list + PRODUCT;
  const int32_t* a = d + list[D_COUNT];
  const int32_t* b = a + list[A_COUNT];
  const int32_t* e = b + list[B_COUNT];
  if (mask != PTX_ALL_LANES) {
    ptx_fail(w, c, PTX_INVALID, mask);
    return;
  }
  ptx_element_t type = (ptx_element_t)list[TYPE_D];
  gather(w, a, (ptx_element_t)list[TYPE_A], m.m, m.k, 64, m.a[0]);
  gather(w, b, (ptx_element_t)list[TYPE_B], m.k, m.n, 32, m.b[0]);
  gather(w, e, (ptx_element_t)list[TYPE_C], m.m, m.n, 32, m.e[0]);
  ptx_product(&m, type, c->flags & PTX_SAT);
  uint32_t per_lane = m.m * m.n / PTX_LANES;
  for (uint32_t i = 0; i < m.m * m.n; ++i) {
    ptx_set_element(w, d, type, i % per_lane, (int)(i / per_lane),
                    m.d[i / m.n][i % m.n]);
  }
}

//===--------------------------------------------------------------------===//
// Names
//===--------------------------------------------------------------------===//

// The shapes of wmma by the types of their factors.
static bool has_shape(uint32_t m, uint32_t n, uint32_t k, ptx_element_t type) {
  bool k16 = k == 16 && m * n == 256;
  switch (type) {
    case PTX_E_F16:
    case PTX_E_BF16:
    case PTX_E_S8:
    case PTX_E_U8:
      return k16;
    case PTX_E_TF32:
      return m == 16 && n == 16 && k == 8;
    case PTX_E_F64:
      return m == 8 && n == 8 && k == 4;
    default:
      return false;
  }
}

static bool is_result(uint32_t m, uint32_t n, uint32_t k, ptx_element_t type) {
  bool k16 = k == 16 && m * n == 256;
  if (type == PTX_E_F32) return k16 || k == 8;
  if (type == PTX_E_F64) return m == 8 && n == 8 && k == 4;
  return (type == PTX_E_F16 || type == PTX_E_S32) && k16;
}

// Registers of a fragment. Of halves, the hardware has every element twice.
static uint32_t registers_of(ptx_element_t type, uint32_t elements,
                             bool factor) {
  if (factor && type == PTX_E_F16) return 8;
  return elements / PTX_LANES / ptx_per_register(type);
}

// Adds the registers of a fragment to the list; gives their number.
static uint32_t read_fragment(ptx_build_t* b, ptx_element_t type,
                              uint32_t elements, bool factor, bool target) {
  uint32_t count = registers_of(type, elements, factor);
  return ptx_fragment(b, type, count * ptx_per_register(type), target) ? count
                                                                       : 0;
}

static bool decode_transfer(ptx_build_t* b, ptx_name_t* name, bool is_load) {
  enum { A, B, ACCUMULATOR };
  int which = is_load ? ptx_which(name, "a b c")
                      : (ptx_has(name, "d") ? ACCUMULATOR : -1);
  uint32_t m, n, k;
  ptx_element_t type;
  ptx_space_t space;
  bool factor = which == A || which == B;
  bool known = which >= 0 && ptx_has(name, "sync");
  ptx_has(name, "aligned");
  ptx_take_space(name, &space);
  int layout = ptx_which(name, "row col");
  if (!known || layout < 0 || !ptx_take_shape(name, &m, &n, &k) ||
      !ptx_take_element(name, &type) || !ptx_all_used(name) ||
      !(factor ? has_shape(m, n, k, type) : is_result(m, n, k, type))) {
    return ptx_unsupported(b, name);
  }
  uint32_t rows = which == B ? k : m, columns = which == A ? k : n;
  const int32_t head[] = {(int32_t)rows, (int32_t)columns, layout,
                          (int32_t)type};
  int32_t list = ptx_list(b, head, REGISTERS);
  ptx_address_t address;
  if (list < 0) return false;
  if (is_load && (!read_fragment(b, type, rows * columns, factor, true) ||
                  !ptx_expect(b, ","))) {
    return false;
  }
  if (!ptx_address(b, space, &address)) return false;
  if (!is_load && (!ptx_expect(b, ",") ||
                   !read_fragment(b, type, rows * columns, false, false))) {
    return false;
  }
  int32_t stride = ptx_take(b, ",")
                       ? ptx_source(b, 'w', NULL)
                       : ptx_constant(b, layout ? rows : columns, 'w', false);
  ptx_code_t* code =
      stride == PTX_NO_OPERAND ? NULL : ptx_emit(b, is_load ? load : store);
  if (!code) return false;
  ptx_set_address(code, 1, &address, space);
  code->o[2] = stride;
  return ptx_warp_wide(b, code, (uint32_t)list, false);
}

static bool decode_product(ptx_build_t* b, ptx_name_t* name) {
  uint32_t m, n, k;
  ptx_element_t types[4];
  bool known = ptx_has(name, "sync");
  ptx_has(name, "aligned");
  known = known && ptx_which(name, "row col") >= 0 &&
          ptx_which(name, "row col") >= 0 && ptx_take_shape(name, &m, &n, &k);
  bool saturate = ptx_has(name, "satfinite");
  ptx_which(name, "rn");
  uint32_t count = 0;
  while (known && count < 4 && ptx_take_element(name, &types[count])) ++count;
  if (count == 2) {
    // Of halves the name has only the types of d and c.
    types[3] = types[1];
    types[1] = types[2] = PTX_E_F16;
    count = 4;
  }
  if (!known || count != 4 || !ptx_all_used(name) ||
      !has_shape(m, n, k, types[1]) || !has_shape(m, n, k, types[2]) ||
      !is_result(m, n, k, types[0]) || !is_result(m, n, k, types[3]) ||
      (saturate && types[0] != PTX_E_S32)) {
    return ptx_unsupported(b, name);
  }
  const int32_t head[] = {(int32_t)m,
                          (int32_t)n,
                          (int32_t)k,
                          (int32_t)types[0],
                          (int32_t)types[1],
                          (int32_t)types[2],
                          (int32_t)types[3],
                          (int32_t)registers_of(types[0], m * n, false),
                          (int32_t)registers_of(types[1], m * k, true),
                          (int32_t)registers_of(types[2], k * n, true)};
  int32_t list = ptx_list(b, head, PRODUCT);
  if (list < 0 || !read_fragment(b, types[0], m * n, false, true) ||
      !ptx_expect(b, ",") || !read_fragment(b, types[1], m * k, true, false) ||
      !ptx_expect(b, ",") || !read_fragment(b, types[2], k * n, true, false) ||
      !ptx_expect(b, ",") || !read_fragment(b, types[3], m * n, false, false)) {
    return false;
  }
  ptx_code_t* code = ptx_emit(b, multiply);
  return code && ptx_warp_wide(b, code, (uint32_t)list, saturate);
}

bool ptx_decode_wmma(ptx_build_t* b, ptx_name_t* name) {
  switch (ptx_which(name, "load store mma")) {
    case 0:
      return decode_transfer(b, name, true);
    case 1:
      return decode_transfer(b, name, false);
    case 2:
      return decode_product(b, name);
    default:
      return ptx_unsupported(b, name);
  }
}

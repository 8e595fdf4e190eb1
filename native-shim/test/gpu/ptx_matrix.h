// Matrices whose elements lie in the registers of a warp.
#ifndef IREE4J_TEST_PTX_MATRIX_H_
#define IREE4J_TEST_PTX_MATRIX_H_

#include "ptx_build.h"

// Types of elements, in the order of their names.
typedef enum ptx_element_t {
  PTX_E_F16,
  PTX_E_BF16,
  PTX_E_TF32,
  PTX_E_F32,
  PTX_E_F64,
  PTX_E_S8,
  PTX_E_U8,
  PTX_E_S4,
  PTX_E_U4,
  PTX_E_S32,
  PTX_E_E4M3,
  PTX_E_E5M2,
  PTX_E_COUNT,
} ptx_element_t;

// d = a * b + e. Doubles hold all products and sums of the small types.
typedef struct ptx_matrices_t {
  uint32_t m, n, k;
  double a[32][64];
  double b[64][32];
  double d[32][32];
  double e[32][32];
} ptx_matrices_t;

// Element |index| of the fragment of a lane in the registers of |list|.
double ptx_element(ptx_warp_t* w, const int32_t* list, ptx_element_t type,
                   uint32_t index, int lane);
void ptx_set_element(ptx_warp_t* w, const int32_t* list, ptx_element_t type,
                     uint32_t index, int lane, double value);
uint32_t ptx_per_register(ptx_element_t type);
void ptx_product(ptx_matrices_t* matrices, ptx_element_t type, bool saturate);

// The first type in a name; a shape in it.
bool ptx_take_element(ptx_name_t* name, ptx_element_t* type);
bool ptx_take_shape(ptx_name_t* name, uint32_t* m, uint32_t* n, uint32_t* k);
// Reads the registers of a fragment and adds them to the list.
bool ptx_fragment(ptx_build_t* b, ptx_element_t type, uint32_t elements,
                  bool target);
// Makes an instruction one that all lanes of the warp do together.
bool ptx_warp_wide(ptx_build_t* b, ptx_code_t* code, uint32_t list,
                   bool saturate);

bool ptx_decode_wmma(ptx_build_t* b, ptx_name_t* name);

#endif  // IREE4J_TEST_PTX_MATRIX_H_

// Accesses to memory: from the addresses of lanes to bytes of this process.
#ifndef IREE4J_TEST_PTX_ACCESS_H_
#define IREE4J_TEST_PTX_ACCESS_H_

#include "ptx_build.h"

// Finds the bytes that each lane of |mask| accesses, |size| of them, aligned to
// |align|. |base| is the operand that holds addresses, to which |offset| is
// added. On a wrong address it ends the launch and gives false.
bool ptx_reach(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask, int32_t base,
               bool wide, int64_t offset, ptx_space_t space, uint32_t size,
               uint32_t align, bool write, uint8_t* out[PTX_LANES]);

// The same for an instruction's address in operand |n|.
static inline bool ptx_reach_operand(ptx_warp_t* w, const ptx_code_t* c,
                                     uint32_t mask, int n, uint32_t size,
                                     bool write, uint8_t* out[PTX_LANES]) {
  return ptx_reach(w, c, mask, c->o[n], c->flags & PTX_WIDE_ADDRESS,
                   c->immediate, (ptx_space_t)c->space, size, size, write, out);
}

// Which space the name of an instruction has; false if more than one.
bool ptx_take_space(ptx_name_t* name, ptx_space_t* space);
// Takes what says how long a value is kept near, and how it is ordered.
void ptx_take_hints(ptx_name_t* name);
// Puts an address into an instruction.
void ptx_set_address(ptx_code_t* code, int n, const ptx_address_t* address,
                     ptx_space_t space);

#endif  // IREE4J_TEST_PTX_ACCESS_H_

// Where addresses lead. Global ones are asked about; shared, local and
// parameter memory have bounds of their own.
#include "ptx_access.h"

#include <string.h>

#include "ptx_module.h"

enum { SPREAD = 1 << 16 };  // of a warp's addresses that are asked for at once

static bool allowed(ptx_warp_t* w, uint64_t address, uint64_t size,
                    bool write) {
  const ptx_memory_t* memory = w->block->memory;
  const ptx_module_t* module = w->block->function->module;
  uint64_t from = address - (uint64_t)(uintptr_t)module->memory;
  if (from < module->global_bytes) return size <= module->global_bytes - from;
  from -= module->constants_at;
  if (from < module->constant_bytes) {
    return !write && size <= module->constant_bytes - from;
  }
  return address + size >= address &&
         memory->check(memory->user, address, size, write);
}

static bool reach_global(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask,
                         const uint64_t* addresses, uint32_t size, bool write) {
  uint64_t least = ~(uint64_t)0, most = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint64_t address = addresses[__builtin_ctz(rest)];
    if (address < least) least = address;
    if (address > most) most = address;
  }
  if (most - least < SPREAD && allowed(w, least, most - least + size, write)) {
    return true;
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint64_t address = addresses[__builtin_ctz(rest)];
    if (!allowed(w, address, size, write)) {
      ptx_fail(w, c, PTX_ILLEGAL_ADDRESS, address);
      return false;
    }
  }
  return true;
}

// One lane's bytes in memory that belongs to the launch.
static uint8_t* within(ptx_warp_t* w, ptx_space_t space, int lane,
                       uint64_t address, uint32_t size, bool write) {
  const ptx_block_t* block = w->block;
  uint64_t bytes = space == PTX_SHARED  ? block->shared_bytes
                   : space == PTX_LOCAL ? w->local_bytes
                                        : block->function->param_bytes;
  if (address >= bytes || size > bytes - address) return NULL;
  if (space == PTX_SHARED) return block->shared + address;
  if (space == PTX_LOCAL) {
    return w->local + (uint64_t)lane * w->local_bytes + address;
  }
  return write ? NULL : (uint8_t*)(uintptr_t)(block->params + address);
}

static ptx_space_t window_of(uint64_t* address) {
  uint64_t window = *address & PTX_WINDOW_MASK;
  if (window == 0) return PTX_GLOBAL;
  *address &= ~PTX_WINDOW_MASK;
  return window == PTX_SHARED_WINDOW  ? PTX_SHARED
         : window == PTX_LOCAL_WINDOW ? PTX_LOCAL
         : window == PTX_PARAM_WINDOW ? PTX_PARAM
                                      : PTX_GENERIC;
}

bool ptx_reach(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask, int32_t base,
               bool wide, int64_t offset, ptx_space_t space, uint32_t size,
               uint32_t align, bool write, uint8_t* out[PTX_LANES]) {
  uint64_t addresses[PTX_LANES];
  uint64_t together = 0;
  if (wide) {
    const uint64_t* values = PTX_REG(uint64_t, base);
    for (int i = 0; i < PTX_LANES; ++i) {
      addresses[i] = values[i] + (uint64_t)offset;
    }
  } else {
    const uint32_t* values = PTX_REG(uint32_t, base);
    for (int i = 0; i < PTX_LANES; ++i) {
      addresses[i] = (uint32_t)(values[i] + (uint32_t)offset);
    }
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    together |= addresses[i];
    out[i] = (uint8_t*)(uintptr_t)addresses[i];
  }
  if (together & (align - 1)) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      uint64_t address = addresses[__builtin_ctz(rest)];
      if (address & (align - 1)) {
        ptx_fail(w, c, PTX_MISALIGNED, address);
        return false;
      }
    }
  }
  if (space == PTX_GLOBAL ||
      (space == PTX_GENERIC && !(together & PTX_WINDOW_MASK))) {
    return reach_global(w, c, mask, addresses, size, write);
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint64_t address = addresses[i];
    ptx_space_t actual = space;
    // Shared addresses may have come from generic ones without a conversion.
    if (space == PTX_GENERIC) actual = window_of(&address);
    if (actual == PTX_GLOBAL) {
      if (!reach_global(w, c, 1u << i, addresses, size, write)) return false;
      continue;
    }
    out[i] = actual == PTX_GENERIC ? NULL
                                   : within(w, actual, i, address, size, write);
    if (!out[i]) {
      ptx_fail(w, c, PTX_ILLEGAL_ADDRESS, addresses[i]);
      return false;
    }
  }
  return true;
}

//===--------------------------------------------------------------------===//
// Names
//===--------------------------------------------------------------------===//

bool ptx_take_space(ptx_name_t* name, ptx_space_t* space) {
  static const ptx_space_t spaces[] = {PTX_GLOBAL, PTX_GLOBAL, PTX_SHARED,
                                       PTX_SHARED, PTX_LOCAL,  PTX_PARAM,
                                       PTX_PARAM,  PTX_PARAM};
  int which = ptx_which(name,
                        "global const shared shared::cta local param "
                        "param::entry param::func");
  *space = which < 0 ? PTX_GENERIC : spaces[which];
  return true;
}

void ptx_take_hints(ptx_name_t* name) {
  while (ptx_which(name,
                   "nc ca cg cs lu cv wb wt weak volatile relaxed acquire "
                   "release acq_rel seq_cst cta gpu sys cluster L1::evict_last "
                   "L1::evict_normal L1::evict_unchanged L1::evict_first "
                   "L1::no_allocate L2::64B L2::128B L2::256B "
                   "L2::evict_last L2::evict_normal L2::evict_first") >= 0) {
    continue;
  }
}

void ptx_set_address(ptx_code_t* code, int n, const ptx_address_t* address,
                     ptx_space_t space) {
  code->o[n] = address->base;
  code->immediate = address->offset;
  code->space =
      (uint8_t)(address->space != PTX_GENERIC ? address->space : space);
  if (address->wide) code->flags |= PTX_WIDE_ADDRESS;
}

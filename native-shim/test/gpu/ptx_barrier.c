// Barriers of blocks.
#include <string.h>

#include "ptx_run.h"

// The lanes of a warp that wait at a barrier.
static uint32_t lanes_at(const ptx_warp_t* w, uint32_t barrier) {
  uint32_t lanes = 0;
  for (uint32_t rest = w->at_barrier; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(rest);
    if (w->barrier[lane] == barrier) lanes |= 1u << lane;
  }
  return lanes;
}

static bool is_complete(const ptx_block_t* block, uint32_t barrier) {
  uint32_t waiting = 0, alive = 0, counted = block->arrived[barrier];
  uint32_t expected = block->arrivals[barrier];
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    const ptx_warp_t* w = &block->warps[i];
    uint32_t lanes = lanes_at(w, barrier);
    waiting += (uint32_t)__builtin_popcount(lanes);
    alive += (uint32_t)__builtin_popcount(w->alive);
    // Barriers count whole warps, also where a block does not fill the last.
    counted += lanes && lanes == w->alive ? PTX_LANES
                                          : (uint32_t)__builtin_popcount(lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      uint32_t count = w->expected[__builtin_ctz(rest)];
      if (count > expected) expected = count;
    }
  }
  if (!waiting) return expected && counted >= expected;
  return expected ? counted >= expected : waiting == alive;
}

// bar.red: what the predicates of all threads at the barrier give.
static void reduce(ptx_block_t* block, uint32_t barrier) {
  uint32_t set = 0, all = 0;
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    ptx_warp_t* w = &block->warps[i];
    for (uint32_t rest = lanes_at(w, barrier); rest; rest &= rest - 1) {
      int lane = __builtin_ctz(rest);
      const ptx_code_t* c = &block->function->code[w->pcs[lane] - 1];
      ++all;
      if (c->count) set += *PTX_O(uint32_t, 3) >> lane & 1;
    }
  }
  for (uint32_t i = 0; i < block->warp_count; ++i) {
    ptx_warp_t* w = &block->warps[i];
    for (uint32_t rest = lanes_at(w, barrier); rest; rest &= rest - 1) {
      int lane = __builtin_ctz(rest);
      const ptx_code_t* c = &block->function->code[w->pcs[lane] - 1];
      uint32_t* result = PTX_O(uint32_t, 0);
      bool truth = c->count == 2 ? set == all : set > 0;
      if (c->count == 1) {
        result[lane] = set;
      } else if (c->count) {
        *result = (*result & ~(1u << lane)) | (uint32_t)truth << lane;
      }
    }
  }
}

bool ptx_release_barriers(ptx_block_t* block) {
  bool released = false;
  for (uint32_t barrier = 0; barrier < PTX_BARRIERS; ++barrier) {
    if (!is_complete(block, barrier)) continue;
    reduce(block, barrier);
    for (uint32_t i = 0; i < block->warp_count; ++i) {
      ptx_warp_t* w = &block->warps[i];
      uint32_t lanes = lanes_at(w, barrier);
      w->at_barrier &= ~lanes;
      released |= lanes != 0;
    }
    block->arrived[barrier] = block->arrivals[barrier] = 0;
  }
  return released;
}

// How a warp runs. Its lanes share one place in the program while they agree;
// where they part, those that are furthest behind go first, and meet the others
// on the way. Nothing depends on that for being right: what needs several lanes
// waits until they have come.
#include "ptx_run.h"

enum { TURN = 1 << 16, CHECK = 1 << 10 };  // steps

void ptx_fail(ptx_warp_t* w, const ptx_code_t* c, int status,
              uint64_t address) {
  ptx_block_t* block = w->block;
  if (block->status != PTX_OK) return;
  block->status = status;
  block->line = c ? c->line : 0;
  block->address = address;
}

static void park(ptx_warp_t* w, uint32_t lanes, uint32_t pc) {
  for (; lanes; lanes &= lanes - 1) w->pcs[__builtin_ctz(lanes)] = pc;
}

// Takes the lanes that run next; false if all wait or are over.
static bool choose(ptx_warp_t* w) {
  uint32_t ready = w->alive & ~w->at_barrier & ~w->collecting;
  if (!ready) return false;
  uint32_t best = w->pcs[__builtin_ctz(ready)];
  for (uint32_t rest = ready; rest; rest &= rest - 1) {
    uint32_t pc = w->pcs[__builtin_ctz(rest)];
    if (w->highest ? pc > best : pc < best) best = pc;
  }
  w->active = 0;
  w->merge = UINT32_MAX;
  for (uint32_t rest = ready; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(rest), pc = w->pcs[lane];
    if (pc == best) {
      w->active |= 1u << lane;
    } else if (pc > best && pc < w->merge) {
      w->merge = pc;
    }
  }
  w->pc = best;
  w->diverged = w->active != ready;
  return true;
}

static uint32_t members_of(ptx_warp_t* w, const ptx_code_t* c, uint32_t lanes) {
  const uint32_t* members = PTX_O(uint32_t, c->to);
  uint32_t all = 0;
  for (; lanes; lanes &= lanes - 1) all |= members[__builtin_ctz(lanes)];
  return all & w->alive;
}

static uint32_t collected_at(const ptx_warp_t* w, uint32_t pc) {
  uint32_t lanes = 0;
  for (uint32_t rest = w->collecting; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(rest);
    if (w->pcs[lane] == pc) lanes |= 1u << lane;
  }
  return lanes;
}

// When no lane can run: those that wait for lanes which are over, or which wait
// at another place, go on without them, as they do on hardware.
static bool release_collected(ptx_warp_t* w) {
  for (uint32_t rest = w->collecting; rest; rest &= rest - 1) {
    uint32_t pc = w->pcs[__builtin_ctz(rest)];
    const ptx_code_t* c = &w->block->function->code[pc];
    uint32_t lanes = collected_at(w, pc);
    if (members_of(w, c, lanes) & w->at_barrier) continue;
    w->collecting &= ~lanes;
    c->run(w, c, lanes);
    park(w, lanes, pc + 1);
    return choose(w);
  }
  return false;
}

static bool choose_any(ptx_warp_t* w) {
  return choose(w) || release_collected(w);
}

static void collect(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  uint32_t joined = mask | collected_at(w, w->pc);
  if ((members_of(w, c, joined) & ~joined) == 0) {
    w->collecting &= ~joined;
    c->run(w, c, joined);
    park(w, w->active | joined, w->pc + 1);
  } else {
    w->collecting |= mask;
    park(w, mask, w->pc);
    park(w, w->active & ~mask, w->pc + 1);
  }
}

static void arrive(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  bool wait = c->control == PTX_BARRIER;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint32_t barrier = PTX_O(uint32_t, 1)[i];
    if (barrier >= PTX_BARRIERS) {
      ptx_fail(w, c, PTX_INVALID, barrier);
      return;
    }
    w->barrier[i] = (uint8_t)barrier;
    w->expected[i] = PTX_O(uint32_t, 2)[i];
    if (!wait) {
      ++w->block->arrived[barrier];
      w->block->arrivals[barrier] = w->expected[i];
    }
  }
  if (wait) w->at_barrier |= mask;
  park(w, w->active, w->pc + 1);
}

// Goes to |target| with the lanes of |mask|, and on with the others.
static bool branch(ptx_warp_t* w, uint32_t mask, uint32_t target) {
  uint32_t others = w->active & ~mask;
  if (!others && !w->diverged) {
    w->pc = target;
    return true;
  }
  park(w, mask, target);
  park(w, others, w->pc + 1);
  return choose(w);
}

static bool branch_table(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  const int32_t* targets = w->block->function->list + c->list;
  park(w, w->active, w->pc + 1);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    uint32_t index = PTX_O(uint32_t, 0)[i];
    if (index >= (uint64_t)c->immediate) {
      ptx_fail(w, c, PTX_INVALID, index);
      return false;
    }
    w->pcs[i] = (uint32_t)targets[index];
  }
  return choose(w);
}

// Whether any lanes can run on after an instruction that is not just one of
// many.
static bool control(ptx_warp_t* w, const ptx_code_t* c, uint32_t mask) {
  switch ((ptx_control_t)c->control) {
    case PTX_BRANCH:
      if (mask) return branch(w, mask, (uint32_t)c->immediate);
      break;
    case PTX_BRANCH_TABLE:
      return branch_table(w, c, mask);
    case PTX_EXIT:
      w->alive &= ~mask;
      park(w, w->active, w->pc + 1);
      return choose_any(w);
    case PTX_BARRIER:
    case PTX_ARRIVE:
      if (!mask) break;
      arrive(w, c, mask);
      return choose_any(w);
    case PTX_COLLECT:
      if (!mask) break;
      collect(w, c, mask);
      return choose_any(w);
    case PTX_NEXT:
      break;
  }
  ++w->pc;
  if (w->pc != w->merge) return true;
  park(w, w->active, w->pc);
  return choose(w);
}

static bool may_go_on(ptx_warp_t* w, uint64_t* steps, const ptx_code_t* c) {
  ptx_block_t* block = w->block;
  volatile int* stop = block->memory->stop;
  block->steps += *steps;
  *steps = 0;
  if (block->steps > block->max_steps) {
    ptx_fail(w, c, PTX_OUT_OF_STEPS, 0);
  }
  if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) {
    ptx_fail(w, c, PTX_STOPPED, 0);
  }
  return block->status == PTX_OK;
}

bool ptx_run_warp(ptx_warp_t* w) {
  ptx_block_t* block = w->block;
  const ptx_code_t* code = block->function->code;
  uint64_t steps = 0, turn = 0;
  if (!choose_any(w)) return false;
  while (block->status == PTX_OK) {
    const ptx_code_t* c = &code[w->pc];
    uint32_t mask = w->active;
    if (c->guarded) {
      uint32_t guard = *PTX_REG(uint32_t, c->guard);
      mask &= c->guarded == 1 ? guard : ~guard;
    }
    ++steps;
    if (c->control == PTX_NEXT) {
      if (mask) c->run(w, c, mask);
      ++w->pc;
      if (w->pc == w->merge) {
        park(w, w->active, w->pc);
        choose(w);
      }
      continue;
    }
    if (!control(w, c, mask)) break;
    if (steps < CHECK) continue;
    turn += steps;
    if (!may_go_on(w, &steps, c)) break;
    if (turn >= TURN) {
      // Other warps, and other lanes of this one, may have to move for these.
      park(w, w->active, w->pc);
      w->highest = w->diverged && !w->highest;
      return true;
    }
  }
  may_go_on(w, &steps, NULL);
  return false;
}

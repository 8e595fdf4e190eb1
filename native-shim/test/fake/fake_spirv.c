// Runs dispatches: interprets the shader for each invocation of each workgroup.
// The invocations of a workgroup run one after the other from barrier to
// barrier. Subgroups have one invocation.
#include <stdlib.h>
#include <string.h>

#include "fake_spirv_run.h"

enum { MAX_STEPS = 100000000, MAX_PHIS = 16 };

//===--------------------------------------------------------------------===//
// Control
//===--------------------------------------------------------------------===//

// Jumps to a block: its phis see the previous block, simultaneously.
static void branch(fake_run_t* run, fake_invocation_t* self, uint32_t label) {
  const uint32_t* at = run->module.ids[label].at;
  if (!at) {
    fake_fail(run, "a branch to", label);
    return;
  }
  self->previous = self->block;
  self->block = label;
  at += fake_length_of(at);
  fake_value_t incoming[MAX_PHIS];
  const uint32_t* phis = at;
  uint32_t count = 0;
  for (; fake_op_of(at) == 245 && count < MAX_PHIS; at += fake_length_of(at)) {
    incoming[count] = (fake_value_t){0};
    for (uint32_t i = 3; i + 1 < fake_length_of(at); i += 2) {
      if (at[i + 1] == self->previous) {
        incoming[count] = fake_get(run, self, at[i]);
      }
    }
    ++count;
  }
  for (uint32_t i = 0; i < count; ++i, phis += fake_length_of(phis)) {
    self->values[phis[2]] = incoming[i];
  }
  self->pc = at;
}

static void enter(fake_invocation_t* self, const uint32_t* function) {
  const uint32_t* at = function + fake_length_of(function);
  while (fake_op_of(at) == 55) at += fake_length_of(at);
  self->block = at[1];
  self->pc = at + fake_length_of(at);
}

static void call(fake_run_t* run, fake_invocation_t* self, const uint32_t* at) {
  const uint32_t* function = run->module.ids[at[3]].at;
  if (self->depth == FAKE_MAX_CALLS || !function) {
    fake_fail(run, "a call of", at[3]);
    return;
  }
  self->frames[self->depth++] =
      (fake_frame_t){at + fake_length_of(at), at[2], self->block};
  const uint32_t* parameter = function + fake_length_of(function);
  for (uint32_t i = 4; i < fake_length_of(at); ++i) {
    self->values[parameter[2]] = fake_get(run, self, at[i]);
    parameter += fake_length_of(parameter);
  }
  enter(self, function);
}

static void leave(fake_invocation_t* self, const fake_value_t* result) {
  if (self->depth == 0) {
    self->over = true;
    return;
  }
  fake_frame_t* frame = &self->frames[--self->depth];
  if (result) self->values[frame->result] = *result;
  self->block = frame->block;
  self->pc = frame->next;
}

static void choose(fake_run_t* run, fake_invocation_t* self,
                   const uint32_t* at) {
  uint32_t selector = (uint32_t)fake_get(run, self, at[1]).c[0];
  uint32_t label = at[2];
  for (uint32_t i = 3; i + 1 < fake_length_of(at); i += 2) {
    if (at[i] == selector) label = at[i + 1];
  }
  branch(run, self, label);
}

// Instructions that do not continue with the next one.
static bool control(fake_run_t* run, fake_invocation_t* self,
                    const uint32_t* at) {
  fake_value_t value;
  switch (fake_op_of(at)) {
    case 57:
      call(run, self, at);
      return true;
    case 249:
      branch(run, self, at[1]);
      return true;
    case 250:
      branch(run, self, fake_get(run, self, at[1]).c[0] ? at[2] : at[3]);
      return true;
    case 251:
      choose(run, self, at);
      return true;
    case 253:
    case 252:
    case 255:
      leave(self, NULL);
      return true;
    case 254:
      value = fake_get(run, self, at[1]);
      leave(self, &value);
      return true;
    case 224:
      self->waiting = true;
      self->pc = at + fake_length_of(at);
      return true;
    default:
      return false;
  }
}

//===--------------------------------------------------------------------===//
// Instructions
//===--------------------------------------------------------------------===//

static void compute(fake_run_t* run, fake_invocation_t* self,
                    const uint32_t* at) {
  fake_value_t operands[3] = {{{0}}};
  uint32_t count = 0;
  for (uint32_t i = 3; i < fake_length_of(at) && count < 3; ++i) {
    operands[count++] = fake_get(run, self, at[i]);
  }
  if (!fake_compute(&run->module, fake_op_of(at), at[1],
                    fake_type_of(run, at[3]), operands, count,
                    &self->values[at[2]])) {
    fake_fail(run, "operation", fake_op_of(at));
  }
}

static void step(fake_run_t* run, fake_invocation_t* self, const uint32_t* at) {
  fake_value_t* out = &self->values[fake_length_of(at) > 2 ? at[2] : 0];
  fake_value_t operands[3] = {{{0}}};
  uint32_t op = fake_op_of(at);
  if (op >= 227 && op <= 242) {
    fake_value_t old = fake_atomic(run, self, at);
    if (op != 228) *out = old;
    return;
  }
  if (op >= 333 && op <= 366) {  // subgroups of one
    *out = op == 333   ? (fake_value_t){{1}}
           : op >= 349 ? fake_get(run, self, at[5])
                       : fake_get(run, self, at[4]);
    return;
  }
  switch (op) {
    case 12:
      for (uint32_t i = 5; i < fake_length_of(at) && i < 8; ++i) {
        operands[i - 5] = fake_get(run, self, at[i]);
      }
      if (!fake_compute_extended(&run->module, at[4], at[1], operands, out)) {
        fake_fail(run, "function of GLSL", at[4]);
      }
      break;
    case 59:
      if (fake_length_of(at) > 4) {
        fake_store(run, fake_variable(run, self, at[2]),
                   fake_pointee(run, at[1]), fake_get(run, self, at[4]));
      }
      break;
    case 61:
      *out = fake_load(run, fake_get(run, self, at[3]), at[1]);
      break;
    case 62:
      fake_store(run, fake_get(run, self, at[1]),
                 fake_pointee(run, fake_type_of(run, at[1])),
                 fake_get(run, self, at[2]));
      break;
    case 65:
    case 66:
      *out = fake_access_chain(run, self, at);
      break;
    case 68:
      *out = (fake_value_t){{fake_array_length(run, self, at)}};
      break;
    case 79: {  // shuffle
      fake_value_t one = fake_get(run, self, at[3]);
      fake_value_t two = fake_get(run, self, at[4]);
      uint32_t width = fake_components(&run->module, fake_type_of(run, at[3]));
      for (uint32_t i = 5; i < fake_length_of(at) && i < 9; ++i) {
        out->c[i - 5] =
            at[i] < width ? one.c[at[i] & 3] : two.c[(at[i] - width) & 3];
      }
      break;
    }
    case 80: {  // construct
      uint32_t filled = 0;
      fake_value_t built = {0};
      for (uint32_t i = 3; i < fake_length_of(at); ++i) {
        fake_value_t part = fake_get(run, self, at[i]);
        uint32_t count =
            fake_components(&run->module, fake_type_of(run, at[i]));
        for (uint32_t c = 0; c < count && filled < 4; ++c) {
          built.c[filled++] = part.c[c];
        }
      }
      *out = built;
      break;
    }
    case 81:
      *out = (fake_value_t){{fake_get(run, self, at[3]).c[at[4] & 3]}};
      break;
    case 82: {
      fake_value_t changed = fake_get(run, self, at[4]);
      changed.c[at[5] & 3] = fake_get(run, self, at[3]).c[0];
      *out = changed;
      break;
    }
    case 1:    // undefined
    case 8:    // line
    case 317:  // no line
    case 225:  // memory barrier
    case 246:  // merges
    case 247:
    case 248:  // label
      break;
    default:
      if (fake_length_of(at) > 3) {
        compute(run, self, at);
      } else {
        fake_fail(run, "operation", op);
      }
  }
}

// Runs on to the next barrier or the end.
static void resume(fake_run_t* run, fake_invocation_t* self) {
  self->waiting = false;
  while (!self->waiting && !self->over && !run->failed) {
    if (++run->steps > MAX_STEPS) fake_fail(run, "more steps than", MAX_STEPS);
    const uint32_t* at = self->pc;
    if (!control(run, self, at)) {
      step(run, self, at);
      self->pc = at + fake_length_of(at);
    }
  }
}

//===--------------------------------------------------------------------===//
// Workgroups
//===--------------------------------------------------------------------===//

static void set_inputs(fake_run_t* run, fake_invocation_t* self, uint32_t index,
                       const uint32_t* group, const uint32_t* groups) {
  const uint32_t* size = run->module.size;
  const uint32_t local[3] = {index % size[0], index / size[0] % size[1],
                             index / size[0] / size[1]};
  for (int d = 0; d < 3; ++d) {
    self->inputs[24][d] = groups[d];
    self->inputs[25][d] = size[d];
    self->inputs[26][d] = group[d];
    self->inputs[27][d] = local[d];
    self->inputs[28][d] = group[d] * size[d] + local[d];
  }
  self->inputs[29][0] = index;
  self->inputs[36][0] = 1;
  self->inputs[38][0] = size[0] * size[1] * size[2];
  self->inputs[40][0] = index;
}

static void run_group(fake_run_t* run, fake_invocation_t* all, uint32_t count,
                      const uint32_t* group, const uint32_t* groups) {
  memset(run->shared, 0, run->shared_size);
  for (uint32_t i = 0; i < count; ++i) {
    set_inputs(run, &all[i], i, group, groups);
    all[i].depth = 0;
    all[i].over = false;
    enter(&all[i], run->module.main);
  }
  for (bool going = true; going && !run->failed;) {
    going = false;
    for (uint32_t i = 0; i < count; ++i) {
      if (!all[i].over) resume(run, &all[i]);
      going |= !all[i].over;
    }
  }
}

// Assigns offsets to variables and numbers the results of functions.
static void place(fake_run_t* run) {
  const fake_module_t* module = &run->module;
  for (size_t i = 5; i < module->count;) {
    const uint32_t* at = module->words + i;
    uint32_t op = fake_op_of(at);
    if (op == 59 && (at[3] == 4 || at[3] == 6 || at[3] == 7)) {
      uint64_t* size = at[3] == 4 ? &run->shared_size : &run->local_size;
      run->offsets[at[2]] = (uint32_t)*size;
      *size += (fake_size_of(module, fake_pointee(run, at[1])) + 15) / 16 * 16;
    } else if (op == 248) {
      module->ids[at[1]].at = at;
    } else if (fake_length_of(at) > 2 && op > 56 && op != 59 && op != 62 &&
               op != 71 && op != 72 && op != 224 && op != 225 &&
               op != 228 && op < 246) {
      if (at[2] < module->bound) module->ids[at[2]].type = at[1];
    } else if (op >= 333 || op == 12) {
      if (at[2] < module->bound) module->ids[at[2]].type = at[1];
    }
    i += fake_length_of(at);
  }
}

void fake_dispatch(const fake_op_t* op, const uint32_t groups[3]) {
  fake_run_t run = {.op = op};
  memcpy(run.push, op->push, sizeof(run.push));
  if (!op->pipeline || !fake_module_read(&run.module, op->pipeline)) {
    fake_module_free(&run.module);
    return;
  }
  run.offsets = calloc(run.module.bound + 1, sizeof(*run.offsets));
  place(&run);
  run.shared = calloc(1, run.shared_size + 16);
  const uint32_t* size = run.module.size;
  uint32_t count = size[0] * size[1] * size[2];
  if (count > 1024) fake_fail(&run, "workgroups of", count);
  fake_invocation_t* all = calloc(count + 1, sizeof(*all));
  for (uint32_t i = 0; i < count && !run.failed; ++i) {
    all[i].values = calloc(run.module.bound + 1, sizeof(fake_value_t));
    all[i].locals = calloc(1, run.local_size + 16);
  }
  uint32_t group[3];
  for (group[2] = 0; group[2] < groups[2]; ++group[2]) {
    for (group[1] = 0; group[1] < groups[1]; ++group[1]) {
      for (group[0] = 0; group[0] < groups[0] && !run.failed; ++group[0]) {
        run_group(&run, all, count, group, groups);
      }
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    free(all[i].values);
    free(all[i].locals);
  }
  free(all);
  free(run.shared);
  free(run.offsets);
  fake_module_free(&run.module);
}

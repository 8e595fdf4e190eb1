// Runs dispatches: interprets the shader for each invocation of each workgroup.
// The invocations of a workgroup run one after the other from barrier to
// barrier. Subgroups have one invocation.
#include <stdlib.h>
#include <string.h>

#include "fake_spirv.h"

enum { MAX_STEPS = 100000000, MAX_PHIS = 16 };

typedef struct frame_t {
  const uint32_t* next;
  uint32_t result;
  uint32_t block;
} frame_t;

typedef struct invocation_t {
  fake_value_t* values;
  uint8_t* locals;
  const uint32_t* pc;
  uint32_t block, previous;
  frame_t frames[FAKE_MAX_CALLS];
  uint32_t depth;
  bool waiting, over;
  uint32_t inputs[48][4];  // by builtin
} invocation_t;

typedef struct run_t {
  fake_module_t module;
  const fake_op_t* op;
  uint32_t* offsets;  // of variables in the memory of an invocation or workgroup
  uint64_t local_size, shared_size;
  uint8_t* shared;
  uint8_t push[FAKE_PUSH_BYTES];
  uint64_t steps;
  bool failed;
} run_t;

static pthread_mutex_t atomics = PTHREAD_MUTEX_INITIALIZER;

static void fail(run_t* run, const char* what, uint32_t number) {
  if (!run->failed) fake_complain("the fake cannot run %s %u", what, number);
  run->failed = true;
}

//===--------------------------------------------------------------------===//
// Values and memory
//===--------------------------------------------------------------------===//

// The memory of descriptor |element| of a variable.
static fake_value_t descriptor(run_t* run, const fake_id_t* variable,
                               uint64_t element) {
  const fake_set_t* set =
      variable->set >= 0 && variable->set < FAKE_MAX_SETS
          ? run->op->sets[variable->set]
          : NULL;
  for (uint32_t i = 0; set && i < set->count; ++i) {
    const fake_descriptor_t* d = &set->descriptors[i];
    if (d->binding == (uint32_t)variable->binding && d->element == element) {
      uint64_t address = (uintptr_t)d->buffer->memory->bytes + d->offset;
      return (fake_value_t){{address, address + d->range}};
    }
  }
  fail(run, "a dispatch without binding", (uint32_t)variable->binding);
  return (fake_value_t){0};
}

static fake_value_t variable(run_t* run, invocation_t* self, uint32_t id) {
  const fake_id_t* of = &run->module.ids[id];
  switch (of->at[3]) {
    case 1:  // input
      return (fake_value_t){
          {(uintptr_t)self->inputs[of->builtin >= 0 && of->builtin < 48
                                       ? of->builtin
                                       : 0]}};
    case 2:   // uniform
    case 12:  // storage buffer
      return descriptor(run, of, 0);
    case 4:  // workgroup
      return (fake_value_t){{(uintptr_t)(run->shared + run->offsets[id])}};
    case 9:  // push constant
      return (fake_value_t){{(uintptr_t)run->push,
                             (uintptr_t)run->push + FAKE_PUSH_BYTES}};
    default:  // function, private
      return (fake_value_t){{(uintptr_t)(self->locals + run->offsets[id])}};
  }
}

static fake_value_t get(run_t* run, invocation_t* self, uint32_t id) {
  if (id >= run->module.bound || !run->module.ids[id].at) {
    return id < run->module.bound ? self->values[id] : (fake_value_t){0};
  }
  uint32_t op = fake_op_of(run->module.ids[id].at);
  if (op >= 41 && op <= 52) return run->module.constants[id];
  if (op == 59) return variable(run, self, id);
  return self->values[id];
}

static bool inside(run_t* run, fake_value_t pointer, uint64_t size) {
  if (!pointer.c[0]) {
    fail(run, "an access to address", 0);
    return false;
  }
  // As if with robust access: outside there is nothing.
  return !pointer.c[1] || pointer.c[0] + size <= pointer.c[1];
}

static fake_value_t load(run_t* run, fake_value_t pointer, uint32_t type) {
  fake_value_t value = {0};
  uint32_t op = fake_op_of(fake_type(&run->module, type));
  if (op >= 28 && op <= 30) {
    fail(run, "a load of a composite, type", type);
    return value;
  }
  uint32_t bytes = fake_width(&run->module, type) / 8;
  uint32_t count = fake_components(&run->module, type);
  if (!inside(run, pointer, (uint64_t)bytes * count)) return value;
  for (uint32_t i = 0; i < count && i < 4; ++i) {
    memcpy(&value.c[i], (const uint8_t*)(uintptr_t)pointer.c[0] + i * bytes,
           bytes);
  }
  return value;
}

static void store(run_t* run, fake_value_t pointer, uint32_t type,
                  fake_value_t value) {
  uint32_t op = fake_op_of(fake_type(&run->module, type));
  if (op >= 28 && op <= 30) {
    fail(run, "a store of a composite, type", type);
    return;
  }
  uint32_t bytes = fake_width(&run->module, type) / 8;
  uint32_t count = fake_components(&run->module, type);
  if (!inside(run, pointer, (uint64_t)bytes * count)) return;
  for (uint32_t i = 0; i < count && i < 4; ++i) {
    memcpy((uint8_t*)(uintptr_t)pointer.c[0] + i * bytes, &value.c[i], bytes);
  }
}

// The type of what an instruction's operand |id| is.
static uint32_t type_of(run_t* run, uint32_t id) {
  return run->module.ids[id < run->module.bound ? id : 0].type;
}

static uint32_t pointee(run_t* run, uint32_t pointer_type) {
  return fake_type(&run->module, pointer_type)[3];
}

static fake_value_t access_chain(run_t* run, invocation_t* self,
                                 const uint32_t* at) {
  uint32_t base = at[3];
  uint32_t type = pointee(run, type_of(run, base));
  uint32_t first = 4;
  const fake_id_t* of = &run->module.ids[base];
  fake_value_t pointer;
  uint32_t kind = fake_op_of(fake_type(&run->module, type));
  if (of->at && fake_op_of(of->at) == 59 && of->binding >= 0 &&
      (kind == 28 || kind == 29)) {
    pointer = descriptor(run, of, get(run, self, at[4]).c[0]);
    type = fake_type(&run->module, type)[2];
    first = 5;
  } else {
    pointer = get(run, self, base);
  }
  for (uint32_t i = first; i < fake_length_of(at); ++i) {
    uint64_t index = get(run, self, at[i]).c[0];
    pointer.c[0] += fake_member_offset(&run->module, &type, index);
  }
  return pointer;
}

static uint64_t array_length(run_t* run, invocation_t* self,
                             const uint32_t* at) {
  fake_value_t pointer = get(run, self, at[3]);
  uint32_t type = pointee(run, type_of(run, at[3]));
  uint64_t offset = fake_member_offset(&run->module, &type, at[4]);
  const fake_id_t* array = &run->module.ids[type];
  uint64_t stride = array->stride
                        ? array->stride
                        : fake_size_of(&run->module, array->at[2]);
  return (pointer.c[1] - pointer.c[0] - offset) / stride;
}

static fake_value_t atomic(run_t* run, invocation_t* self, const uint32_t* at) {
  uint32_t op = fake_op_of(at);
  bool stores = op == 228;
  fake_value_t pointer = get(run, self, at[stores ? 1 : 3]);
  uint32_t type =
      pointee(run, type_of(run, at[stores ? 1 : 3]));
  static const struct {
    uint32_t atomic, plain;
  } plain[] = {{234, 128}, {235, 130}, {240, 199}, {241, 197}, {242, 198}};
  static const struct {
    uint32_t atomic, extended;
  } extended[] = {{236, 39}, {237, 38}, {238, 42}, {239, 41}};
  pthread_mutex_lock(&atomics);
  fake_value_t old = load(run, pointer, type);
  fake_value_t operands[3] = {old};
  fake_value_t next = old;
  if (stores) {
    next = get(run, self, at[4]);
  } else if (op == 229) {
    next = get(run, self, at[6]);
  } else if (op == 230) {
    if (old.c[0] == get(run, self, at[8]).c[0]) next = get(run, self, at[7]);
  } else if (op == 232 || op == 233) {
    operands[1].c[0] = 1;
    fake_compute(&run->module, op == 232 ? 128 : 130, type, type, operands, 2,
                 &next);
  } else if (op != 227) {
    operands[1] = get(run, self, at[6]);
    bool known = false;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); ++i) {
      if (plain[i].atomic == op) {
        known = fake_compute(&run->module, plain[i].plain, type, type, operands,
                             2, &next);
      }
    }
    for (size_t i = 0; i < sizeof(extended) / sizeof(extended[0]); ++i) {
      if (extended[i].atomic == op) {
        known = fake_compute_extended(&run->module, extended[i].extended, type,
                                      operands, &next);
      }
    }
    if (!known) fail(run, "atomic operation", op);
  }
  store(run, pointer, type, next);
  pthread_mutex_unlock(&atomics);
  return old;
}

//===--------------------------------------------------------------------===//
// Control
//===--------------------------------------------------------------------===//

// Goes to a block: its phis see the one left, all at once.
static void branch(run_t* run, invocation_t* self, uint32_t label) {
  const uint32_t* at = run->module.ids[label].at;
  if (!at) {
    fail(run, "a branch to", label);
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
        incoming[count] = get(run, self, at[i]);
      }
    }
    ++count;
  }
  for (uint32_t i = 0; i < count; ++i, phis += fake_length_of(phis)) {
    self->values[phis[2]] = incoming[i];
  }
  self->pc = at;
}

static void enter(run_t* run, invocation_t* self, const uint32_t* function) {
  const uint32_t* at = function + fake_length_of(function);
  while (fake_op_of(at) == 55) at += fake_length_of(at);
  self->block = at[1];
  self->pc = at + fake_length_of(at);
  (void)run;
}

static void call(run_t* run, invocation_t* self, const uint32_t* at) {
  const uint32_t* function = run->module.ids[at[3]].at;
  if (self->depth == FAKE_MAX_CALLS || !function) {
    fail(run, "a call of", at[3]);
    return;
  }
  self->frames[self->depth++] =
      (frame_t){at + fake_length_of(at), at[2], self->block};
  const uint32_t* parameter = function + fake_length_of(function);
  for (uint32_t i = 4; i < fake_length_of(at); ++i) {
    self->values[parameter[2]] = get(run, self, at[i]);
    parameter += fake_length_of(parameter);
  }
  enter(run, self, function);
}

static void leave(invocation_t* self, const fake_value_t* result) {
  if (self->depth == 0) {
    self->over = true;
    return;
  }
  frame_t* frame = &self->frames[--self->depth];
  if (result) self->values[frame->result] = *result;
  self->block = frame->block;
  self->pc = frame->next;
}

static void choose(run_t* run, invocation_t* self, const uint32_t* at) {
  uint32_t selector = (uint32_t)get(run, self, at[1]).c[0];
  uint32_t label = at[2];
  for (uint32_t i = 3; i + 1 < fake_length_of(at); i += 2) {
    if (at[i] == selector) label = at[i + 1];
  }
  branch(run, self, label);
}

// Instructions that go elsewhere than to the next.
static bool control(run_t* run, invocation_t* self, const uint32_t* at) {
  fake_value_t value;
  switch (fake_op_of(at)) {
    case 57:
      call(run, self, at);
      return true;
    case 249:
      branch(run, self, at[1]);
      return true;
    case 250:
      branch(run, self, get(run, self, at[1]).c[0] ? at[2] : at[3]);
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
      value = get(run, self, at[1]);
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

static void compute(run_t* run, invocation_t* self, const uint32_t* at) {
  fake_value_t operands[3] = {{{0}}};
  uint32_t count = 0;
  for (uint32_t i = 3; i < fake_length_of(at) && count < 3; ++i) {
    operands[count++] = get(run, self, at[i]);
  }
  if (!fake_compute(&run->module, fake_op_of(at), at[1], type_of(run, at[3]),
                    operands, count, &self->values[at[2]])) {
    fail(run, "operation", fake_op_of(at));
  }
}

static void step(run_t* run, invocation_t* self, const uint32_t* at) {
  fake_value_t* out = &self->values[fake_length_of(at) > 2 ? at[2] : 0];
  fake_value_t operands[3] = {{{0}}};
  uint32_t op = fake_op_of(at);
  if (op >= 227 && op <= 242) {
    fake_value_t old = atomic(run, self, at);
    if (op != 228) *out = old;
    return;
  }
  if (op >= 333 && op <= 366) {  // subgroups of one
    *out = op == 333   ? (fake_value_t){{1}}
           : op >= 349 ? get(run, self, at[5])
                       : get(run, self, at[4]);
    return;
  }
  switch (op) {
    case 12:
      for (uint32_t i = 5; i < fake_length_of(at) && i < 8; ++i) {
        operands[i - 5] = get(run, self, at[i]);
      }
      if (!fake_compute_extended(&run->module, at[4], at[1], operands, out)) {
        fail(run, "function of GLSL", at[4]);
      }
      break;
    case 59:
      if (fake_length_of(at) > 4) {
        store(run, variable(run, self, at[2]), pointee(run, at[1]),
              get(run, self, at[4]));
      }
      break;
    case 61:
      *out = load(run, get(run, self, at[3]), at[1]);
      break;
    case 62:
      store(run, get(run, self, at[1]), pointee(run, type_of(run, at[1])),
            get(run, self, at[2]));
      break;
    case 65:
    case 66:
      *out = access_chain(run, self, at);
      break;
    case 68:
      *out = (fake_value_t){{array_length(run, self, at)}};
      break;
    case 79: {  // shuffle
      fake_value_t one = get(run, self, at[3]), two = get(run, self, at[4]);
      uint32_t width = fake_components(&run->module, type_of(run, at[3]));
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
        fake_value_t part = get(run, self, at[i]);
        uint32_t count = fake_components(&run->module, type_of(run, at[i]));
        for (uint32_t c = 0; c < count && filled < 4; ++c) {
          built.c[filled++] = part.c[c];
        }
      }
      *out = built;
      break;
    }
    case 81:
      *out = (fake_value_t){{get(run, self, at[3]).c[at[4] & 3]}};
      break;
    case 82: {
      fake_value_t changed = get(run, self, at[4]);
      changed.c[at[5] & 3] = get(run, self, at[3]).c[0];
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
        fail(run, "operation", op);
      }
  }
}

// Runs on to the next barrier or the end.
static void resume(run_t* run, invocation_t* self) {
  self->waiting = false;
  while (!self->waiting && !self->over && !run->failed) {
    if (++run->steps > MAX_STEPS) fail(run, "more steps than", MAX_STEPS);
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

static void set_inputs(run_t* run, invocation_t* self, uint32_t index,
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

static void run_group(run_t* run, invocation_t* all, uint32_t count,
                      const uint32_t* group, const uint32_t* groups) {
  memset(run->shared, 0, run->shared_size);
  for (uint32_t i = 0; i < count; ++i) {
    set_inputs(run, &all[i], i, group, groups);
    all[i].depth = 0;
    all[i].over = false;
    enter(run, &all[i], run->module.main);
  }
  for (bool going = true; going && !run->failed;) {
    going = false;
    for (uint32_t i = 0; i < count; ++i) {
      if (!all[i].over) resume(run, &all[i]);
      going |= !all[i].over;
    }
  }
}

// Gives variables their places and numbers what functions define.
static void place(run_t* run) {
  const fake_module_t* module = &run->module;
  for (size_t i = 5; i < module->count;) {
    const uint32_t* at = module->words + i;
    uint32_t op = fake_op_of(at);
    if (op == 59 && (at[3] == 4 || at[3] == 6 || at[3] == 7)) {
      uint64_t* size = at[3] == 4 ? &run->shared_size : &run->local_size;
      run->offsets[at[2]] = (uint32_t)*size;
      *size += (fake_size_of(module, pointee(run, at[1])) + 15) / 16 * 16;
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
  run_t run = {.op = op};
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
  if (count > 1024) fail(&run, "workgroups of", count);
  invocation_t* all = calloc(count + 1, sizeof(*all));
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

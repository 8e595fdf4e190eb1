// Values, variables and memory of a dispatch of the fake.
#include <string.h>

#include "fake_spirv_run.h"

static pthread_mutex_t atomics = PTHREAD_MUTEX_INITIALIZER;

void fake_fail(fake_run_t* run, const char* what, uint32_t number) {
  if (!run->failed) fake_complain("the fake cannot run %s %u", what, number);
  run->failed = true;
}

// The memory of descriptor |element| of a variable.
static fake_value_t descriptor(fake_run_t* run, const fake_id_t* variable,
                               uint64_t element) {
  const fake_set_t* set =
      variable->set >= 0 && variable->set < FAKE_MAX_SETS
          ? run->op->sets[variable->set]
          : NULL;
  for (uint32_t i = 0; set && i < set->count; ++i) {
    const fake_descriptor_t* d = &set->descriptors[i];
    if (d->binding == (uint32_t)variable->binding && d->element == element) {
      if (d->buffer->generation != d->generation) {
        if (!run->failed) {
          fake_complain("a dispatch uses binding %u, whose buffer was "
                        "destroyed since it was bound", d->binding);
        }
        run->failed = true;
        return (fake_value_t){0};
      }
      uint64_t address = (uintptr_t)d->buffer->memory->bytes + d->offset;
      return (fake_value_t){{address, address + d->range}};
    }
  }
  fake_fail(run, "a dispatch without binding", (uint32_t)variable->binding);
  return (fake_value_t){0};
}

fake_value_t fake_variable(fake_run_t* run, fake_invocation_t* self,
                           uint32_t id) {
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

fake_value_t fake_get(fake_run_t* run, fake_invocation_t* self, uint32_t id) {
  if (id >= run->module.bound || !run->module.ids[id].at) {
    return id < run->module.bound ? self->values[id] : (fake_value_t){0};
  }
  uint32_t op = fake_op_of(run->module.ids[id].at);
  if (op >= 41 && op <= 52) return run->module.constants[id];
  if (op == 59) return fake_variable(run, self, id);
  return self->values[id];
}

static bool inside(fake_run_t* run, fake_value_t pointer, uint64_t size) {
  if (!pointer.c[0]) {
    fake_fail(run, "an access to address", 0);
    return false;
  }
  // Robust access: out-of-bounds accesses have no effect.
  return !pointer.c[1] || pointer.c[0] + size <= pointer.c[1];
}

fake_value_t fake_load(fake_run_t* run, fake_value_t pointer, uint32_t type) {
  fake_value_t value = {0};
  uint32_t op = fake_op_of(fake_type(&run->module, type));
  if (op >= 28 && op <= 30) {
    fake_fail(run, "a load of a composite, type", type);
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

void fake_store(fake_run_t* run, fake_value_t pointer, uint32_t type,
                  fake_value_t value) {
  uint32_t op = fake_op_of(fake_type(&run->module, type));
  if (op >= 28 && op <= 30) {
    fake_fail(run, "a store of a composite, type", type);
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
uint32_t fake_type_of(fake_run_t* run, uint32_t id) {
  return run->module.ids[id < run->module.bound ? id : 0].type;
}

uint32_t fake_pointee(fake_run_t* run, uint32_t pointer_type) {
  return fake_type(&run->module, pointer_type)[3];
}

fake_value_t fake_access_chain(fake_run_t* run, fake_invocation_t* self,
                                 const uint32_t* at) {
  uint32_t base = at[3];
  uint32_t type = fake_pointee(run, fake_type_of(run, base));
  uint32_t first = 4;
  const fake_id_t* of = &run->module.ids[base];
  fake_value_t pointer;
  uint32_t kind = fake_op_of(fake_type(&run->module, type));
  if (of->at && fake_op_of(of->at) == 59 && of->binding >= 0 &&
      (kind == 28 || kind == 29)) {
    pointer = descriptor(run, of, fake_get(run, self, at[4]).c[0]);
    type = fake_type(&run->module, type)[2];
    first = 5;
  } else {
    pointer = fake_get(run, self, base);
  }
  for (uint32_t i = first; i < fake_length_of(at); ++i) {
    uint64_t index = fake_get(run, self, at[i]).c[0];
    pointer.c[0] += fake_member_offset(&run->module, &type, index);
  }
  return pointer;
}

uint64_t fake_array_length(fake_run_t* run, fake_invocation_t* self,
                             const uint32_t* at) {
  fake_value_t pointer = fake_get(run, self, at[3]);
  uint32_t type = fake_pointee(run, fake_type_of(run, at[3]));
  uint64_t offset = fake_member_offset(&run->module, &type, at[4]);
  const fake_id_t* array = &run->module.ids[type];
  uint64_t stride = array->stride
                        ? array->stride
                        : fake_size_of(&run->module, array->at[2]);
  return (pointer.c[1] - pointer.c[0] - offset) / stride;
}

fake_value_t fake_atomic(fake_run_t* run, fake_invocation_t* self,
                         const uint32_t* at) {
  uint32_t op = fake_op_of(at);
  bool stores = op == 228;
  fake_value_t pointer = fake_get(run, self, at[stores ? 1 : 3]);
  uint32_t type =
      fake_pointee(run, fake_type_of(run, at[stores ? 1 : 3]));
  static const struct {
    uint32_t atomic, plain;
  } plain[] = {{234, 128}, {235, 130}, {240, 199}, {241, 197}, {242, 198}};
  static const struct {
    uint32_t atomic, extended;
  } extended[] = {{236, 39}, {237, 38}, {238, 42}, {239, 41}};
  pthread_mutex_lock(&atomics);
  fake_value_t old = fake_load(run, pointer, type);
  fake_value_t operands[3] = {old};
  fake_value_t next = old;
  if (stores) {
    next = fake_get(run, self, at[4]);
  } else if (op == 229) {
    next = fake_get(run, self, at[6]);
  } else if (op == 230) {
    if (old.c[0] == fake_get(run, self, at[8]).c[0]) {
      next = fake_get(run, self, at[7]);
    }
  } else if (op == 232 || op == 233) {
    operands[1].c[0] = 1;
    fake_compute(&run->module, op == 232 ? 128 : 130, type, type, operands, 2,
                 &next);
  } else if (op != 227) {
    operands[1] = fake_get(run, self, at[6]);
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
    if (!known) fake_fail(run, "atomic operation", op);
  }
  fake_store(run, pointer, type, next);
  pthread_mutex_unlock(&atomics);
  return old;
}

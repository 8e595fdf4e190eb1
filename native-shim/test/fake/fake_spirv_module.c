// Reads SPIR-V modules: ids, types, decorations, constants.
#include <stdlib.h>
#include <string.h>

#include "fake_spirv.h"

static fake_id_t* id_of(fake_module_t* module, uint32_t id) {
  return &module->ids[id < module->bound ? id : 0];
}

uint32_t fake_components(const fake_module_t* module, uint32_t type) {
  const uint32_t* at = fake_type(module, type);
  return fake_op_of(at) == 23 ? at[3] : 1;
}

static const uint32_t* scalar(const fake_module_t* module, uint32_t type) {
  const uint32_t* at = fake_type(module, type);
  return fake_op_of(at) == 23 ? fake_type(module, at[2]) : at;
}

uint32_t fake_width(const fake_module_t* module, uint32_t type) {
  const uint32_t* at = scalar(module, type);
  switch (fake_op_of(at)) {
    case 21:  // int
    case 22:  // float
      return at[2];
    case 32:  // pointer
      return 64;
    default:  // bool
      return 32;
  }
}

bool fake_is_float(const fake_module_t* module, uint32_t type) {
  return fake_op_of(scalar(module, type)) == 22;
}

uint64_t fake_size_of(const fake_module_t* module, uint32_t type) {
  const uint32_t* at = fake_type(module, type);
  switch (fake_op_of(at)) {
    case 23:
      return at[3] * fake_size_of(module, at[2]);
    case 28: {  // array
      uint32_t stride = module->ids[type].stride;
      uint64_t length = module->constants[at[3]].c[0];
      return length * (stride ? stride : fake_size_of(module, at[2]));
    }
    case 29:  // runtime array
      return 0;
    case 30: {
      uint64_t size = 0;
      for (uint32_t i = 2; i < fake_length_of(at); ++i) {
        uint64_t end = (module->ids[type].laid_out
                            ? module->ids[type].offsets[i - 2]
                            : size) +
                       fake_size_of(module, at[i]);
        if (end > size) size = end;
      }
      return size;
    }
    default:
      return fake_width(module, type) / 8;
  }
}

uint64_t fake_member_offset(const fake_module_t* module, uint32_t* type,
                            uint64_t index) {
  const fake_id_t* id = &module->ids[*type];
  const uint32_t* at = id->at;
  if (fake_op_of(at) == 30) {
    uint64_t offset = 0;
    if (id->laid_out) {
      offset = id->offsets[index];
    } else {
      for (uint64_t i = 0; i < index; ++i) {
        offset += fake_size_of(module, at[2 + i]);
      }
    }
    *type = at[2 + index];
    return offset;
  }
  *type = at[2];  // of arrays and vectors
  return index * (id->stride ? id->stride : fake_size_of(module, at[2]));
}

static void decorate(fake_module_t* module, const uint32_t* at) {
  fake_id_t* id = id_of(module, at[1]);
  switch (at[2]) {
    case 1:
      id->spec_id = (int32_t)at[3];
      break;
    case 6:
      id->stride = at[3];
      break;
    case 11:
      id->builtin = (int32_t)at[3];
      break;
    case 33:
      id->binding = (int32_t)at[3];
      break;
    case 34:
      id->set = (int32_t)at[3];
      break;
    default:
      break;
  }
}

// The value of a specialization constant if the pipeline has one.
static void specialize(fake_module_t* module, uint32_t id) {
  int32_t spec_id = module->ids[id].spec_id;
  const fake_pipeline_t* pipeline = module->pipeline;
  for (uint32_t i = 0; spec_id >= 0 && i < pipeline->constant_count; ++i) {
    if (pipeline->constant_ids[i] == (uint32_t)spec_id) {
      module->constants[id].c[0] = pipeline->constants[i];
    }
  }
}

static bool define_constant(fake_module_t* module, const uint32_t* at) {
  uint32_t length = fake_length_of(at);
  uint32_t id = at[2];
  fake_value_t* value = &module->constants[id];
  switch (fake_op_of(at)) {
    case 41:
    case 48:
      value->c[0] = 1;
      break;
    case 43:
    case 50:
      value->c[0] = at[3] | (length > 4 ? (uint64_t)at[4] << 32 : 0);
      break;
    case 44:
    case 51:
      for (uint32_t i = 3; i < length && i < 7; ++i) {
        value->c[i - 3] = module->constants[at[i]].c[0];
      }
      break;
    case 52: {
      fake_value_t operands[4];
      uint32_t count = length - 4 < 4 ? length - 4 : 4;
      for (uint32_t i = 0; i < count; ++i) {
        // Composites are indexed by literals, not by constants.
        operands[i] = at[3] == 81 && i ? (fake_value_t){{at[4 + i]}}
                                       : module->constants[at[4 + i]];
      }
      if (at[3] == 81) {
        value->c[0] = operands[0].c[operands[1].c[0] & 3];
      } else if (!fake_compute(module, at[3], at[1], module->ids[at[4]].type,
                               operands, count, value)) {
        fake_complain("the fake has no constant of operation %u", at[3]);
        return false;
      }
      break;
    }
    default:  // false and null
      break;
  }
  if (fake_op_of(at) >= 48 && fake_op_of(at) <= 50) specialize(module, id);
  return true;
}

static bool define(fake_module_t* module, const uint32_t* at) {
  uint32_t op = fake_op_of(at);
  uint32_t length = fake_length_of(at);
  if (op >= 19 && op <= 33 && length > 1) {
    id_of(module, at[1])->at = at;
  } else if (length > 2 && (op == 1 || (op >= 41 && op <= 52) || op == 54 ||
                            op == 55 || op == 59 || op == 11)) {
    fake_id_t* id = id_of(module, op == 11 ? at[1] : at[2]);
    id->at = at;
    id->type = op == 11 ? 0 : at[1];
    if (op >= 41 && op <= 52) return define_constant(module, at);
  }
  return true;
}

// Decorations, which precede definitions.
static void annotate(fake_module_t* module, const uint32_t* at) {
  switch (fake_op_of(at)) {
    case 15:
      if (strcmp((const char*)(at + 3), module->pipeline->entry_point) == 0) {
        module->ids[0].offsets[0] = at[2];
      }
      break;
    case 16:
      if (at[2] == 17) memcpy(module->size, at + 3, sizeof(module->size));
      break;
    case 71:
      decorate(module, at);
      break;
    case 72:
      if (at[3] == 35 && at[2] < FAKE_MAX_MEMBERS) {
        id_of(module, at[1])->offsets[at[2]] = at[4];
        id_of(module, at[1])->laid_out = true;
      }
      break;
    default:
      break;
  }
}

bool fake_module_read(fake_module_t* module, const fake_pipeline_t* pipeline) {
  *module = (fake_module_t){.pipeline = pipeline,
                            .words = pipeline->code,
                            .count = pipeline->word_count,
                            .size = {1, 1, 1}};
  if (module->count < 6 || module->words[3] > FAKE_MAX_IDS) return false;
  module->bound = module->words[3];
  module->ids = calloc(module->bound + 1, sizeof(*module->ids));
  module->constants = calloc(module->bound + 1, sizeof(*module->constants));
  for (uint32_t i = 0; i < module->bound; ++i) {
    module->ids[i].set = module->ids[i].binding = module->ids[i].builtin =
        module->ids[i].spec_id = -1;
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 5; i < module->count;) {
      const uint32_t* at = module->words + i;
      if (!fake_length_of(at) || fake_length_of(at) > module->count - i) {
        fake_complain("a shader ends within an instruction");
        return false;
      }
      if (pass == 0) {
        annotate(module, at);
      } else if (!define(module, at)) {
        return false;
      }
      i += fake_length_of(at);
    }
  }
  uint32_t main = module->ids[0].offsets[0];
  module->main = main < module->bound ? module->ids[main].at : NULL;
  if (!main || !module->main) {
    fake_complain("a shader has no function '%s'", pipeline->entry_point);
    return false;
  }
  for (uint32_t i = 1; i < module->bound; ++i) {
    if (module->ids[i].builtin == 25) {  // the size as a constant
      for (int d = 0; d < 3; ++d) {
        module->size[d] = (uint32_t)module->constants[i].c[d];
      }
    }
  }
  return true;
}

void fake_module_free(fake_module_t* module) {
  free(module->ids);
  free(module->constants);
}

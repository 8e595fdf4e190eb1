// Reads and checks the words of a recording. Calls shim_status.c only.
#include "vulkan/vulkan_words.h"

// vkCmdUpdateBuffer takes no more.
enum { MAX_UPDATE = 65536 };

// Consumes |wanted| words; NULL when there are fewer.
static const uint64_t* take(const uint64_t* words, size_t count, size_t* at,
                            uint64_t wanted) {
  if (wanted > count - *at) return NULL;
  const uint64_t* taken = words + *at;
  *at += (size_t)wanted;
  return taken;
}

static shim_status_t cut_short(uint32_t number, size_t count,
                               shim_error_t* error) {
  return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                        "operation %u of a recording needs more than its %zu "
                        "words",
                        number, count);
}

static shim_status_t wrong(uint32_t number, const char* what,
                           shim_error_t* error) {
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                        "operation %u of a recording: %s", number, what);
}

shim_status_t shim__vk_bindings_check(const shim_vulkan_pipeline_t* pipeline,
                                      const uint64_t* bindings, uint32_t count,
                                      uint32_t number, shim_error_t* error) {
  if (count != pipeline->slot_count) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "operation %u of a recording has %u bindings, its "
                          "pipeline takes %u",
                          number, count, pipeline->slot_count);
  }
  const shim_vulkan_device_info_t* info = &pipeline->device->physical->info;
  for (uint32_t i = 0; i < count; ++i, bindings += 3) {
    if (bindings[2] == 0 || bindings[2] > info->max_storage_buffer_range) {
      return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                            "binding %u of operation %u has %llu bytes; device "
                            "'%s' takes 1 to %llu",
                            i, number, (unsigned long long)bindings[2],
                            info->name,
                            (unsigned long long)info->max_storage_buffer_range);
    }
    if (bindings[1] % info->min_storage_buffer_offset_alignment) {
      return shim_error_set(
          error, SHIM_INVALID_ARGUMENT, 0,
          "binding %u of operation %u begins at %llu; device '%s' wants a "
          "multiple of %llu",
          i, number, (unsigned long long)bindings[1], info->name,
          (unsigned long long)info->min_storage_buffer_offset_alignment);
    }
  }
  return SHIM_OK;
}

static shim_status_t check_mode(const shim__vk_operation_t* operation,
                                uint32_t number, shim_error_t* error) {
  const shim_vulkan_pipeline_t* pipeline = operation->pipeline;
  switch (operation->mode) {
    case SHIM_VULKAN_MODE_PUSH:
      if (!pipeline->pushed) {
        return wrong(number, "its pipeline takes no pushed descriptors", error);
      }
      break;
    case SHIM_VULKAN_MODE_SETS:
      if (pipeline->pushed) {
        return wrong(number, "its pipeline takes pushed descriptors", error);
      }
      break;
    case SHIM_VULKAN_MODE_NONE:
      if (pipeline->slot_count) {
        return wrong(number, "its pipeline needs descriptors", error);
      }
      break;
    default:
      return wrong(number, "there is no such mode", error);
  }
  return SHIM_OK;
}

static shim_status_t read_dispatch(const shim_vulkan_device_t* device,
                                   const uint64_t* words, size_t count,
                                   uint32_t number, size_t* at,
                                   shim__vk_operation_t* out,
                                   shim_error_t* error) {
  const uint64_t* head = take(words, count, at, 3);
  if (!head || head[2] > count / 3) return cut_short(number, count, error);
  out->pipeline = (shim_vulkan_pipeline_t*)(uintptr_t)head[0];
  out->mode = head[1] > UINT32_MAX ? UINT32_MAX : (uint32_t)head[1];
  out->binding_count = (uint32_t)head[2];
  out->bindings = take(words, count, at, 3 * head[2]);
  const uint64_t* push = out->bindings ? take(words, count, at, 2) : NULL;
  if (!push) return cut_short(number, count, error);
  if (push[0] > UINT32_MAX || push[1] > UINT32_MAX || push[0] % 4 ||
      push[1] % 4 || push[0] + push[1] > out->pipeline->push_constant_bytes) {
    return wrong(number, "its push constants are not those of its pipeline",
                 error);
  }
  out->push_offset = (uint32_t)push[0];
  out->push_bytes = (uint32_t)push[1];
  out->push = take(words, count, at, (push[1] + 7) / 8);
  bool direct = out->code == SHIM_VULKAN_OP_DISPATCH;
  out->target = out->push ? take(words, count, at, direct ? 3 : 2) : NULL;
  if (!out->target) return cut_short(number, count, error);
  const uint64_t* limits =
      device->physical->info.max_compute_work_group_count;
  for (int i = 0; direct && i < 3; ++i) {
    if (out->target[i] > limits[i]) {
      return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                            "operation %u has %llu workgroups in dimension %d; "
                            "device '%s' takes %llu",
                            number, (unsigned long long)out->target[i], i,
                            device->physical->info.name,
                            (unsigned long long)limits[i]);
    }
  }
  if (!direct && out->target[1] % 4) {
    return wrong(number, "its counts do not begin at a multiple of 4", error);
  }
  shim_status_t status = check_mode(out, number, error);
  return status ? status
                : shim__vk_bindings_check(out->pipeline, out->bindings,
                                          out->binding_count, number, error);
}

shim_status_t shim__vk_operation_read(const shim_vulkan_device_t* device,
                                      const uint64_t* words, size_t count,
                                      uint32_t number, size_t* at,
                                      shim__vk_operation_t* out,
                                      shim_error_t* error) {
  *out = (shim__vk_operation_t){.code = words[(*at)++]};
  const uint64_t* o = NULL;
  switch (out->code) {
    case SHIM_VULKAN_OP_BARRIER:
      o = take(words, count, at, 4);
      if (!o) return cut_short(number, count, error);
      break;
    case SHIM_VULKAN_OP_FILL:
      o = take(words, count, at, 4);
      if (!o) return cut_short(number, count, error);
      if (o[1] % 4 || o[2] % 4 || !o[2] || o[3] > UINT32_MAX) {
        return wrong(number, "a fill of other than whole, aligned words of 4 "
                             "bytes", error);
      }
      break;
    case SHIM_VULKAN_OP_COPY:
      o = take(words, count, at, 5);
      if (!o) return cut_short(number, count, error);
      if (!o[4]) return wrong(number, "a copy of no bytes", error);
      break;
    case SHIM_VULKAN_OP_UPDATE:
      o = take(words, count, at, 3);
      if (!o) return cut_short(number, count, error);
      if (o[1] % 4 || o[2] % 4 || !o[2] || o[2] > MAX_UPDATE) {
        return wrong(number, "an update of other than 1 to 16384 whole, "
                             "aligned words of 4 bytes", error);
      }
      if (!take(words, count, at, (o[2] + 7) / 8)) {
        return cut_short(number, count, error);
      }
      break;
    case SHIM_VULKAN_OP_DISPATCH:
    case SHIM_VULKAN_OP_DISPATCH_INDIRECT:
      return read_dispatch(device, words, count, number, at, out, error);
    default:
      return wrong(number, "there is no such operation", error);
  }
  out->operands = o;
  return SHIM_OK;
}

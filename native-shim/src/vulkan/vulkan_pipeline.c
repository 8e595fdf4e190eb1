// Pipelines with their layouts, and caches of compiled code.
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_internal.h"
#include "vulkan/vulkan_status.h"

enum {
  SPIRV_MAGIC = 0x07230203,
  // Drivers allocate tables up to the largest number.
  MAX_BINDING = 1024,
  CACHE_HEADER_BYTES = 32,
};

//===--------------------------------------------------------------------===//
// Caches
//===--------------------------------------------------------------------===//
//The header of every driver: length, version 1, vendor, device, UUID.
static bool header_fits(const shim_vulkan_device_t* device, const uint8_t* data,
                        size_t size) {
  const shim_vulkan_device_info_t* info = &device->physical->info;
  uint32_t words[4];
  if (size < CACHE_HEADER_BYTES) return false;
  memcpy(words, data, sizeof(words));
  return words[0] == CACHE_HEADER_BYTES && words[1] == 1 &&
         words[2] == info->vendor_id && words[3] == info->device_id &&
         memcmp(data + 16, info->pipeline_cache_uuid, SVK_UUID_SIZE) == 0;
}

shim_status_t shim_vulkan_pipeline_cache_create(
    shim_vulkan_device_t* device, const void* data, size_t size,
    shim_vulkan_pipeline_cache_t** out_cache, shim_error_t* error) {
  *out_cache = NULL;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (size && !header_fits(device, data, size)) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "a pipeline cache of %zu bytes is not of device '%s' "
                          "and its driver",
                          size, device->physical->info.name);
  }
  svk_pipeline_cache_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
      .initialDataSize = size,
      .pInitialData = data,
  };
  shim_vulkan_pipeline_cache_t* cache = calloc(1, sizeof(*cache));
  if (!cache) {
    return shim__no_memory(error, sizeof(*cache), "a pipeline cache");
  }
  cache->device = device;
  svk_result_t result = device->table.vkCreatePipelineCache(
      device->handle, &info, NULL, &cache->cache);
  if (result < 0) {
    free(cache);
    return shim__vk_fail(device, result, error, "vkCreatePipelineCache");
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_PIPELINE_CACHES, 1);
  *out_cache = cache;
  return SHIM_OK;
}

void shim_vulkan_pipeline_cache_release(shim_vulkan_pipeline_cache_t* cache) {
  if (!cache) return;
  shim_vulkan_device_t* device = cache->device;
  device->table.vkDestroyPipelineCache(device->handle, cache->cache, NULL);
  shim__vk_count(device, SHIM_VULKAN_KIND_PIPELINE_CACHES, -1);
  free(cache);
}

shim_status_t shim_vulkan_pipeline_cache_data(
    shim_vulkan_pipeline_cache_t* cache, void* out, size_t capacity,
    size_t* out_size, shim_error_t* error) {
  *out_size = 0;
  shim_vulkan_device_t* device = cache->device;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  size_t size = 0;
  svk_result_t result = device->table.vkGetPipelineCacheData(
      device->handle, cache->cache, &size, NULL);
  if (result >= 0 && capacity && size <= capacity) {
    size = capacity;
    result = device->table.vkGetPipelineCacheData(device->handle, cache->cache,
                                                  &size, out);
  }
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkGetPipelineCacheData");
  }
  // Another thread added to it between the two calls.
  if (result == SHIM__VK_INCOMPLETE) size = capacity + 4096;
  *out_size = size;
  return SHIM_OK;
}

//===--------------------------------------------------------------------===//
// Layouts
//===--------------------------------------------------------------------===//

// Checks the words of a layout and counts its descriptors.
static shim_status_t check_layout(const shim_vulkan_device_t* device,
                                  const shim_vulkan_pipeline_params_t* params,
                                  uint32_t* out_slots, shim_error_t* error) {
  const uint64_t* words = params->layout;
  const size_t count = params->layout_words;
  uint64_t sets = count ? words[0] : 0;
  uint64_t limit = device->physical->info.max_bound_descriptor_sets;
  if (limit > SHIM_VULKAN_MAX_SETS) limit = SHIM_VULKAN_MAX_SETS;
  if (sets > limit) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "%llu descriptor sets; device '%s' has %llu at most",
                          (unsigned long long)sets,
                          device->physical->info.name,
                          (unsigned long long)limit);
  }
  uint64_t slots = 0;
  size_t at = 1;
  for (uint64_t s = 0; s < sets; ++s) {
    if (at >= count || words[at] > (count - at - 1) / 3) {
      return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                            "a pipeline layout of %zu words ends in set %llu",
                            count, (unsigned long long)s);
    }
    const uint64_t* bindings = words + at + 1;
    for (uint64_t b = 0; b < words[at]; ++b) {
      const uint64_t* binding = bindings + 3 * b;
      bool twice = false;
      for (uint64_t i = 0; i < b; ++i) twice |= bindings[3 * i] == binding[0];
      if (binding[0] >= MAX_BINDING || twice ||
          (binding[1] != SVK_DESCRIPTOR_TYPE_UNIFORM_BUFFER &&
           binding[1] != SVK_DESCRIPTOR_TYPE_STORAGE_BUFFER) ||
          binding[2] > SHIM_VULKAN_MAX_DESCRIPTORS - slots) {
        return shim_error_set(
            error, SHIM_INVALID_ARGUMENT, 0,
            "binding %llu of set %llu with type %llu and count %llu; there are "
            "uniform buffers (6), storage buffers (7), %d descriptors at most, "
            "each binding once and below %d",
            (unsigned long long)binding[0], (unsigned long long)s,
            (unsigned long long)binding[1], (unsigned long long)binding[2],
            SHIM_VULKAN_MAX_DESCRIPTORS, MAX_BINDING);
      }
      slots += binding[2];
    }
    at += 1 + 3 * (size_t)words[at];
  }
  *out_slots = (uint32_t)slots;
  return SHIM_OK;
}

static shim_status_t create_set_layout(shim_vulkan_pipeline_t* pipeline,
                                       uint32_t set, const uint64_t* words,
                                       uint32_t count, shim_error_t* error) {
  shim_vulkan_device_t* device = pipeline->device;
  svk_descriptor_set_layout_binding_t* bindings =
      calloc(count + 1, sizeof(*bindings));
  uint32_t* flags = calloc(count + 1, sizeof(*flags));
  if (!bindings || !flags) {
    free(bindings);
    free(flags);
    return shim__no_memory(error,
                           count * (sizeof(*bindings) + sizeof(*flags)),
                           "a set layout");
  }
  for (uint32_t b = 0; b < count; ++b, words += 3) {
    bindings[b] = (svk_descriptor_set_layout_binding_t){
        .binding = (uint32_t)words[0],
        .descriptorType = (int32_t)words[1],
        .descriptorCount = (uint32_t)words[2],
        .stageFlags = SVK_SHADER_STAGE_COMPUTE_BIT,
    };
    flags[b] = SVK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT;
  }
  svk_descriptor_set_layout_binding_flags_create_info_t late = {
      .sType =
          SVK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
      .bindingCount = count,
      .pBindingFlags = flags,
  };
  svk_descriptor_set_layout_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .pNext = pipeline->late ? &late : NULL,
      .flags =
          pipeline->late
              ? SVK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT
          : pipeline->pushed && count
              ? SVK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR
              : 0,
      .bindingCount = count,
      .pBindings = bindings,
  };
  svk_result_t result = device->table.vkCreateDescriptorSetLayout(
      device->handle, &info, NULL, &pipeline->sets[set]);
  free(bindings);
  free(flags);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkCreateDescriptorSetLayout");
  }
  pipeline->set_count = set + 1;
  shim__vk_count(device, SHIM_VULKAN_KIND_SET_LAYOUTS, 1);
  return SHIM_OK;
}

// Numbers the descriptors and decides whether they can change after recording.
static void number_slots(shim_vulkan_pipeline_t* pipeline,
                         const shim_vulkan_pipeline_params_t* params) {
  const uint64_t* words = params->layout;
  size_t at = 1;
  for (uint32_t s = 0; params->layout_words && s < words[0]; ++s) {
    const uint64_t* binding = words + at + 1;
    for (uint64_t b = 0; b < words[at]; ++b, binding += 3) {
      bool uniform = binding[1] == SVK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
      *(uniform ? &pipeline->uniform_count : &pipeline->storage_count) +=
          (uint32_t)binding[2];
      for (uint32_t i = 0; i < binding[2]; ++i) {
        pipeline->slots[pipeline->slot_count++] = (shim__vk_slot_t){
            s, (uint32_t)binding[0], i, (int32_t)binding[1]};
      }
    }
    at += 1 + 3 * (size_t)words[at];
  }
  const shim_vulkan_device_t* device = pipeline->device;
  pipeline->late =
      !pipeline->pushed && pipeline->slot_count &&
      (!pipeline->storage_count ||
       shim__vk_has(device,
                    SHIM_VULKAN_FEATURE_STORAGE_BUFFER_UPDATE_AFTER_BIND)) &&
      (!pipeline->uniform_count ||
       shim__vk_has(device,
                    SHIM_VULKAN_FEATURE_UNIFORM_BUFFER_UPDATE_AFTER_BIND));
}

static shim_status_t create_layout(shim_vulkan_pipeline_t* pipeline,
                                   const shim_vulkan_pipeline_params_t* params,
                                   shim_error_t* error) {
  shim_vulkan_device_t* device = pipeline->device;
  const uint64_t* words = params->layout;
  size_t at = 1;
  for (uint32_t s = 0; params->layout_words && s < words[0]; ++s) {
    shim_status_t status = create_set_layout(pipeline, s, words + at + 1,
                                             (uint32_t)words[at], error);
    if (status) return status;
    at += 1 + 3 * (size_t)words[at];
  }
  svk_push_constant_range_t range = {
      .stageFlags = SVK_SHADER_STAGE_COMPUTE_BIT,
      .size = params->push_constant_bytes,
  };
  svk_pipeline_layout_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .setLayoutCount = pipeline->set_count,
      .pSetLayouts = pipeline->sets,
      .pushConstantRangeCount = range.size ? 1 : 0,
      .pPushConstantRanges = &range,
  };
  svk_result_t result = device->table.vkCreatePipelineLayout(
      device->handle, &info, NULL, &pipeline->layout);
  if (result < 0) {
    pipeline->layout = 0;
    return shim__vk_fail(device, result, error, "vkCreatePipelineLayout");
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_PIPELINE_LAYOUTS, 1);
  return SHIM_OK;
}

//===--------------------------------------------------------------------===//
// Pipelines
//===--------------------------------------------------------------------===//

static shim_status_t check_params(const shim_vulkan_device_t* device,
                                  const shim_vulkan_pipeline_params_t* params,
                                  shim_error_t* error) {
  const shim_vulkan_device_info_t* info = &device->physical->info;
  if (params->code_size < 20 || params->code_size % 4 ||
      params->code[0] != SPIRV_MAGIC) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "%zu bytes are not a SPIR-V module",
                          params->code_size);
  }
  if (params->push_constant_bytes > info->max_push_constants_size ||
      params->push_constant_bytes % 4) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "%u bytes of push constants; device '%s' has %u, in "
                          "steps of 4",
                          params->push_constant_bytes, info->name,
                          (uint32_t)info->max_push_constants_size);
  }
  if (params->specialization_count > SHIM_VULKAN_MAX_SPECIALIZATION) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "%u specialization constants, the limit is %d",
                          params->specialization_count,
                          SHIM_VULKAN_MAX_SPECIALIZATION);
  }
  if (params->subgroup_size &&
      (!shim__vk_has(device, SHIM_VULKAN_FEATURE_SUBGROUP_SIZE_CONTROL) ||
       params->subgroup_size < info->min_subgroup_size ||
       params->subgroup_size > info->max_subgroup_size ||
       (params->subgroup_size & (params->subgroup_size - 1)))) {
    return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                          "device '%s' does not support subgroups of %u "
                          "(feature subgroupSizeControl, sizes %u to %u)",
                          info->name, params->subgroup_size,
                          (uint32_t)info->min_subgroup_size,
                          (uint32_t)info->max_subgroup_size);
  }
  return SHIM_OK;
}

static shim_status_t check_push(const shim_vulkan_pipeline_t* pipeline,
                                shim_error_t* error) {
  const shim_vulkan_device_t* device = pipeline->device;
  if (!pipeline->pushed) return SHIM_OK;
  if (!shim__vk_has(device, SHIM_VULKAN_FEATURE_PUSH_DESCRIPTOR) ||
      !device->table.vkCmdPushDescriptorSetKHR) {
    return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                          "device '%s' does not have VK_KHR_push_descriptor",
                          device->physical->info.name);
  }
  uint32_t limit = (uint32_t)device->physical->info.max_push_descriptors;
  const shim__vk_slot_t* slots = pipeline->slots;
  uint32_t count = pipeline->slot_count;
  if (count > limit || (count && slots[0].set != slots[count - 1].set)) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "%u descriptors to push; device '%s' takes %u, of "
                          "one set",
                          pipeline->slot_count, device->physical->info.name,
                          limit);
  }
  return SHIM_OK;
}

static shim_status_t compile(shim_vulkan_pipeline_t* pipeline,
                             const shim_vulkan_pipeline_params_t* params,
                             shim_error_t* error) {
  shim_vulkan_device_t* device = pipeline->device;
  svk_shader_module_create_info_t module_info = {
      .sType = SVK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = params->code_size,
      .pCode = params->code,
  };
  svk_handle_t module = 0;
  svk_result_t result = device->table.vkCreateShaderModule(
      device->handle, &module_info, NULL, &module);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkCreateShaderModule of '%s'",
                         params->entry_point);
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_SHADER_MODULES, 1);
  svk_specialization_map_entry_t entries[SHIM_VULKAN_MAX_SPECIALIZATION];
  for (uint32_t i = 0; i < params->specialization_count; ++i) {
    entries[i] = (svk_specialization_map_entry_t){i, 4 * i, 4};
  }
  svk_specialization_info_t specialization = {
      .mapEntryCount = params->specialization_count,
      .pMapEntries = entries,
      .dataSize = 4 * (size_t)params->specialization_count,
      .pData = params->specialization,
  };
  svk_pipeline_shader_stage_required_subgroup_size_create_info_t subgroup = {
      .sType =
          SVK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = params->subgroup_size,
  };
  svk_compute_pipeline_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = SVK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = params->subgroup_size ? &subgroup : NULL,
                .stage = SVK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = params->entry_point,
                .pSpecializationInfo = &specialization},
      .layout = pipeline->layout,
      .basePipelineIndex = -1,
  };
  result = device->table.vkCreateComputePipelines(
      device->handle, params->cache ? params->cache->cache : 0, 1, &info, NULL,
      &pipeline->pipeline);
  device->table.vkDestroyShaderModule(device->handle, module, NULL);
  shim__vk_count(device, SHIM_VULKAN_KIND_SHADER_MODULES, -1);
  if (result != SHIM__VK_SUCCESS) {
    pipeline->pipeline = 0;
    return shim__vk_fail(device, result, error,
                         "vkCreateComputePipelines of '%s'",
                         params->entry_point);
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_PIPELINES, 1);
  return SHIM_OK;
}

shim_status_t shim_vulkan_pipeline_create(
    shim_vulkan_device_t* device, const shim_vulkan_pipeline_params_t* params,
    shim_vulkan_pipeline_t** out_pipeline, shim_error_t* error) {
  *out_pipeline = NULL;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  status = check_params(device, params, error);
  if (status) return status;
  uint32_t slots = 0;
  status = check_layout(device, params, &slots, error);
  if (status) return status;
  shim_vulkan_pipeline_t* pipeline =
      calloc(1, sizeof(*pipeline) + slots * sizeof(pipeline->slots[0]));
  if (!pipeline) {
    return shim__no_memory(
        error, sizeof(*pipeline) + slots * sizeof(pipeline->slots[0]),
        "a pipeline");
  }
  pipeline->device = device;
  pipeline->pushed = params->push_descriptors;
  pipeline->push_constant_bytes = params->push_constant_bytes;
  number_slots(pipeline, params);
  status = check_push(pipeline, error);
  if (!status) status = create_layout(pipeline, params, error);
  if (!status) status = compile(pipeline, params, error);
  if (status) {
    shim_vulkan_pipeline_release(pipeline);
    return status;
  }
  *out_pipeline = pipeline;
  return SHIM_OK;
}

void shim_vulkan_pipeline_release(shim_vulkan_pipeline_t* pipeline) {
  if (!pipeline) return;
  shim_vulkan_device_t* device = pipeline->device;
  if (pipeline->pipeline) {
    device->table.vkDestroyPipeline(device->handle, pipeline->pipeline, NULL);
    shim__vk_count(device, SHIM_VULKAN_KIND_PIPELINES, -1);
  }
  if (pipeline->layout) {
    device->table.vkDestroyPipelineLayout(device->handle, pipeline->layout,
                                          NULL);
    shim__vk_count(device, SHIM_VULKAN_KIND_PIPELINE_LAYOUTS, -1);
  }
  for (uint32_t s = 0; s < pipeline->set_count; ++s) {
    device->table.vkDestroyDescriptorSetLayout(device->handle,
                                               pipeline->sets[s], NULL);
    shim__vk_count(device, SHIM_VULKAN_KIND_SET_LAYOUTS, -1);
  }
  free(pipeline);
}

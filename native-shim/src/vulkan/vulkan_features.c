// Features of devices: the driver structure of each, and the chain of
// structures. Calls nothing of the shim.
#include <string.h>

#include "vulkan/vulkan_internal.h"

// One row per location of a feature; features promoted to a later version have
// two.
#define IN(feature, member) \
  {SHIM_VULKAN_FEATURE_##feature, offsetof(shim__vk_features_t, member)}

static const struct {
  int32_t feature;
  size_t offset;
} places[] = {
    IN(TIMELINE_SEMAPHORE, v12.timelineSemaphore),
    IN(SYNCHRONIZATION_2, v13.synchronization2),
    IN(SYNCHRONIZATION_2, synchronization.synchronization2),
    IN(SCALAR_BLOCK_LAYOUT, v12.scalarBlockLayout),
    IN(BUFFER_DEVICE_ADDRESS, v12.bufferDeviceAddress),
    IN(SUBGROUP_SIZE_CONTROL, v13.subgroupSizeControl),
    IN(SUBGROUP_SIZE_CONTROL, subgroup.subgroupSizeControl),
    IN(COMPUTE_FULL_SUBGROUPS, v13.computeFullSubgroups),
    IN(COMPUTE_FULL_SUBGROUPS, subgroup.computeFullSubgroups),
    IN(STORAGE_BUFFER_8BIT, v12.storageBuffer8BitAccess),
    IN(UNIFORM_AND_STORAGE_BUFFER_8BIT, v12.uniformAndStorageBuffer8BitAccess),
    IN(PUSH_CONSTANT_8, v12.storagePushConstant8),
    IN(STORAGE_BUFFER_16BIT, v11.storageBuffer16BitAccess),
    IN(UNIFORM_AND_STORAGE_BUFFER_16BIT,
       v11.uniformAndStorageBuffer16BitAccess),
    IN(PUSH_CONSTANT_16, v11.storagePushConstant16),
    IN(SHADER_FLOAT16, v12.shaderFloat16),
    IN(SHADER_FLOAT64, base.features.shaderFloat64),
    IN(SHADER_INT8, v12.shaderInt8),
    IN(SHADER_INT16, base.features.shaderInt16),
    IN(SHADER_INT64, base.features.shaderInt64),
    IN(SHADER_BUFFER_INT64_ATOMICS, v12.shaderBufferInt64Atomics),
    IN(SHADER_SHARED_INT64_ATOMICS, v12.shaderSharedInt64Atomics),
    IN(INTEGER_DOT_PRODUCT, v13.shaderIntegerDotProduct),
    IN(INTEGER_DOT_PRODUCT, dot_product.shaderIntegerDotProduct),
    IN(VULKAN_MEMORY_MODEL, v12.vulkanMemoryModel),
    IN(VULKAN_MEMORY_MODEL_DEVICE_SCOPE, v12.vulkanMemoryModelDeviceScope),
    IN(VARIABLE_POINTERS_STORAGE_BUFFER, v11.variablePointersStorageBuffer),
    IN(VARIABLE_POINTERS, v11.variablePointers),
    IN(COOPERATIVE_MATRIX, cooperative_matrix.cooperativeMatrix),
    IN(STORAGE_BUFFER_UPDATE_AFTER_BIND,
       v12.descriptorBindingStorageBufferUpdateAfterBind),
    IN(UNIFORM_BUFFER_UPDATE_AFTER_BIND,
       v12.descriptorBindingUniformBufferUpdateAfterBind),
};

const char* shim_vulkan_feature_name(int32_t bit) {
  switch (bit) {
#define NAME(number, name) \
  case number:             \
    return #name;
    SHIM_VULKAN_FEATURE_MAP(NAME)
#undef NAME
    default:
      return NULL;
  }
}

static void chain(shim__vk_features_t* features, void* structure,
                  int32_t type) {
  svk_base_t* base = structure;
  base->sType = type;
  base->pNext = features->base.pNext;
  features->base.pNext = base;
}

void shim__vk_features_link(shim__vk_features_t* features, uint32_t api_version,
                            uint32_t extensions) {
  memset(features, 0, sizeof(*features));
  features->base.sType = SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  if (api_version < SVK_API_VERSION(1, 2)) return;
  chain(features, &features->v11,
        SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  chain(features, &features->v12,
        SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  if (api_version >= SVK_API_VERSION(1, 3)) {
    chain(features, &features->v13,
          SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  } else {
    if (extensions & (1u << SHIM__VK_EXTENSION_SYNCHRONIZATION_2)) {
      chain(features, &features->synchronization,
            SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
    }
    if (extensions & (1u << SHIM__VK_EXTENSION_SUBGROUP_SIZE_CONTROL)) {
      chain(features, &features->subgroup,
            SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
    }
    if (extensions & (1u << SHIM__VK_EXTENSION_INTEGER_DOT_PRODUCT)) {
      chain(
          features, &features->dot_product,
          SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
    }
  }
  if (extensions & (1u << SHIM__VK_EXTENSION_COOPERATIVE_MATRIX)) {
    chain(features, &features->cooperative_matrix,
          SVK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR);
  }
}

static svk_bool_t* place(const shim__vk_features_t* features, size_t index) {
  return (svk_bool_t*)((uintptr_t)features + places[index].offset);
}

uint64_t shim__vk_features_read(const shim__vk_features_t* features) {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
    if (*place(features, i)) bits |= 1ull << places[i].feature;
  }
  return bits;
}

void shim__vk_features_write(shim__vk_features_t* features, uint64_t bits) {
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
    if ((bits >> places[i].feature) & 1) *place(features, i) = 1;
  }
}

// Memory, buffers and pipelines of the fake.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_vulkan.h"

static const svk_base_t* find(const void* chain, int32_t type) {
  const svk_base_t* next = chain;
  while (next && next->sType != type) next = next->pNext;
  return next;
}

static int heap_of(uint32_t type) {
  return !fake_settings.unified && type > 0;
}

static bool map_file(fake_memory_t* memory) {
  memory->bytes = fake_map(memory->size, memory->fd, &memory->room);
  return memory->bytes != NULL;
}

static svk_result_t provide(fake_memory_t* memory, const void* chain) {
  const svk_import_memory_host_pointer_info_t* host = (const void*)find(
      chain, SVK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
  const svk_import_memory_fd_info_t* file =
      (const void*)find(chain, SVK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
  if (host) {
    memory->bytes = host->pHostPointer;
    memory->borrowed = true;
    return FAKE_OK;
  }
  if (file) {
    struct stat about;
    if (fstat(file->fd, &about) || (uint64_t)about.st_size != memory->size) {
      return FAKE_INVALID_EXTERNAL_HANDLE;
    }
    memory->fd = file->fd;
    if (map_file(memory)) return FAKE_OK;
    memory->fd = -1;  // still owned by the caller
    return FAKE_INVALID_EXTERNAL_HANDLE;
  }
  if (find(chain, SVK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO)) {
    memory->fd = memfd_create("fake_memory", MFD_CLOEXEC);
    return memory->fd >= 0 && !ftruncate(memory->fd, (off_t)memory->size) &&
                   map_file(memory)
               ? FAKE_OK
               : FAKE_OUT_OF_HOST_MEMORY;
  }
  memory->bytes = fake_map(memory->size, -1, &memory->room);
  return memory->bytes ? FAKE_OK : FAKE_OUT_OF_HOST_MEMORY;
}

static void free_memory(fake_memory_t* memory) {
  if (memory->bytes && !memory->borrowed) {
    fake_unmap(memory->bytes, memory->room);
  }
  if (memory->fd >= 0) close(memory->fd);
  fake_drop(FAKE_KIND_MEMORY, memory, sizeof(*memory));
}

static svk_result_t vkAllocateMemory(svk_device_t device,
                                     const svk_memory_allocate_info_t* info,
                                     const void* allocator, svk_handle_t* out) {
  (void)allocator;
  int heap = heap_of(info->memoryTypeIndex);
  svk_result_t result = FAKE_OK;
  pthread_mutex_lock(&fake_lock);
  if (fake_is_lost(device)) {
    result = fake_tell_loss(device);
  } else if (++fake_allocations == fake_settings.oom_allocation ||
             device->used[heap] + info->allocationSize >
                 fake_settings.heap_bytes) {
    result = FAKE_OUT_OF_DEVICE_MEMORY;
  } else {
    device->used[heap] += info->allocationSize;
  }
  pthread_mutex_unlock(&fake_lock);
  if (result) return result;
  fake_memory_t* memory = fake_make(FAKE_KIND_MEMORY, sizeof(*memory));
  memory->size = info->allocationSize;
  memory->type = info->memoryTypeIndex;
  memory->fd = -1;
  result = provide(memory, info->pNext);
  if (result) {
    pthread_mutex_lock(&fake_lock);
    device->used[heap] -= memory->size;
    pthread_mutex_unlock(&fake_lock);
    free_memory(memory);
    return result;
  }
  *out = (uintptr_t)memory;
  return FAKE_OK;
}

static void vkFreeMemory(svk_device_t device, svk_handle_t handle,
                         const void* allocator) {
  (void)allocator;
  fake_memory_t* memory = (fake_memory_t*)handle;
  pthread_mutex_lock(&fake_lock);
  if (fake_in_use(device, NULL, memory)) {
    fake_complain("memory in use by a submission is freed");
  }
  device->used[heap_of(memory->type)] -= memory->size;
  pthread_mutex_unlock(&fake_lock);
  free_memory(memory);
}

static svk_result_t vkMapMemory(svk_device_t device, svk_handle_t handle,
                                uint64_t offset, uint64_t size, uint32_t flags,
                                void** out) {
  (void)device, (void)size, (void)flags;
  fake_memory_t* memory = (fake_memory_t*)handle;
  if (!fake_settings.unified && memory->type == 0) {
    fake_complain("memory that is not host-visible is mapped");
  }
  *out = memory->bytes + offset;
  return FAKE_OK;
}

static svk_result_t vkGetMemoryFdKHR(svk_device_t device,
                                     const svk_memory_get_fd_info_t* info,
                                     int* out_fd) {
  (void)device;
  *out_fd = dup(((fake_memory_t*)info->memory)->fd);
  return *out_fd < 0 ? FAKE_OUT_OF_HOST_MEMORY : FAKE_OK;
}

static svk_result_t vkGetMemoryHostPointerPropertiesEXT(
    svk_device_t device, uint32_t handle_type, const void* address,
    svk_memory_host_pointer_properties_t* out) {
  (void)device, (void)handle_type, (void)address;
  out->memoryTypeBits = fake_settings.unified ? 1 : 6;
  return FAKE_OK;
}

static svk_result_t vkCreateBuffer(svk_device_t device,
                                   const svk_buffer_create_info_t* info,
                                   const void* allocator, svk_handle_t* out) {
  (void)device, (void)allocator;
  fake_buffer_t* buffer = fake_make(FAKE_KIND_BUFFER, sizeof(*buffer));
  buffer->generation = fake_generation();
  buffer->size = info->size;
  *out = (uintptr_t)buffer;
  return FAKE_OK;
}

static void vkDestroyBuffer(svk_device_t device, svk_handle_t handle,
                            const void* allocator) {
  (void)allocator;
  pthread_mutex_lock(&fake_lock);
  if (fake_in_use(device, (fake_buffer_t*)handle, NULL)) {
    fake_complain("a buffer in use by a submission is destroyed");
  }
  pthread_mutex_unlock(&fake_lock);
  fake_drop(FAKE_KIND_BUFFER, (fake_buffer_t*)handle, sizeof(fake_buffer_t));
}

static void vkGetBufferMemoryRequirements(svk_device_t device,
                                          svk_handle_t handle,
                                          svk_memory_requirements_t* out) {
  (void)device;
  out->size = (((fake_buffer_t*)handle)->size + 63) / 64 * 64;
  out->alignment = 64;
  out->memoryTypeBits = fake_settings.unified ? 1 : 7;
}

static svk_result_t vkBindBufferMemory(svk_device_t device,
                                       svk_handle_t buffer,
                                       svk_handle_t memory, uint64_t offset) {
  (void)device, (void)offset;
  ((fake_buffer_t*)buffer)->memory = (fake_memory_t*)memory;
  return FAKE_OK;
}

static uint64_t vkGetBufferDeviceAddress(
    svk_device_t device, const svk_buffer_device_address_info_t* info) {
  (void)device;
  return (uintptr_t)((fake_buffer_t*)info->buffer)->memory->bytes;
}

//===--------------------------------------------------------------------===//
// Pipelines
//===--------------------------------------------------------------------===//

typedef struct module_t {
  size_t word_count;
  uint32_t* words;
} module_t;

static svk_result_t vkCreateShaderModule(
    svk_device_t device, const svk_shader_module_create_info_t* info,
    const void* allocator, svk_handle_t* out) {
  (void)device, (void)allocator;
  module_t* module = fake_make(FAKE_KIND_SHADER_MODULE, sizeof(*module));
  module->words = malloc(info->codeSize);
  module->word_count = info->codeSize / 4;
  memcpy(module->words, info->pCode, info->codeSize);
  *out = (uintptr_t)module;
  return FAKE_OK;
}

static void vkDestroyShaderModule(svk_device_t device, svk_handle_t handle,
                                  const void* allocator) {
  (void)device, (void)allocator;
  module_t* module = (module_t*)handle;
  free(module->words);
  fake_drop(FAKE_KIND_SHADER_MODULE, module, sizeof(*module));
}

static const uint8_t cache_header[32] = {
    32, 0, 0, 0, 1, 0, 0, 0, 0x4E, 0xFA, 0, 0, 0, 0, 0, 0,
    0xFA, 0xFA, 0xFA, 0xFA, 0xFA, 0xFA, 0xFA, 0xFA,
    0xFA, 0xFA, 0xFA, 0xFA, 0xFA, 0xFA, 0xFA, 0xFA};

static svk_result_t vkCreatePipelineCache(
    svk_device_t device, const svk_pipeline_cache_create_info_t* info,
    const void* allocator, svk_handle_t* out) {
  (void)info, (void)allocator;
  uint8_t* data = fake_make(FAKE_KIND_PIPELINE_CACHE, sizeof(cache_header));
  memcpy(data, cache_header, sizeof(cache_header));
  data[12] = (uint8_t)device->physical->index;
  *out = (uintptr_t)data;
  return FAKE_OK;
}

static void vkDestroyPipelineCache(svk_device_t device, svk_handle_t cache,
                                   const void* allocator) {
  (void)device, (void)allocator;
  fake_drop(FAKE_KIND_PIPELINE_CACHE, (uint8_t*)cache, sizeof(cache_header));
}

static svk_result_t vkGetPipelineCacheData(svk_device_t device,
                                           svk_handle_t cache, size_t* size,
                                           void* out) {
  (void)device;
  if (out) memcpy(out, (uint8_t*)cache, sizeof(cache_header));
  *size = sizeof(cache_header);
  return FAKE_OK;
}

static svk_result_t vkCreateComputePipelines(
    svk_device_t device, svk_handle_t cache, uint32_t count,
    const svk_compute_pipeline_create_info_t* infos, const void* allocator,
    svk_handle_t* out) {
  (void)device, (void)cache, (void)count, (void)allocator;
  const module_t* module = (const module_t*)infos->stage.module;
  const svk_specialization_info_t* constants =
      infos->stage.pSpecializationInfo;
  fake_pipeline_t* pipeline = fake_make(FAKE_KIND_PIPELINE, sizeof(*pipeline));
  pipeline->generation = fake_generation();
  pipeline->code = malloc(module->word_count * 4);
  memcpy(pipeline->code, module->words, module->word_count * 4);
  pipeline->word_count = module->word_count;
  snprintf(pipeline->entry_point, sizeof(pipeline->entry_point), "%s",
           infos->stage.pName);
  for (uint32_t i = 0; constants && i < constants->mapEntryCount && i < 64;
       ++i) {
    const svk_specialization_map_entry_t* entry = &constants->pMapEntries[i];
    pipeline->constant_ids[i] = entry->constantID;
    memcpy(&pipeline->constants[i],
           (const uint8_t*)constants->pData + entry->offset, 4);
    pipeline->constant_count = i + 1;
  }
  *out = (uintptr_t)pipeline;
  return FAKE_OK;
}

static void vkDestroyPipeline(svk_device_t device, svk_handle_t handle,
                              const void* allocator) {
  (void)device, (void)allocator;
  fake_pipeline_t* pipeline = (fake_pipeline_t*)handle;
  free(pipeline->code);
  fake_drop(FAKE_KIND_PIPELINE, pipeline, sizeof(*pipeline));
}

static svk_result_t vkCreatePipelineLayout(
    svk_device_t device, const svk_pipeline_layout_create_info_t* info,
    const void* allocator, svk_handle_t* out) {
  (void)device, (void)info, (void)allocator;
  *out = (uintptr_t)fake_make(FAKE_KIND_PIPELINE_LAYOUT, 1);
  return FAKE_OK;
}

static void vkDestroyPipelineLayout(svk_device_t device, svk_handle_t layout,
                                    const void* allocator) {
  (void)device, (void)allocator;
  fake_drop(FAKE_KIND_PIPELINE_LAYOUT, (void*)layout, 1);
}

svk_function_t fake_object_function(const char* name) {
  FAKE_FUNCTION(vkAllocateMemory);
  FAKE_FUNCTION(vkFreeMemory);
  FAKE_FUNCTION(vkMapMemory);
  FAKE_FUNCTION(vkGetMemoryFdKHR);
  FAKE_FUNCTION(vkGetMemoryHostPointerPropertiesEXT);
  FAKE_FUNCTION(vkCreateBuffer);
  FAKE_FUNCTION(vkDestroyBuffer);
  FAKE_FUNCTION(vkGetBufferMemoryRequirements);
  FAKE_FUNCTION(vkBindBufferMemory);
  FAKE_FUNCTION(vkGetBufferDeviceAddress);
  FAKE_FUNCTION(vkCreateShaderModule);
  FAKE_FUNCTION(vkDestroyShaderModule);
  FAKE_FUNCTION(vkCreatePipelineCache);
  FAKE_FUNCTION(vkDestroyPipelineCache);
  FAKE_FUNCTION(vkGetPipelineCacheData);
  FAKE_FUNCTION(vkCreateComputePipelines);
  FAKE_FUNCTION(vkDestroyPipeline);
  FAKE_FUNCTION(vkCreatePipelineLayout);
  FAKE_FUNCTION(vkDestroyPipelineLayout);
  return NULL;
}

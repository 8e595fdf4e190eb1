// Recorded commands: a command buffer with a pool of its own, the descriptor
// sets of its dispatches, and, when it has some, the words it was recorded
// from. Calls vulkan_words.c.
//
// Recording reads the words twice: first to check and count, so that nothing
// is touched when they do not add up and one descriptor pool is large enough;
// then to record.
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_words.h"

// A dispatch with descriptor sets.
typedef struct bound_t {
  uint32_t ordinal;  // among all dispatches
  const shim_vulkan_pipeline_t* pipeline;
  size_t bindings;  // index of its first binding in the words
  size_t sets;      // index of its first set
} bound_t;

// What a recording needs, or what there is room for.
typedef struct totals_t {
  size_t bound;
  size_t sets;
  size_t pool_sets;  // of the descriptor pool
  size_t storage;
  size_t uniform;
  size_t bindings;  // of the dispatch with most
} totals_t;

struct shim_vulkan_commands_t {
  shim_vulkan_device_t* device;
  svk_handle_t pool;
  svk_command_buffer_t buffer;
  bool recorded;
  bool stale;  // words were changed since
  svk_handle_t descriptor_pool;
  totals_t room;
  totals_t used;
  bound_t* bound;
  svk_handle_t* sets;
  svk_descriptor_buffer_info_t* infos;
  svk_write_descriptor_set_t* writes;
  uint64_t* words;  // kept when there are descriptor sets
  size_t word_count;
  size_t word_room;
};

shim_status_t shim_vulkan_commands_create(
    shim_vulkan_device_t* device, uint32_t family,
    shim_vulkan_commands_t** out_commands, shim_error_t* error) {
  *out_commands = NULL;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  bool known = false;
  for (uint32_t i = 0; i < device->queue_count; ++i) {
    known |= device->queues[i].family == family;
  }
  if (!known) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "device '%s' was opened without a queue of family %u",
                          device->physical->info.name, family);
  }
  shim_vulkan_commands_t* commands = calloc(1, sizeof(*commands));
  if (!commands) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0, "out of memory");
  }
  commands->device = device;
  svk_command_pool_create_info_t pool_info = {
      .sType = SVK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .queueFamilyIndex = family,
  };
  svk_result_t result = device->table.vkCreateCommandPool(
      device->handle, &pool_info, NULL, &commands->pool);
  if (result < 0) {
    free(commands);
    return shim__vk_fail(device, result, error, "vkCreateCommandPool");
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_COMMAND_POOLS, 1);
  svk_command_buffer_allocate_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = commands->pool,
      .commandBufferCount = 1,
  };
  result = device->table.vkAllocateCommandBuffers(device->handle, &info,
                                                  &commands->buffer);
  if (result < 0) {
    shim_vulkan_commands_release(commands);
    return shim__vk_fail(device, result, error, "vkAllocateCommandBuffers");
  }
  *out_commands = commands;
  return SHIM_OK;
}

static void release_descriptor_pool(shim_vulkan_commands_t* commands) {
  if (!commands->descriptor_pool) return;
  shim_vulkan_device_t* device = commands->device;
  device->table.vkDestroyDescriptorPool(device->handle,
                                        commands->descriptor_pool, NULL);
  shim__vk_count(device, SHIM_VULKAN_KIND_DESCRIPTOR_POOLS, -1);
  commands->descriptor_pool = 0;
}

void shim_vulkan_commands_release(shim_vulkan_commands_t* commands) {
  if (!commands) return;
  shim_vulkan_device_t* device = commands->device;
  release_descriptor_pool(commands);
  // Takes the command buffer along.
  device->table.vkDestroyCommandPool(device->handle, commands->pool, NULL);
  shim__vk_count(device, SHIM_VULKAN_KIND_COMMAND_POOLS, -1);
  free(commands->bound);
  free(commands->sets);
  free(commands->infos);
  free(commands->writes);
  free(commands->words);
  free(commands);
}

svk_command_buffer_t shim__vk_commands_handle(
    const shim_vulkan_commands_t* commands) {
  return commands->buffer;
}

//===--------------------------------------------------------------------===//
// Room
//===--------------------------------------------------------------------===//

static shim_status_t count(const shim_vulkan_device_t* device,
                           const uint64_t* words, size_t word_count,
                           totals_t* out, shim_error_t* error) {
  *out = (totals_t){0};
  size_t at = 0;
  for (uint32_t number = 0; at < word_count; ++number) {
    shim__vk_operation_t operation;
    shim_status_t status = shim__vk_operation_read(
        device, words, word_count, number, &at, &operation, error);
    if (status) return status;
    if (!shim__vk_is_dispatch(&operation)) continue;
    if (operation.binding_count > out->bindings) {
      out->bindings = operation.binding_count;
    }
    if (operation.mode != SHIM_VULKAN_MODE_SETS) continue;
    ++out->bound;
    out->sets += operation.pipeline->set_count;
    out->storage += operation.pipeline->storage_count;
    out->uniform += operation.pipeline->uniform_count;
  }
  return SHIM_OK;
}

// Grows |*array| to |wanted| elements; what is in it is lost.
static bool grow(void* array, size_t* room, size_t wanted, size_t size) {
  if (wanted <= *room) return true;
  void** pointer = array;
  free(*pointer);
  *pointer = calloc(wanted, size);
  *room = *pointer ? wanted : 0;
  return *pointer != NULL;
}

static shim_status_t make_pool(shim_vulkan_commands_t* commands,
                               const totals_t* needs, shim_error_t* error) {
  shim_vulkan_device_t* device = commands->device;
  if (commands->descriptor_pool && needs->sets <= commands->room.pool_sets &&
      needs->storage <= commands->room.storage &&
      needs->uniform <= commands->room.uniform) {
    svk_result_t result = device->table.vkResetDescriptorPool(
        device->handle, commands->descriptor_pool, 0);
    return result < 0 ? shim__vk_fail(device, result, error,
                                      "vkResetDescriptorPool")
                      : SHIM_OK;
  }
  release_descriptor_pool(commands);
  commands->room.pool_sets = needs->sets;
  commands->room.storage = needs->storage;
  commands->room.uniform = needs->uniform;
  svk_descriptor_pool_size_t sizes[] = {
      {SVK_DESCRIPTOR_TYPE_STORAGE_BUFFER, (uint32_t)needs->storage + 1},
      {SVK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, (uint32_t)needs->uniform + 1},
  };
  bool late =
      shim__vk_has(device,
                   SHIM_VULKAN_FEATURE_STORAGE_BUFFER_UPDATE_AFTER_BIND) ||
      shim__vk_has(device,
                   SHIM_VULKAN_FEATURE_UNIFORM_BUFFER_UPDATE_AFTER_BIND);
  svk_descriptor_pool_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .flags = late ? SVK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT : 0,
      .maxSets = (uint32_t)needs->sets,
      .poolSizeCount = 2,
      .pPoolSizes = sizes,
  };
  svk_result_t result = device->table.vkCreateDescriptorPool(
      device->handle, &info, NULL, &commands->descriptor_pool);
  if (result < 0) {
    commands->descriptor_pool = 0;
    return shim__vk_fail(device, result, error,
                         "vkCreateDescriptorPool of %zu sets", needs->sets);
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_DESCRIPTOR_POOLS, 1);
  return SHIM_OK;
}

static shim_status_t make_room(shim_vulkan_commands_t* commands,
                               const totals_t* needs, shim_error_t* error) {
  if (needs->sets > UINT16_MAX * 16 || needs->storage > UINT32_MAX / 2 ||
      needs->uniform > UINT32_MAX / 2) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                          "a recording with %zu descriptor sets", needs->sets);
  }
  if (needs->sets) {
    shim_status_t status = make_pool(commands, needs, error);
    if (status) return status;
  }
  totals_t* room = &commands->room;
  size_t write_room = room->bindings;
  if (!grow(&commands->bound, &room->bound, needs->bound,
            sizeof(*commands->bound)) ||
      !grow(&commands->sets, &room->sets, needs->sets,
            sizeof(*commands->sets)) ||
      !grow(&commands->infos, &room->bindings, needs->bindings,
            sizeof(*commands->infos)) ||
      !grow(&commands->writes, &write_room, needs->bindings,
            sizeof(*commands->writes))) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0, "out of memory");
  }
  return SHIM_OK;
}

//===--------------------------------------------------------------------===//
// Recording
//===--------------------------------------------------------------------===//

// Describes the bindings of a dispatch; |sets| is NULL for pushed ones.
static void describe(shim_vulkan_commands_t* commands,
                     const shim_vulkan_pipeline_t* pipeline,
                     const uint64_t* bindings, const svk_handle_t* sets) {
  for (uint32_t i = 0; i < pipeline->slot_count; ++i, bindings += 3) {
    const shim__vk_slot_t* slot = &pipeline->slots[i];
    commands->infos[i] = (svk_descriptor_buffer_info_t){
        .buffer = bindings[0], .offset = bindings[1], .range = bindings[2]};
    commands->writes[i] = (svk_write_descriptor_set_t){
        .sType = SVK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = sets ? sets[slot->set] : 0,
        .dstBinding = slot->binding,
        .dstArrayElement = slot->element,
        .descriptorCount = 1,
        .descriptorType = slot->type,
        .pBufferInfo = &commands->infos[i],
    };
  }
}

static shim_status_t record_sets(shim_vulkan_commands_t* commands,
                                 const shim__vk_operation_t* operation,
                                 uint32_t ordinal, size_t bindings,
                                 shim_error_t* error) {
  shim_vulkan_device_t* device = commands->device;
  const shim_vulkan_pipeline_t* pipeline = operation->pipeline;
  svk_handle_t* sets = commands->sets + commands->used.sets;
  commands->bound[commands->used.bound++] =
      (bound_t){ordinal, pipeline, bindings, commands->used.sets};
  if (!pipeline->set_count) return SHIM_OK;
  svk_descriptor_set_allocate_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = commands->descriptor_pool,
      .descriptorSetCount = pipeline->set_count,
      .pSetLayouts = pipeline->sets,
  };
  svk_result_t result =
      device->table.vkAllocateDescriptorSets(device->handle, &info, sets);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkAllocateDescriptorSets");
  }
  commands->used.sets += pipeline->set_count;
  describe(commands, pipeline, operation->bindings, sets);
  device->table.vkUpdateDescriptorSets(device->handle, pipeline->slot_count,
                                       commands->writes, 0, NULL);
  device->table.vkCmdBindDescriptorSets(
      commands->buffer, SVK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0,
      pipeline->set_count, sets, 0, NULL);
  return SHIM_OK;
}

static shim_status_t record_dispatch(shim_vulkan_commands_t* commands,
                                     const uint64_t* words,
                                     const shim__vk_operation_t* operation,
                                     uint32_t ordinal,
                                     const shim_vulkan_pipeline_t** bound,
                                     shim_error_t* error) {
  const shim__vk_device_table_t* table = &commands->device->table;
  const shim_vulkan_pipeline_t* pipeline = operation->pipeline;
  if (*bound != pipeline) {
    table->vkCmdBindPipeline(commands->buffer, SVK_PIPELINE_BIND_POINT_COMPUTE,
                             pipeline->pipeline);
    *bound = pipeline;
  }
  if (operation->mode == SHIM_VULKAN_MODE_SETS) {
    shim_status_t status =
        record_sets(commands, operation, ordinal,
                    (size_t)(operation->bindings - words), error);
    if (status) return status;
  } else if (operation->mode == SHIM_VULKAN_MODE_PUSH &&
             pipeline->slot_count) {
    describe(commands, pipeline, operation->bindings, NULL);
    table->vkCmdPushDescriptorSetKHR(
        commands->buffer, SVK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout,
        pipeline->slots[0].set, pipeline->slot_count, commands->writes);
  }
  if (operation->push_bytes) {
    table->vkCmdPushConstants(commands->buffer, pipeline->layout,
                              SVK_SHADER_STAGE_COMPUTE_BIT,
                              operation->push_offset, operation->push_bytes,
                              operation->push);
  }
  const uint64_t* target = operation->target;
  if (operation->code == SHIM_VULKAN_OP_DISPATCH) {
    table->vkCmdDispatch(commands->buffer, (uint32_t)target[0],
                         (uint32_t)target[1], (uint32_t)target[2]);
  } else {
    table->vkCmdDispatchIndirect(commands->buffer, target[0], target[1]);
  }
  return SHIM_OK;
}

static void record_transfer(shim_vulkan_commands_t* commands,
                            const shim__vk_operation_t* operation) {
  const shim__vk_device_table_t* table = &commands->device->table;
  const uint64_t* o = operation->operands;
  switch (operation->code) {
    case SHIM_VULKAN_OP_BARRIER: {
      svk_memory_barrier_2_t barrier = {
          .sType = SVK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
          .srcStageMask = o[0],
          .srcAccessMask = o[1],
          .dstStageMask = o[2],
          .dstAccessMask = o[3],
      };
      svk_dependency_info_t info = {
          .sType = SVK_STRUCTURE_TYPE_DEPENDENCY_INFO,
          .memoryBarrierCount = 1,
          .pMemoryBarriers = &barrier,
      };
      table->vkCmdPipelineBarrier2(commands->buffer, &info);
      break;
    }
    case SHIM_VULKAN_OP_FILL:
      table->vkCmdFillBuffer(commands->buffer, o[0], o[1], o[2],
                             (uint32_t)o[3]);
      break;
    case SHIM_VULKAN_OP_COPY: {
      svk_buffer_copy_t region = {o[1], o[3], o[4]};
      table->vkCmdCopyBuffer(commands->buffer, o[0], o[2], 1, &region);
      break;
    }
    default:  // update: no other operation has operands
      table->vkCmdUpdateBuffer(commands->buffer, o[0], o[1], o[2], o + 3);
  }
}

static shim_status_t record_all(shim_vulkan_commands_t* commands,
                                const uint64_t* words, size_t word_count,
                                shim_error_t* error) {
  size_t at = 0;
  uint32_t dispatches = 0;
  const shim_vulkan_pipeline_t* bound = NULL;
  commands->used = (totals_t){0};
  for (uint32_t number = 0; at < word_count; ++number) {
    shim__vk_operation_t operation;
    shim_status_t status =
        shim__vk_operation_read(commands->device, words, word_count, number,
                                &at, &operation, error);
    if (status) return status;
    if (!shim__vk_is_dispatch(&operation)) {
      record_transfer(commands, &operation);
      continue;
    }
    status = record_dispatch(commands, words, &operation, dispatches++, &bound,
                             error);
    if (status) return status;
  }
  return SHIM_OK;
}

// Records words that were checked and have their room.
static shim_status_t record(shim_vulkan_commands_t* commands,
                            const uint64_t* words, size_t word_count,
                            shim_error_t* error) {
  shim_vulkan_device_t* device = commands->device;
  commands->recorded = false;
  svk_result_t result =
      device->table.vkResetCommandPool(device->handle, commands->pool, 0);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkResetCommandPool");
  }
  svk_command_buffer_begin_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
      .flags = SVK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
  };
  result = device->table.vkBeginCommandBuffer(commands->buffer, &info);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkBeginCommandBuffer");
  }
  shim_status_t status = record_all(commands, words, word_count, error);
  result = device->table.vkEndCommandBuffer(commands->buffer);
  if (status) return status;
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkEndCommandBuffer");
  }
  commands->recorded = true;
  commands->stale = false;
  return SHIM_OK;
}

shim_status_t shim_vulkan_commands_record(shim_vulkan_commands_t* commands,
                                          const uint64_t* words,
                                          size_t word_count,
                                          shim_error_t* error) {
  shim_status_t status = shim__vk_check(commands->device, error);
  if (status) return status;
  totals_t needs;
  status = count(commands->device, words, word_count, &needs, error);
  if (status) return status;
  commands->recorded = false;
  status = make_room(commands, &needs, error);
  if (status) return status;
  commands->word_count = 0;
  if (needs.bound) {
    if (!grow(&commands->words, &commands->word_room, word_count,
              sizeof(*words))) {
      return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0, "out of memory");
    }
    memcpy(commands->words, words, word_count * sizeof(*words));
    commands->word_count = word_count;
    words = commands->words;
  }
  return record(commands, words, word_count, error);
}

shim_status_t shim__vk_commands_flush(shim_vulkan_commands_t* commands,
                                      shim_error_t* error) {
  if (!commands->recorded && !commands->stale) {
    return shim_error_set(error, SHIM_FAILED_PRECONDITION, 0,
                          "commands are submitted that were not recorded");
  }
  if (!commands->stale) return SHIM_OK;
  shim_vulkan_device_t* device = commands->device;
  svk_result_t result = device->table.vkResetDescriptorPool(
      device->handle, commands->descriptor_pool, 0);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkResetDescriptorPool");
  }
  return record(commands, commands->words, commands->word_count, error);
}

shim_status_t shim_vulkan_commands_bind(shim_vulkan_commands_t* commands,
                                        uint32_t ordinal,
                                        const uint64_t* words,
                                        size_t word_count,
                                        shim_error_t* error) {
  shim_vulkan_device_t* device = commands->device;
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  // Sorted by ordinal, as they were recorded.
  const bound_t* bound = NULL;
  for (size_t low = 0, high = commands->used.bound; low < high && !bound;) {
    size_t middle = low + (high - low) / 2;
    const bound_t* candidate = &commands->bound[middle];
    if (candidate->ordinal == ordinal) bound = candidate;
    if (candidate->ordinal < ordinal) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (!commands->recorded || !bound) {
    return shim_error_set(error, SHIM_FAILED_PRECONDITION, 0,
                          "dispatch %u was not recorded with descriptor sets",
                          ordinal);
  }
  if (word_count != 3 * (size_t)bound->pipeline->slot_count) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "%zu words for the %u bindings of dispatch %u",
                          word_count, bound->pipeline->slot_count, ordinal);
  }
  status = shim__vk_bindings_check(bound->pipeline, words,
                                   bound->pipeline->slot_count, ordinal, error);
  if (status) return status;
  memcpy(commands->words + bound->bindings, words, word_count * sizeof(*words));
  if (!bound->pipeline->late) {
    commands->stale = true;
    return SHIM_OK;
  }
  describe(commands, bound->pipeline, words, commands->sets + bound->sets);
  device->table.vkUpdateDescriptorSets(device->handle,
                                       bound->pipeline->slot_count,
                                       commands->writes, 0, NULL);
  return SHIM_OK;
}

// Recorded commands: a command buffer with its own pool, the descriptor sets of
// its dispatches, and, if it has sets, the words it was recorded from. Calls
// vulkan_room.c and vulkan_words.c.
//
// Recording reads the words twice: first to check and count, so that nothing
// changes when they are malformed or there is no room for them; then to record.
#include <stdlib.h>
#include <string.h>

#include "vulkan/vulkan_room.h"
#include "vulkan/vulkan_words.h"

// With descriptor sets, |room| has the words they were recorded from; |stale|
// means that words changed since, and that the next submission records again.
struct shim_vulkan_commands_t {
  shim_vulkan_device_t* device;
  svk_handle_t pool;
  svk_command_buffer_t buffer;
  bool recorded;
  bool stale;
  size_t bound_count;
  size_t word_count;
  shim__vk_room_t room;
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
    return shim__no_memory(error, sizeof(*commands), "commands");
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

void shim_vulkan_commands_release(shim_vulkan_commands_t* commands) {
  if (!commands) return;
  shim_vulkan_device_t* device = commands->device;
  shim__vk_room_release(device, &commands->room);
  // Frees the command buffer too.
  device->table.vkDestroyCommandPool(device->handle, commands->pool, NULL);
  shim__vk_count(device, SHIM_VULKAN_KIND_COMMAND_POOLS, -1);
  free(commands);
}

svk_command_buffer_t shim__vk_commands_handle(
    const shim_vulkan_commands_t* commands) {
  return commands->buffer;
}

//===--------------------------------------------------------------------===//
// Recording
//===--------------------------------------------------------------------===//

static shim_status_t count(const shim_vulkan_device_t* device,
                           const uint64_t* words, size_t word_count,
                           shim__vk_totals_t* out, shim_error_t* error) {
  *out = (shim__vk_totals_t){0};
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
  if (out->bound) out->words = word_count;
  return SHIM_OK;
}

// Describes the bindings of a dispatch; |sets| is NULL for pushed ones.
static void describe(shim_vulkan_commands_t* commands,
                     const shim_vulkan_pipeline_t* pipeline,
                     const uint64_t* bindings, const svk_handle_t* sets) {
  for (uint32_t i = 0; i < pipeline->slot_count; ++i, bindings += 3) {
    const shim__vk_slot_t* slot = &pipeline->slots[i];
    commands->room.infos[i] = (svk_descriptor_buffer_info_t){
        .buffer = bindings[0], .offset = bindings[1], .range = bindings[2]};
    commands->room.writes[i] = (svk_write_descriptor_set_t){
        .sType = SVK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = sets ? sets[slot->set] : 0,
        .dstBinding = slot->binding,
        .dstArrayElement = slot->element,
        .descriptorCount = 1,
        .descriptorType = slot->type,
        .pBufferInfo = &commands->room.infos[i],
    };
  }
}

// The progress of a recording.
typedef struct progress_t {
  uint32_t dispatches;
  size_t bound;
  size_t sets;
  const shim_vulkan_pipeline_t* pipeline;  // currently bound
} progress_t;

static shim_status_t record_sets(shim_vulkan_commands_t* commands,
                                 const shim__vk_operation_t* operation,
                                 uint32_t ordinal, size_t bindings,
                                 progress_t* progress, shim_error_t* error) {
  shim_vulkan_device_t* device = commands->device;
  const shim_vulkan_pipeline_t* pipeline = operation->pipeline;
  svk_handle_t* sets = commands->room.sets + progress->sets;
  commands->room.bound[progress->bound++] =
      (shim__vk_bound_t){ordinal, pipeline, bindings, progress->sets};
  if (!pipeline->set_count) return SHIM_OK;
  svk_descriptor_set_allocate_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = commands->room.pool,
      .descriptorSetCount = pipeline->set_count,
      .pSetLayouts = pipeline->sets,
  };
  svk_result_t result =
      device->table.vkAllocateDescriptorSets(device->handle, &info, sets);
  if (result < 0) {
    return shim__vk_fail(device, result, error, "vkAllocateDescriptorSets");
  }
  progress->sets += pipeline->set_count;
  describe(commands, pipeline, operation->bindings, sets);
  device->table.vkUpdateDescriptorSets(device->handle, pipeline->slot_count,
                                       commands->room.writes, 0, NULL);
  device->table.vkCmdBindDescriptorSets(
      commands->buffer, SVK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0,
      pipeline->set_count, sets, 0, NULL);
  return SHIM_OK;
}

static shim_status_t record_dispatch(shim_vulkan_commands_t* commands,
                                     const uint64_t* words,
                                     const shim__vk_operation_t* operation,
                                     progress_t* progress,
                                     shim_error_t* error) {
  const shim__vk_device_table_t* table = &commands->device->table;
  const shim_vulkan_pipeline_t* pipeline = operation->pipeline;
  const uint32_t ordinal = progress->dispatches++;
  if (progress->pipeline != pipeline) {
    table->vkCmdBindPipeline(commands->buffer, SVK_PIPELINE_BIND_POINT_COMPUTE,
                             pipeline->pipeline);
    progress->pipeline = pipeline;
  }
  if (operation->mode == SHIM_VULKAN_MODE_SETS) {
    shim_status_t status =
        record_sets(commands, operation, ordinal,
                    (size_t)(operation->bindings - words), progress, error);
    if (status) return status;
  } else if (operation->mode == SHIM_VULKAN_MODE_PUSH &&
             pipeline->slot_count) {
    describe(commands, pipeline, operation->bindings, NULL);
    table->vkCmdPushDescriptorSetKHR(
        commands->buffer, SVK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout,
        pipeline->slots[0].set, pipeline->slot_count, commands->room.writes);
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
    default:  // update: the only other operation with operands
      table->vkCmdUpdateBuffer(commands->buffer, o[0], o[1], o[2], o + 3);
  }
}

static shim_status_t record_all(shim_vulkan_commands_t* commands,
                                const uint64_t* words, size_t word_count,
                                shim_error_t* error) {
  size_t at = 0;
  progress_t progress = {0};
  for (uint32_t number = 0; at < word_count; ++number) {
    shim__vk_operation_t operation;
    shim_status_t status =
        shim__vk_operation_read(commands->device, words, word_count, number,
                                &at, &operation, error);
    if (!status && shim__vk_is_dispatch(&operation)) {
      status = record_dispatch(commands, words, &operation, &progress, error);
    } else if (!status) {
      record_transfer(commands, &operation);
    }
    if (status) return status;
  }
  commands->bound_count = progress.bound;
  return SHIM_OK;
}

// Records checked words that have room.
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
  if (commands->room.pool) {
    result = device->table.vkResetDescriptorPool(device->handle,
                                                 commands->room.pool, 0);
    if (result < 0) {
      return shim__vk_fail(device, result, error, "vkResetDescriptorPool");
    }
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
  shim__vk_totals_t needs;
  status = count(commands->device, words, word_count, &needs, error);
  if (status) return status;
  status = shim__vk_room_grow(commands->device, &commands->room, &needs, error);
  if (status) return status;
  // This discards the previous recording.
  commands->recorded = false;
  commands->stale = false;
  commands->bound_count = 0;
  commands->word_count = needs.words;
  if (needs.words) {
    memcpy(commands->room.words, words, word_count * sizeof(*words));
    words = commands->room.words;
  }
  return record(commands, words, word_count, error);
}

// A failure leaves the words and bindings unchanged, to be recorded by the next
// submission.
shim_status_t shim__vk_commands_flush(shim_vulkan_commands_t* commands,
                                      shim_error_t* error) {
  if (!commands->recorded && !commands->stale) {
    return shim_error_set(error, SHIM_FAILED_PRECONDITION, 0,
                          "the submitted commands were not recorded");
  }
  return commands->stale ? record(commands, commands->room.words,
                                  commands->word_count, error)
                         : SHIM_OK;
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
  const shim__vk_bound_t* bound = NULL;
  for (size_t low = 0, high = commands->bound_count; low < high && !bound;) {
    size_t middle = low + (high - low) / 2;
    const shim__vk_bound_t* candidate = &commands->room.bound[middle];
    if (candidate->ordinal == ordinal) bound = candidate;
    if (candidate->ordinal < ordinal) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if ((!commands->recorded && !commands->stale) || !bound) {
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
  memcpy(commands->room.words + bound->bindings, words,
         word_count * sizeof(*words));
  // Stale sets may be gone: recording may have failed partway.
  if (!bound->pipeline->late || commands->stale) {
    commands->stale = true;
    return SHIM_OK;
  }
  describe(commands, bound->pipeline, words,
           commands->room.sets + bound->sets);
  device->table.vkUpdateDescriptorSets(device->handle,
                                       bound->pipeline->slot_count,
                                       commands->room.writes, 0, NULL);
  return SHIM_OK;
}

// Descriptors and recorded commands of the fake, and running them.
#include <stdlib.h>
#include <string.h>

#include "fake_queue.h"

//===--------------------------------------------------------------------===//
// Descriptors
//===--------------------------------------------------------------------===//

static svk_result_t vkCreateDescriptorSetLayout(
    svk_device_t device, const svk_descriptor_set_layout_create_info_t* info,
    const void* allocator, svk_handle_t* out) {
  (void)device, (void)allocator;
  fake_set_layout_t* layout =
      fake_make(FAKE_KIND_SET_LAYOUT, sizeof(*layout));
  layout->late = info->flags &
                 SVK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
  *out = (uintptr_t)layout;
  return FAKE_OK;
}

static void vkDestroyDescriptorSetLayout(svk_device_t device,
                                         svk_handle_t layout,
                                         const void* allocator) {
  (void)device, (void)allocator;
  fake_drop(FAKE_KIND_SET_LAYOUT, (fake_set_layout_t*)layout,
            sizeof(fake_set_layout_t));
}

static svk_result_t vkCreateDescriptorPool(
    svk_device_t device, const svk_descriptor_pool_create_info_t* info,
    const void* allocator, svk_handle_t* out) {
  (void)device, (void)info, (void)allocator;
  *out = (uintptr_t)fake_make(FAKE_KIND_DESCRIPTOR_POOL, sizeof(fake_pool_t));
  return FAKE_OK;
}

static svk_result_t vkResetDescriptorPool(svk_device_t device,
                                          svk_handle_t handle,
                                          uint32_t flags) {
  (void)device, (void)flags;
  fake_pool_t* pool = (fake_pool_t*)handle;
  while (pool->sets) {
    fake_set_t* set = pool->sets;
    pool->sets = set->next;
    fake_drop(FAKE_KIND_SET, set, sizeof(*set));
  }
  return FAKE_OK;
}

static void vkDestroyDescriptorPool(svk_device_t device, svk_handle_t pool,
                                    const void* allocator) {
  (void)allocator;
  vkResetDescriptorPool(device, pool, 0);
  fake_drop(FAKE_KIND_DESCRIPTOR_POOL, (fake_pool_t*)pool, sizeof(fake_pool_t));
}

static svk_result_t vkAllocateDescriptorSets(
    svk_device_t device, const svk_descriptor_set_allocate_info_t* info,
    svk_handle_t* out) {
  (void)device;
  fake_pool_t* pool = (fake_pool_t*)info->descriptorPool;
  for (uint32_t i = 0; i < info->descriptorSetCount; ++i) {
    fake_set_t* set = fake_make(FAKE_KIND_SET, sizeof(*set));
    set->generation = fake_generation();
    set->late = ((const fake_set_layout_t*)info->pSetLayouts[i])->late;
    set->next = pool->sets;
    pool->sets = set;
    out[i] = (uintptr_t)set;
  }
  return FAKE_OK;
}

static void write_descriptor(fake_set_t* set,
                             const svk_write_descriptor_set_t* write) {
  uint32_t i = 0;
  while (i < set->count &&
         (set->descriptors[i].binding != write->dstBinding ||
          set->descriptors[i].element != write->dstArrayElement)) {
    ++i;
  }
  if (i == FAKE_MAX_BINDINGS) {
    fake_complain("too many descriptors for the fake");
    return;
  }
  if (i == set->count) ++set->count;
  const svk_descriptor_buffer_info_t* info = write->pBufferInfo;
  set->descriptors[i] = (fake_descriptor_t){
      write->dstBinding,
      write->dstArrayElement,
      (fake_buffer_t*)info->buffer,
      ((fake_buffer_t*)info->buffer)->generation,
      info->offset,
      info->range};
  if (info->offset + info->range > set->descriptors[i].buffer->size) {
    fake_complain("a descriptor ends behind its buffer");
  }
}

static void vkUpdateDescriptorSets(svk_device_t device, uint32_t write_count,
                                   const svk_write_descriptor_set_t* writes,
                                   uint32_t copy_count, const void* copies) {
  (void)device, (void)copy_count, (void)copies;
  for (uint32_t i = 0; i < write_count; ++i) {
    fake_set_t* set = (fake_set_t*)writes[i].dstSet;
    if (set->recorded && !set->late) {
      fake_complain("descriptors of recorded commands change");
    }
    write_descriptor(set, &writes[i]);
  }
}

//===--------------------------------------------------------------------===//
// Recording
//===--------------------------------------------------------------------===//

static void forget(fake_commands_t* commands) {
  if (commands->pending) {
    fake_complain("commands in use by a submission change");
  }
  for (size_t i = 0; i < commands->count; ++i) {
    free(commands->ops[i].data);
    free(commands->ops[i].pushed);
  }
  commands->count = 0;
  free(commands->state.pushed);
  commands->state = (fake_op_t){0};
  commands->recorded = false;
}

// A pool of the fake is its only command buffer.
static svk_result_t vkCreateCommandPool(
    svk_device_t device, const svk_command_pool_create_info_t* info,
    const void* allocator, svk_handle_t* out) {
  (void)info, (void)allocator;
  fake_commands_t* commands =
      fake_make(FAKE_KIND_COMMANDS, sizeof(*commands));
  commands->device = device;
  *out = (uintptr_t)commands;
  return FAKE_OK;
}

static void vkDestroyCommandPool(svk_device_t device, svk_handle_t pool,
                                 const void* allocator) {
  (void)device, (void)allocator;
  fake_commands_t* commands = (fake_commands_t*)pool;
  pthread_mutex_lock(&fake_lock);
  forget(commands);
  pthread_mutex_unlock(&fake_lock);
  free(commands->ops);
  fake_drop(FAKE_KIND_COMMANDS, commands, sizeof(*commands));
}

static svk_result_t vkResetCommandPool(svk_device_t device, svk_handle_t pool,
                                       uint32_t flags) {
  (void)device, (void)flags;
  pthread_mutex_lock(&fake_lock);
  forget((fake_commands_t*)pool);
  pthread_mutex_unlock(&fake_lock);
  return FAKE_OK;
}

static svk_result_t vkAllocateCommandBuffers(
    svk_device_t device, const svk_command_buffer_allocate_info_t* info,
    svk_command_buffer_t* out) {
  (void)device;
  *out = (fake_commands_t*)info->commandPool;
  return FAKE_OK;
}

static svk_result_t vkBeginCommandBuffer(
    svk_command_buffer_t commands,
    const svk_command_buffer_begin_info_t* info) {
  (void)info;
  commands->recording = true;
  return FAKE_OK;
}

static svk_result_t vkEndCommandBuffer(svk_command_buffer_t commands) {
  commands->recording = false;
  commands->recorded = true;
  return FAKE_OK;
}

static void add(fake_commands_t* commands, fake_op_t op) {
  if (commands->count == commands->room) {
    commands->room = commands->room * 2 + 16;
    commands->ops =
        realloc(commands->ops, commands->room * sizeof(*commands->ops));
  }
  op.source_generation = op.source ? op.source->generation : 0;
  op.target_generation = op.target ? op.target->generation : 0;
  op.pipeline_generation = op.pipeline ? op.pipeline->generation : 0;
  commands->ops[commands->count++] = op;
}

static void check_range(const fake_buffer_t* buffer, uint64_t offset,
                        uint64_t size) {
  if (offset > buffer->size || size > buffer->size - offset) {
    fake_complain("%llu bytes from %llu of a buffer of %llu",
                  (unsigned long long)size, (unsigned long long)offset,
                  (unsigned long long)buffer->size);
  }
}

static void vkCmdFillBuffer(svk_command_buffer_t commands, svk_handle_t target,
                            uint64_t offset, uint64_t size, uint32_t pattern) {
  fake_buffer_t* buffer = (fake_buffer_t*)target;
  check_range(buffer, offset, size);
  add(commands, (fake_op_t){.kind = OP_FILL,
                            .target = buffer,
                            .target_offset = offset,
                            .size = size,
                            .pattern = pattern});
}

static void vkCmdCopyBuffer(svk_command_buffer_t commands, svk_handle_t source,
                            svk_handle_t target, uint32_t count,
                            const svk_buffer_copy_t* regions) {
  for (uint32_t i = 0; i < count; ++i) {
    const svk_buffer_copy_t* r = &regions[i];
    check_range((fake_buffer_t*)source, r->srcOffset, r->size);
    check_range((fake_buffer_t*)target, r->dstOffset, r->size);
    if (source == target && r->srcOffset < r->dstOffset + r->size &&
        r->dstOffset < r->srcOffset + r->size) {
      fake_complain("a copy overlaps itself");
    }
    add(commands, (fake_op_t){.kind = OP_COPY,
                              .source = (fake_buffer_t*)source,
                              .target = (fake_buffer_t*)target,
                              .source_offset = r->srcOffset,
                              .target_offset = r->dstOffset,
                              .size = r->size});
  }
}

static void vkCmdUpdateBuffer(svk_command_buffer_t commands,
                              svk_handle_t target, uint64_t offset,
                              uint64_t size, const void* data) {
  check_range((fake_buffer_t*)target, offset, size);
  uint8_t* copy = malloc(size);
  memcpy(copy, data, size);
  add(commands, (fake_op_t){.kind = OP_UPDATE,
                            .target = (fake_buffer_t*)target,
                            .target_offset = offset,
                            .size = size,
                            .data = copy});
}

static void vkCmdPipelineBarrier2(svk_command_buffer_t commands,
                                  const svk_dependency_info_t* info) {
  (void)commands, (void)info;  // commands run one after the other anyway
}

static void vkCmdBindPipeline(svk_command_buffer_t commands, int32_t bind_point,
                              svk_handle_t pipeline) {
  (void)bind_point;
  commands->state.pipeline = (const fake_pipeline_t*)pipeline;
}

static void vkCmdBindDescriptorSets(svk_command_buffer_t commands,
                                    int32_t bind_point, svk_handle_t layout,
                                    uint32_t first, uint32_t count,
                                    const svk_handle_t* sets,
                                    uint32_t offset_count,
                                    const uint32_t* offsets) {
  (void)bind_point, (void)layout, (void)offset_count, (void)offsets;
  for (uint32_t i = 0; i < count && first + i < FAKE_MAX_SETS; ++i) {
    commands->state.sets[first + i] = (fake_set_t*)sets[i];
    commands->state.set_generations[first + i] =
        ((fake_set_t*)sets[i])->generation;
    commands->state.sets[first + i]->recorded = true;
  }
}

static void vkCmdPushDescriptorSetKHR(
    svk_command_buffer_t commands, int32_t bind_point, svk_handle_t layout,
    uint32_t set, uint32_t count, const svk_write_descriptor_set_t* writes) {
  (void)bind_point, (void)layout;
  if (!commands->state.pushed) {
    commands->state.pushed = calloc(1, sizeof(fake_set_t));
  }
  commands->state.pushed_set = set;
  for (uint32_t i = 0; i < count; ++i) {
    write_descriptor(commands->state.pushed, &writes[i]);
  }
}

static void vkCmdPushConstants(svk_command_buffer_t commands,
                               svk_handle_t layout, uint32_t stages,
                               uint32_t offset, uint32_t size,
                               const void* values) {
  (void)layout, (void)stages;
  if (offset + size <= FAKE_PUSH_BYTES) {
    memcpy(commands->state.push + offset, values, size);
  }
}

static void add_dispatch(fake_commands_t* commands, fake_op_t op) {
  if (op.pushed) {
    fake_set_t* copy = malloc(sizeof(*copy));
    *copy = *op.pushed;
    op.pushed = copy;
    op.sets[op.pushed_set] = copy;
    op.set_generations[op.pushed_set] = copy->generation;
  }
  op.kind = OP_DISPATCH;
  add(commands, op);
}

static void vkCmdDispatch(svk_command_buffer_t commands, uint32_t x, uint32_t y,
                          uint32_t z) {
  fake_op_t op = commands->state;
  op.groups[0] = x;
  op.groups[1] = y;
  op.groups[2] = z;
  add_dispatch(commands, op);
}

static void vkCmdDispatchIndirect(svk_command_buffer_t commands,
                                  svk_handle_t buffer, uint64_t offset) {
  fake_op_t op = commands->state;
  op.source = (fake_buffer_t*)buffer;
  op.source_offset = offset;
  check_range(op.source, offset, 12);
  add_dispatch(commands, op);
}

//===--------------------------------------------------------------------===//
// Running
//===--------------------------------------------------------------------===//
//Whether the operation's objects still exist.
static bool is_whole(const fake_op_t* op) {
  const char* gone =
      op->source && op->source->generation != op->source_generation ? "source"
      : op->target && op->target->generation != op->target_generation
          ? "target"
      : op->pipeline && op->pipeline->generation != op->pipeline_generation
          ? "pipeline"
          : NULL;
  for (int i = 0; i < FAKE_MAX_SETS && !gone; ++i) {
    if (op->kind == OP_DISPATCH && op->sets[i] &&
        op->sets[i]->generation != op->set_generations[i]) {
      gone = "descriptor set";
    }
  }
  if (gone) {
    fake_complain("commands run whose %s was freed since they were recorded",
                  gone);
  }
  return !gone;
}

static void run(const fake_op_t* op) {
  if (!is_whole(op)) return;
  uint8_t* target =
      op->target ? op->target->memory->bytes + op->target_offset : NULL;
  const uint8_t* source =
      op->source ? op->source->memory->bytes + op->source_offset : NULL;
  switch (op->kind) {
    case OP_FILL:
      for (uint64_t i = 0; i + 4 <= op->size; i += 4) {
        memcpy(target + i, &op->pattern, 4);
      }
      break;
    case OP_COPY:
      memmove(target, source, op->size);
      break;
    case OP_UPDATE:
      memcpy(target, op->data, op->size);
      break;
    case OP_DISPATCH: {
      uint32_t groups[3];
      memcpy(groups, source ? (const void*)source : op->groups, 12);
      fake_dispatch(op, groups);
      break;
    }
  }
}

void fake_run(fake_commands_t* commands) {
  for (size_t i = 0; i < commands->count; ++i) run(&commands->ops[i]);
}

static bool is(const fake_buffer_t* used, const fake_buffer_t* buffer,
               const fake_memory_t* memory) {
  return used && (used == buffer || (memory && used->memory == memory));
}

bool fake_uses(const fake_commands_t* commands, const fake_buffer_t* buffer,
               const fake_memory_t* memory) {
  for (size_t i = 0; i < commands->count; ++i) {
    const fake_op_t* op = &commands->ops[i];
    // A destroyed buffer was reported at destruction.
    if (buffer && (op->source == buffer || op->target == buffer)) return true;
    if (!buffer && (is(op->source, NULL, memory) ||
                    is(op->target, NULL, memory))) {
      return true;
    }
    for (int s = 0; op->kind == OP_DISPATCH && s < FAKE_MAX_SETS; ++s) {
      const fake_set_t* set = op->sets[s];
      if (!set || set->generation != op->set_generations[s]) continue;
      for (uint32_t d = 0; d < set->count; ++d) {
        const fake_descriptor_t* at = &set->descriptors[d];
        if (at->buffer->generation != at->generation) continue;
        if (buffer ? at->buffer == buffer : at->buffer->memory == memory) {
          return true;
        }
      }
    }
  }
  return false;
}

svk_function_t fake_command_function(const char* name) {
  FAKE_FUNCTION(vkCreateDescriptorSetLayout);
  FAKE_FUNCTION(vkDestroyDescriptorSetLayout);
  FAKE_FUNCTION(vkCreateDescriptorPool);
  FAKE_FUNCTION(vkResetDescriptorPool);
  FAKE_FUNCTION(vkDestroyDescriptorPool);
  FAKE_FUNCTION(vkAllocateDescriptorSets);
  FAKE_FUNCTION(vkUpdateDescriptorSets);
  FAKE_FUNCTION(vkCreateCommandPool);
  FAKE_FUNCTION(vkDestroyCommandPool);
  FAKE_FUNCTION(vkResetCommandPool);
  FAKE_FUNCTION(vkAllocateCommandBuffers);
  FAKE_FUNCTION(vkBeginCommandBuffer);
  FAKE_FUNCTION(vkEndCommandBuffer);
  FAKE_FUNCTION(vkCmdFillBuffer);
  FAKE_FUNCTION(vkCmdCopyBuffer);
  FAKE_FUNCTION(vkCmdUpdateBuffer);
  FAKE_FUNCTION(vkCmdPipelineBarrier2);
  FAKE_FUNCTION(vkCmdBindPipeline);
  FAKE_FUNCTION(vkCmdBindDescriptorSets);
  FAKE_FUNCTION(vkCmdPushDescriptorSetKHR);
  FAKE_FUNCTION(vkCmdPushConstants);
  FAKE_FUNCTION(vkCmdDispatch);
  FAKE_FUNCTION(vkCmdDispatchIndirect);
  if (strcmp(name, "vkCmdPipelineBarrier2KHR") == 0) {
    return (svk_function_t)vkCmdPipelineBarrier2;
  }
  return NULL;
}

// Submissions. Calls vulkan_commands.c.
#include <stdlib.h>

#include "vulkan/vulkan_internal.h"

// How much a submission carries without allocating, and at most.
enum { FEW = 32, MOST = 1 << 16 };

typedef struct batch_t {
  svk_semaphore_submit_info_t* semaphores;  // waits, then signals
  svk_command_buffer_submit_info_t* commands;
} batch_t;

static void read_semaphores(const uint64_t* words, uint32_t count,
                            svk_semaphore_submit_info_t* out) {
  for (uint32_t i = 0; i < count; ++i) {
    const shim_vulkan_timeline_t* timeline =
        (const shim_vulkan_timeline_t*)(uintptr_t)words[2 * i];
    out[i] = (svk_semaphore_submit_info_t){
        .sType = SVK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = timeline->semaphore,
        .value = words[2 * i + 1],
        .stageMask = SVK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
  }
}

static shim_status_t submit(shim_vulkan_device_t* device, uint32_t index,
                            const uint64_t* words, batch_t batch,
                            shim_error_t* error) {
  uint32_t waits = (uint32_t)words[0];
  uint32_t signals = (uint32_t)words[1];
  uint32_t commands = (uint32_t)words[2];
  const uint64_t* command_words = words + 3 + 2 * (waits + signals);
  read_semaphores(words + 3, waits + signals, batch.semaphores);
  for (uint32_t i = 0; i < commands; ++i) {
    shim_vulkan_commands_t* recorded =
        (shim_vulkan_commands_t*)(uintptr_t)command_words[i];
    shim_status_t status = shim__vk_commands_flush(recorded, error);
    if (status) return status;
    batch.commands[i] = (svk_command_buffer_submit_info_t){
        .sType = SVK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = shim__vk_commands_handle(recorded),
    };
  }
  svk_submit_info_2_t info = {
      .sType = SVK_STRUCTURE_TYPE_SUBMIT_INFO_2,
      .waitSemaphoreInfoCount = waits,
      .pWaitSemaphoreInfos = batch.semaphores,
      .commandBufferInfoCount = commands,
      .pCommandBufferInfos = batch.commands,
      .signalSemaphoreInfoCount = signals,
      .pSignalSemaphoreInfos = batch.semaphores + waits,
  };
  shim__vk_queue_t* queue = &device->queues[index];
  pthread_mutex_lock(&queue->mutex);
  svk_result_t result =
      device->table.vkQueueSubmit2(queue->handle, 1, &info, 0);
  pthread_mutex_unlock(&queue->mutex);
  return result < 0 ? shim__vk_fail(device, result, error,
                                    "vkQueueSubmit2 to queue %u", index)
                    : SHIM_OK;
}

shim_status_t shim_vulkan_submit(shim_vulkan_device_t* device, uint32_t queue,
                                 const uint64_t* words, size_t count,
                                 shim_error_t* error) {
  shim_status_t status = shim__vk_check(device, error);
  if (status) return status;
  if (queue >= device->queue_count) {
    return shim_error_set(error, SHIM_OUT_OF_RANGE, 0,
                          "queue %u of device '%s', which was opened with %u",
                          queue, device->physical->info.name,
                          device->queue_count);
  }
  if (count < 3 || words[0] > MOST || words[1] > MOST || words[2] > MOST ||
      count != 3 + 2 * (words[0] + words[1]) + words[2]) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "a submission of %zu words does not add up", count);
  }
  uint64_t semaphores = words[0] + words[1];
  svk_semaphore_submit_info_t few_semaphores[FEW];
  svk_command_buffer_submit_info_t few_commands[FEW];
  batch_t batch = {few_semaphores, few_commands};
  if (semaphores <= FEW && words[2] <= FEW) {
    return submit(device, queue, words, batch, error);
  }
  batch.semaphores = calloc(semaphores + 1, sizeof(*batch.semaphores));
  batch.commands = calloc(words[2] + 1, sizeof(*batch.commands));
  status = batch.semaphores && batch.commands
               ? submit(device, queue, words, batch, error)
               : shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                                "out of memory");
  free(batch.semaphores);
  free(batch.commands);
  return status;
}

// Submissions. Calls vulkan_commands.c.
#include <stdlib.h>

#include "vulkan/vulkan_internal.h"

// The size of a submission without allocation, and the maximum.
enum { FEW = 32, MOST = 1 << 16 };

typedef struct batch_t {
  svk_submit_info_2_t* infos;
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

// The counts in front of a submission's words.
typedef struct counts_t {
  uint64_t waits;
  uint64_t signals;
  uint64_t commands;
} counts_t;

static uint64_t words_of(counts_t counts) {
  return 3 + 2 * (counts.waits + counts.signals) + counts.commands;
}

static counts_t counts_at(const uint64_t* words) {
  return (counts_t){words[0], words[1], words[2]};
}

// Sums up all submissions; returns their number, or 0 when the words are
// malformed.
static uint64_t total(const uint64_t* words, size_t count, counts_t* sum) {
  uint64_t submissions = 0;
  for (size_t at = 0; at < count; ++submissions) {
    if (submissions == MOST || count - at < 3) return 0;
    counts_t counts = counts_at(words + at);
    if (counts.waits > MOST || counts.signals > MOST || counts.commands > MOST ||
        words_of(counts) > count - at) {
      return 0;
    }
    sum->waits += counts.waits;
    sum->signals += counts.signals;
    sum->commands += counts.commands;
    if (sum->waits + sum->signals > MOST || sum->commands > MOST) return 0;
    at += words_of(counts);
  }
  return submissions;
}

static shim_status_t submit(shim_vulkan_device_t* device, uint32_t index,
                            const uint64_t* words, uint32_t submissions,
                            batch_t batch, shim_error_t* error) {
  for (uint32_t s = 0; s < submissions; ++s) {
    counts_t counts = counts_at(words);
    uint32_t semaphores = (uint32_t)(counts.waits + counts.signals);
    const uint64_t* command_words = words + 3 + 2 * semaphores;
    read_semaphores(words + 3, semaphores, batch.semaphores);
    for (uint32_t i = 0; i < counts.commands; ++i) {
      shim_vulkan_commands_t* recorded =
          (shim_vulkan_commands_t*)(uintptr_t)command_words[i];
      shim_status_t status = shim__vk_commands_flush(recorded, error);
      if (status) return status;
      batch.commands[i] = (svk_command_buffer_submit_info_t){
          .sType = SVK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
          .commandBuffer = shim__vk_commands_handle(recorded),
      };
    }
    batch.infos[s] = (svk_submit_info_2_t){
        .sType = SVK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = (uint32_t)counts.waits,
        .pWaitSemaphoreInfos = batch.semaphores,
        .commandBufferInfoCount = (uint32_t)counts.commands,
        .pCommandBufferInfos = batch.commands,
        .signalSemaphoreInfoCount = (uint32_t)counts.signals,
        .pSignalSemaphoreInfos = batch.semaphores + counts.waits,
    };
    batch.semaphores += semaphores;
    batch.commands += counts.commands;
    words += words_of(counts);
  }
  shim__vk_queue_t* queue = &device->queues[index];
  pthread_mutex_lock(&queue->mutex);
  svk_result_t result = device->table.vkQueueSubmit2(queue->handle, submissions,
                                                     batch.infos, 0);
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
  counts_t sum = {0, 0, 0};
  uint64_t submissions = total(words, count, &sum);
  if (!submissions) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "submissions of %zu words are malformed", count);
  }
  uint64_t semaphores = sum.waits + sum.signals;
  svk_submit_info_2_t few_infos[FEW];
  svk_semaphore_submit_info_t few_semaphores[FEW];
  svk_command_buffer_submit_info_t few_commands[FEW];
  batch_t batch = {few_infos, few_semaphores, few_commands};
  if (submissions <= FEW && semaphores <= FEW && sum.commands <= FEW) {
    return submit(device, queue, words, (uint32_t)submissions, batch, error);
  }
  batch.infos = calloc(submissions, sizeof(*batch.infos));
  batch.semaphores = calloc(semaphores + 1, sizeof(*batch.semaphores));
  batch.commands = calloc(sum.commands + 1, sizeof(*batch.commands));
  batch_t all = batch;
  status = batch.infos && batch.semaphores && batch.commands
               ? submit(device, queue, words, (uint32_t)submissions, batch,
                        error)
               : shim__no_memory(error,
                                 submissions * sizeof(*batch.infos) +
                                     semaphores * sizeof(*batch.semaphores) +
                                     sum.commands * sizeof(*batch.commands),
                                 "submissions");
  free(all.infos);
  free(all.semaphores);
  free(all.commands);
  return status;
}

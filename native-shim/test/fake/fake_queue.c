// Queues of the fake: a thread each, timelines, submissions, waits, and the
// loss of devices.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake_queue.h"

enum { SLICE_NS = 5000000 };

int64_t fake_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void fake_pause(int64_t deadline_ns) {
  int64_t end = fake_now() + SLICE_NS;
  if (deadline_ns >= 0 && deadline_ns < end) end = deadline_ns;
  struct timespec until = {end / 1000000000, end % 1000000000};
  pthread_cond_timedwait(&fake_changed, &fake_lock, &until);
}

void fake_lose(fake_device_t* device) {
  device->lost = true;
  pthread_cond_broadcast(&fake_changed);
}

bool fake_is_lost(fake_device_t* device) {
  if (!device->lost && access(fake_lost_file, F_OK) == 0) fake_lose(device);
  return device->lost;
}

svk_result_t fake_tell_loss(fake_device_t* device) {
  for (int i = 0; i < FAKE_MAX_QUEUES; ++i) {
    while (device->queues[i].head) fake_pause(-1);
  }
  return FAKE_DEVICE_LOST;
}

//===--------------------------------------------------------------------===//
// Semaphores
//===--------------------------------------------------------------------===//

// Exported payloads, by the number in their memory file. They live until the
// library is unloaded.
static fake_payload_t* exported[256];
static uint32_t exported_count;

static void release_payload(fake_payload_t* payload) {
  if (--payload->references == 0) free(payload);
}

__attribute__((destructor)) static void release_exported(void) {
  for (uint32_t i = 0; i < exported_count; ++i) release_payload(exported[i]);
}

static svk_result_t vkCreateSemaphore(svk_device_t device,
                                      const svk_semaphore_create_info_t* info,
                                      const void* allocator,
                                      svk_handle_t* out) {
  (void)device, (void)allocator;
  const svk_semaphore_type_create_info_t* type = info->pNext;
  fake_semaphore_t* semaphore =
      fake_make(FAKE_KIND_SEMAPHORE, sizeof(*semaphore));
  semaphore->payload = calloc(1, sizeof(*semaphore->payload));
  semaphore->payload->value = type->initialValue;
  semaphore->payload->references = 1;
  *out = (uintptr_t)semaphore;
  return FAKE_OK;
}

static void vkDestroySemaphore(svk_device_t device, svk_handle_t handle,
                               const void* allocator) {
  (void)device, (void)allocator;
  fake_semaphore_t* semaphore = (fake_semaphore_t*)handle;
  pthread_mutex_lock(&fake_lock);
  if (semaphore->uses) {
    fake_complain("a semaphore in use by a submission is destroyed");
  }
  release_payload(semaphore->payload);
  pthread_mutex_unlock(&fake_lock);
  fake_drop(FAKE_KIND_SEMAPHORE, semaphore, sizeof(*semaphore));
}

static svk_result_t vkGetSemaphoreCounterValue(svk_device_t device,
                                               svk_handle_t handle,
                                               uint64_t* out) {
  pthread_mutex_lock(&fake_lock);
  svk_result_t result =
      fake_is_lost(device) ? fake_tell_loss(device) : FAKE_OK;
  *out = ((fake_semaphore_t*)handle)->payload->value;
  pthread_mutex_unlock(&fake_lock);
  return result;
}

static void raise_to(fake_semaphore_t* semaphore, uint64_t value) {
  if (value <= semaphore->payload->value) {
    fake_complain("a timeline at %llu is signalled to %llu",
                  (unsigned long long)semaphore->payload->value,
                  (unsigned long long)value);
  } else {
    semaphore->payload->value = value;
  }
  pthread_cond_broadcast(&fake_changed);
}

static svk_result_t vkSignalSemaphore(svk_device_t device,
                                      const svk_semaphore_signal_info_t* info) {
  pthread_mutex_lock(&fake_lock);
  svk_result_t result = FAKE_OK;
  if (fake_is_lost(device)) {
    result = fake_tell_loss(device);
  } else {
    raise_to((fake_semaphore_t*)info->semaphore, info->value);
  }
  pthread_mutex_unlock(&fake_lock);
  return result;
}

static bool reached(const svk_semaphore_wait_info_t* info) {
  uint32_t there = 0;
  for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
    const fake_semaphore_t* semaphore =
        (const fake_semaphore_t*)info->pSemaphores[i];
    there += semaphore->payload->value >= info->pValues[i];
  }
  return info->flags & SVK_SEMAPHORE_WAIT_ANY_BIT
             ? there > 0
             : there == info->semaphoreCount;
}

static svk_result_t vkWaitSemaphores(svk_device_t device,
                                     const svk_semaphore_wait_info_t* info,
                                     uint64_t timeout_ns) {
  int64_t start = fake_now();
  int64_t deadline = timeout_ns > (uint64_t)(INT64_MAX - start)
                         ? -1
                         : start + (int64_t)timeout_ns;
  svk_result_t result = FAKE_OK;
  pthread_mutex_lock(&fake_lock);
  if (++fake_waits == fake_settings.lost_wait) fake_lose(device);
  while (!fake_is_lost(device) && !reached(info)) {
    if (deadline >= 0 && fake_now() >= deadline) {
      result = FAKE_TIMEOUT;
      break;
    }
    fake_pause(deadline);
  }
  if (device->lost) result = fake_tell_loss(device);
  pthread_mutex_unlock(&fake_lock);
  return result;
}

static svk_result_t vkGetSemaphoreFdKHR(svk_device_t device,
                                        const svk_semaphore_get_fd_info_t* info,
                                        int* out_fd) {
  (void)device;
  int fd = memfd_create("fake_semaphore", MFD_CLOEXEC);
  if (fd < 0) return FAKE_OUT_OF_HOST_MEMORY;
  fake_payload_t* payload = ((fake_semaphore_t*)info->semaphore)->payload;
  svk_result_t result = FAKE_OK;
  pthread_mutex_lock(&fake_lock);
  uint32_t number = 0;
  while (number < exported_count && exported[number] != payload) ++number;
  if (number == sizeof(exported) / sizeof(exported[0])) {
    result = FAKE_OUT_OF_HOST_MEMORY;
  } else if (number == exported_count) {
    exported[exported_count++] = payload;
    ++payload->references;
  }
  pthread_mutex_unlock(&fake_lock);
  if (!result && pwrite(fd, &number, sizeof(number), 0) == sizeof(number)) {
    *out_fd = fd;
    return FAKE_OK;
  }
  close(fd);
  return FAKE_OUT_OF_HOST_MEMORY;
}

static svk_result_t vkImportSemaphoreFdKHR(
    svk_device_t device, const svk_import_semaphore_fd_info_t* info) {
  (void)device;
  uint32_t number = UINT32_MAX;
  svk_result_t result = FAKE_INVALID_EXTERNAL_HANDLE;
  fake_semaphore_t* semaphore = (fake_semaphore_t*)info->semaphore;
  bool read = pread(info->fd, &number, sizeof(number), 0) == sizeof(number);
  pthread_mutex_lock(&fake_lock);
  if (read && number < exported_count) {
    release_payload(semaphore->payload);
    semaphore->payload = exported[number];
    ++semaphore->payload->references;
    result = FAKE_OK;
  }
  pthread_mutex_unlock(&fake_lock);
  if (!result) close(info->fd);
  return result;
}

//===--------------------------------------------------------------------===//
// Submissions
//===--------------------------------------------------------------------===//

static void free_submission(fake_submission_t* submission) {
  for (uint32_t i = 0; i < submission->wait_count + submission->signal_count;
       ++i) {
    --submission->semaphores[i]->uses;
  }
  for (uint32_t i = 0; i < submission->command_count; ++i) {
    --submission->commands[i]->pending;
  }
  free(submission->semaphores);
  free(submission->values);
  free(submission->commands);
  free(submission);
}

static void pop(fake_queue_t* queue) {
  fake_submission_t* submission = queue->head;
  queue->head = submission->next;
  if (!queue->head) queue->tail = NULL;
  free_submission(submission);
  pthread_cond_broadcast(&fake_changed);
}

static bool can_begin(const fake_submission_t* submission) {
  for (uint32_t i = 0; i < submission->wait_count; ++i) {
    if (submission->semaphores[i]->payload->value < submission->values[i]) {
      return false;
    }
  }
  return true;
}

static bool hangs(void) { return access(fake_hang_file, F_OK) == 0; }

static void* run_queue(void* argument) {
  fake_queue_t* queue = argument;
  fake_device_t* device = queue->device;
  pthread_mutex_lock(&fake_lock);
  for (;;) {
    fake_submission_t* submission = queue->head;
    if (!submission) {
      if (device->stopping) break;
      fake_pause(-1);
    } else if (fake_is_lost(device)) {
      pop(queue);
    } else if (device->stopping) {
      fake_complain("a device is destroyed while its queues have work");
      pop(queue);
    } else if (hangs() || !can_begin(submission)) {
      fake_pause(-1);
    } else if (submission->number == fake_settings.lost_execution) {
      fake_lose(device);
    } else {
      pthread_mutex_unlock(&fake_lock);
      for (uint32_t i = 0; i < submission->command_count; ++i) {
        fake_run(submission->commands[i]);
      }
      pthread_mutex_lock(&fake_lock);
      for (uint32_t i = 0; i < submission->signal_count; ++i) {
        uint32_t index = submission->wait_count + i;
        raise_to(submission->semaphores[index], submission->values[index]);
      }
      pop(queue);
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return NULL;
}

void fake_queues_start(fake_device_t* device) {
  for (int i = 0; i < FAKE_MAX_QUEUES; ++i) {
    fake_queue_t* queue = &device->queues[i];
    queue->running =
        pthread_create(&queue->thread, NULL, run_queue, queue) == 0;
  }
}

void fake_queues_stop(fake_device_t* device) {
  pthread_mutex_lock(&fake_lock);
  device->stopping = true;
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  for (int i = 0; i < FAKE_MAX_QUEUES; ++i) {
    if (device->queues[i].running) pthread_join(device->queues[i].thread, NULL);
  }
}

static svk_result_t vkDeviceWaitIdle(svk_device_t device) {
  pthread_mutex_lock(&fake_lock);
  for (int i = 0; i < FAKE_MAX_QUEUES; ++i) {
    while (device->queues[i].head && !fake_is_lost(device)) fake_pause(-1);
  }
  svk_result_t result = device->lost ? fake_tell_loss(device) : FAKE_OK;
  pthread_mutex_unlock(&fake_lock);
  return result;
}

static void take_semaphores(fake_submission_t* submission, uint32_t at,
                            const svk_semaphore_submit_info_t* infos,
                            uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    submission->semaphores[at + i] = (fake_semaphore_t*)infos[i].semaphore;
    submission->values[at + i] = infos[i].value;
    ++submission->semaphores[at + i]->uses;
  }
}

static fake_submission_t* take_submission(const svk_submit_info_2_t* info) {
  fake_submission_t* submission = calloc(1, sizeof(*submission));
  submission->wait_count = info->waitSemaphoreInfoCount;
  submission->signal_count = info->signalSemaphoreInfoCount;
  submission->command_count = info->commandBufferInfoCount;
  size_t semaphores = submission->wait_count + submission->signal_count;
  submission->semaphores =
      calloc(semaphores + 1, sizeof(*submission->semaphores));
  submission->values = calloc(semaphores + 1, sizeof(*submission->values));
  submission->commands = calloc((size_t)submission->command_count + 1,
                                sizeof(*submission->commands));
  take_semaphores(submission, 0, info->pWaitSemaphoreInfos,
                  submission->wait_count);
  take_semaphores(submission, submission->wait_count,
                  info->pSignalSemaphoreInfos, submission->signal_count);
  for (uint32_t i = 0; i < submission->command_count; ++i) {
    fake_commands_t* commands = info->pCommandBufferInfos[i].commandBuffer;
    if (!commands->recorded) fake_complain("commands were not recorded");
    ++commands->pending;
    submission->commands[i] = commands;
  }
  return submission;
}

static svk_result_t vkQueueSubmit2(svk_queue_t queue, uint32_t count,
                                   const svk_submit_info_2_t* infos,
                                   svk_handle_t fence) {
  (void)fence;
  svk_result_t result = FAKE_OK;
  pthread_mutex_lock(&fake_lock);
  for (uint32_t i = 0; i < count; ++i) {
    if (++fake_submissions == fake_settings.lost_submit) {
      fake_lose(queue->device);
    }
    if (fake_is_lost(queue->device)) {
      result = fake_tell_loss(queue->device);
      break;
    }
    fake_submission_t* submission = take_submission(&infos[i]);
    submission->number = fake_submissions;
    *(queue->tail ? &queue->tail->next : &queue->head) = submission;
    queue->tail = submission;
  }
  pthread_cond_broadcast(&fake_changed);
  pthread_mutex_unlock(&fake_lock);
  return result;
}

bool fake_in_use(fake_device_t* device, const fake_buffer_t* buffer,
                 const fake_memory_t* memory) {
  for (int i = 0; i < FAKE_MAX_QUEUES; ++i) {
    for (fake_submission_t* submission = device->queues[i].head; submission;
         submission = submission->next) {
      for (uint32_t c = 0; c < submission->command_count; ++c) {
        if (fake_uses(submission->commands[c], buffer, memory)) return true;
      }
    }
  }
  return false;
}

svk_function_t fake_queue_function(const char* name) {
  FAKE_FUNCTION(vkCreateSemaphore);
  FAKE_FUNCTION(vkDestroySemaphore);
  FAKE_FUNCTION(vkGetSemaphoreCounterValue);
  FAKE_FUNCTION(vkSignalSemaphore);
  FAKE_FUNCTION(vkWaitSemaphores);
  FAKE_FUNCTION(vkGetSemaphoreFdKHR);
  FAKE_FUNCTION(vkImportSemaphoreFdKHR);
  FAKE_FUNCTION(vkDeviceWaitIdle);
  FAKE_FUNCTION(vkQueueSubmit2);
  if (strcmp(name, "vkQueueSubmit2KHR") == 0) {
    return (svk_function_t)vkQueueSubmit2;
  }
  return NULL;
}

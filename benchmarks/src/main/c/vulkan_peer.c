/* The work of VulkanBenchmark in plain C on the same driver: the first device (of the given type), its first compute queue, one timeline
 * semaphore, no threads. Prints a line "name value" for each measurement: nanoseconds per operation, the median of the rounds.
 *
 * usage: vulkan_peer SHADER.spv [ROUNDS]   built and called by bin/bench-vulkan */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan_core.h>

#define DISPATCHES 1000
#define SMALL 4096ull
#define LARGE (64ull << 20)

#define CHECK(call)                                           \
  do {                                                        \
    VkResult result_ = (call);                                \
    if (result_ != VK_SUCCESS) {                              \
      fprintf(stderr, "%s: VkResult %d\n", #call, result_);   \
      exit(1);                                                \
    }                                                         \
  } while (0)

typedef struct {
  VkBuffer buffer;
  void* host;
} memory_t;

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static uint32_t family;
static VkSemaphore timeline;
static uint64_t ticket;
static VkPipelineLayout layout;
static VkPipeline pipeline;
static PFN_vkCmdPushDescriptorSetKHR push_descriptors;
static VkDescriptorSet descriptor_set; /* without push descriptors */
static memory_t buffers[2];
static int rounds = 200;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

/* Runs an action |count| times, after a tenth of |count| as warm-up. */
static void measure(const char* name, int count, uint64_t divisor,
                    void (*action)(void)) {
  uint64_t* times = calloc((size_t)count, sizeof *times);
  for (int i = 0; i < count / 10 + 1; ++i) action();
  for (int i = 0; i < count; ++i) {
    uint64_t begin = now();
    action();
    times[i] = now() - begin;
  }
  qsort(times, (size_t)count, sizeof *times, ascending);
  printf("%s %.1f\n", name, (double)times[count / 2] / (double)divisor);
  free(times);
}

static void open_device(void) {
  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .apiVersion = VK_API_VERSION_1_3};
  VkInstanceCreateInfo create = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pApplicationInfo = &application};
  VkInstance instance;
  CHECK(vkCreateInstance(&create, NULL, &instance));
  uint32_t count = 8;
  VkPhysicalDevice all[8];
  vkEnumeratePhysicalDevices(instance, &count, all);
  if (count == 0) {
    fprintf(stderr, "no Vulkan device\n");
    exit(1);
  }
  /* Like the Java side: hardware comes first. */
  physical = all[0];
  VkPhysicalDeviceProperties properties;
  for (uint32_t i = count; i-- > 0;) {
    vkGetPhysicalDeviceProperties(all[i], &properties);
    if (properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU) physical = all[i];
  }
  vkGetPhysicalDeviceProperties(physical, &properties);
  printf("# %s, Vulkan %u.%u.%u, driver version %u\n", properties.deviceName,
         VK_API_VERSION_MAJOR(properties.apiVersion),
         VK_API_VERSION_MINOR(properties.apiVersion),
         VK_API_VERSION_PATCH(properties.apiVersion), properties.driverVersion);
  VkQueueFamilyProperties families[16];
  count = 16;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
    ++family;
  VkExtensionProperties extensions[512];
  count = 512;
  vkEnumerateDeviceExtensionProperties(physical, NULL, &count, extensions);
  const char* names[1] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
  uint32_t enabled = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(extensions[i].extensionName, names[0]) == 0) enabled = 1;
  }
  float priority = 1;
  VkDeviceQueueCreateInfo queues = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = family,
      .queueCount = 1,
      .pQueuePriorities = &priority};
  VkPhysicalDeviceVulkan13Features features13 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
      .synchronization2 = VK_TRUE};
  VkPhysicalDeviceVulkan12Features features12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .pNext = &features13,
      .timelineSemaphore = VK_TRUE};
  VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = &features12,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queues,
                             .enabledExtensionCount = enabled,
                             .ppEnabledExtensionNames = names};
  CHECK(vkCreateDevice(physical, &info, NULL, &device));
  vkGetDeviceQueue(device, family, 0, &queue);
  if (enabled) {
    push_descriptors = (PFN_vkCmdPushDescriptorSetKHR)vkGetDeviceProcAddr(
        device, "vkCmdPushDescriptorSetKHR");
  }
  VkSemaphoreTypeCreateInfo type = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  VkSemaphoreCreateInfo semaphore = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  CHECK(vkCreateSemaphore(device, &semaphore, NULL, &timeline));
}

/* Host-visible device memory, like the Java side's default. */
static memory_t allocate(VkDeviceSize size) {
  memory_t result;
  VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .size = size,
                             .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                      VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                      VK_BUFFER_USAGE_TRANSFER_DST_BIT};
  CHECK(vkCreateBuffer(device, &info, NULL, &result.buffer));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, result.buffer, &needs);
  VkPhysicalDeviceMemoryProperties types;
  vkGetPhysicalDeviceMemoryProperties(physical, &types);
  const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < types.memoryTypeCount; ++i) {
    VkMemoryPropertyFlags flags = types.memoryTypes[i].propertyFlags;
    if (!(needs.memoryTypeBits >> i & 1) || (flags & wanted) != wanted) continue;
    if (best == UINT32_MAX || flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
      best = i;
  }
  VkMemoryAllocateInfo allocation = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .allocationSize = needs.size,
      .memoryTypeIndex = best};
  VkDeviceMemory memory;
  CHECK(vkAllocateMemory(device, &allocation, NULL, &memory));
  CHECK(vkBindBufferMemory(device, result.buffer, memory, 0));
  CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &result.host));
  return result;
}

static void load_shader(const char* path) {
  FILE* file = fopen(path, "rb");
  static uint32_t code[1 << 16];
  size_t size = file ? fread(code, 1, sizeof code, file) : 0;
  if (size == 0) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
  VkShaderModuleCreateInfo module_info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = size,
      .pCode = code};
  VkShaderModule module;
  CHECK(vkCreateShaderModule(device, &module_info, NULL, &module));
  VkDescriptorSetLayoutBinding bindings[2];
  for (uint32_t i = 0; i < 2; ++i) {
    bindings[i] = (VkDescriptorSetLayoutBinding){
        .binding = i,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  }
  VkDescriptorSetLayoutCreateInfo set_info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .flags = push_descriptors
                   ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR
                   : 0,
      .bindingCount = 2,
      .pBindings = bindings};
  VkDescriptorSetLayout set_layout;
  CHECK(vkCreateDescriptorSetLayout(device, &set_info, NULL, &set_layout));
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
  VkPipelineLayoutCreateInfo layout_info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .setLayoutCount = 1,
      .pSetLayouts = &set_layout,
      .pushConstantRangeCount = 1,
      .pPushConstantRanges = &range};
  CHECK(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
  VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "scale"},
      .layout = layout};
  CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL,
                                 &pipeline));
  if (push_descriptors) return;
  VkDescriptorPoolSize pool_size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
  VkDescriptorPoolCreateInfo pool_info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = 1,
      .poolSizeCount = 1,
      .pPoolSizes = &pool_size};
  VkDescriptorPool pool;
  CHECK(vkCreateDescriptorPool(device, &pool_info, NULL, &pool));
  VkDescriptorSetAllocateInfo allocate_info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = pool,
      .descriptorSetCount = 1,
      .pSetLayouts = &set_layout};
  CHECK(vkAllocateDescriptorSets(device, &allocate_info, &descriptor_set));
}

static VkCommandBuffer create_commands(void) {
  VkCommandPoolCreateInfo pool_info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
      .queueFamilyIndex = family};
  VkCommandPool pool;
  CHECK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
  VkCommandBufferAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = pool,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1};
  VkCommandBuffer commands;
  CHECK(vkAllocateCommandBuffers(device, &info, &commands));
  return commands;
}

static void begin(VkCommandBuffer commands) {
  VkCommandBufferBeginInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(vkBeginCommandBuffer(commands, &info));
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags2 stage,
                    VkAccessFlags2 written, VkPipelineStageFlags2 next,
                    VkAccessFlags2 used) {
  VkMemoryBarrier2 memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                             .srcStageMask = stage,
                             .srcAccessMask = written,
                             .dstStageMask = next,
                             .dstAccessMask = used};
  VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                           .memoryBarrierCount = 1,
                           .pMemoryBarriers = &memory};
  vkCmdPipelineBarrier2(commands, &info);
}

/* Makes results visible to the host. */
static void end(VkCommandBuffer commands) {
  barrier(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
          VK_ACCESS_2_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
          VK_ACCESS_2_HOST_READ_BIT);
  CHECK(vkEndCommandBuffer(commands));
}

static void record_dispatches(VkCommandBuffer commands, int count) {
  begin(commands);
  for (int i = 0; i < count; ++i) {
    const VkBuffer first = buffers[i & 1].buffer;
    const VkBuffer second = buffers[(i & 1) ^ 1].buffer;
    const VkDescriptorBufferInfo infos[2] = {{first, 0, SMALL},
                                             {second, 0, SMALL}};
    VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = descriptor_set,
        .descriptorCount = 2,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = infos};
    if (i > 0) {
      barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
              VK_ACCESS_2_SHADER_WRITE_BIT,
              VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
              VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT);
    } else {
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      if (!push_descriptors) {
        vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                layout, 0, 1, &descriptor_set, 0, NULL);
      }
    }
    if (push_descriptors) {
      push_descriptors(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1,
                       &write);
    }
    const int32_t constants[2] = {1, i};
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       sizeof constants, constants);
    vkCmdDispatch(commands, 1, 1, 1);
  }
  end(commands);
}

static void submit_and_wait(VkCommandBuffer commands) {
  VkCommandBufferSubmitInfo command = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
      .commandBuffer = commands};
  VkSemaphoreSubmitInfo signal = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
      .semaphore = timeline,
      .value = ++ticket,
      .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
  VkSubmitInfo2 submission = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                              .commandBufferInfoCount = 1,
                              .pCommandBufferInfos = &command,
                              .signalSemaphoreInfoCount = 1,
                              .pSignalSemaphoreInfos = &signal};
  CHECK(vkQueueSubmit2(queue, 1, &submission, VK_NULL_HANDLE));
  VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                              .semaphoreCount = 1,
                              .pSemaphores = &timeline,
                              .pValues = &ticket};
  CHECK(vkWaitSemaphores(device, &wait, UINT64_MAX));
}

static VkCommandBuffer recorded_one, recorded_many, scratch;
static memory_t large[2];
static char* host;

static void execute_one(void) { submit_and_wait(recorded_one); }

static void execute_many(void) { submit_and_wait(recorded_many); }

static void record_many(void) {
  record_dispatches(scratch, DISPATCHES);
  submit_and_wait(scratch);
}

static void fill(void) {
  begin(scratch);
  vkCmdFillBuffer(scratch, buffers[0].buffer, 0, SMALL, 7);
  end(scratch);
  submit_and_wait(scratch);
}

static void copy(void) {
  begin(scratch);
  VkBufferCopy region = {0, 0, LARGE};
  vkCmdCopyBuffer(scratch, large[0].buffer, large[1].buffer, 1, &region);
  end(scratch);
  submit_and_wait(scratch);
}

static void upload(void) { memcpy(large[0].host, host, LARGE); }

static void download(void) { memcpy(host, large[1].host, LARGE); }

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: vulkan_peer SHADER.spv [ROUNDS]\n");
    return 2;
  }
  if (argc > 2) rounds = atoi(argv[2]);
  open_device();
  load_shader(argv[1]);
  for (int i = 0; i < 2; ++i) {
    buffers[i] = allocate(SMALL);
    large[i] = allocate(LARGE);
    memset(buffers[i].host, 0, SMALL);
    memset(large[i].host, 1, LARGE);
  }
  host = malloc(LARGE);
  memset(host, 2, LARGE);
  recorded_one = create_commands();
  recorded_many = create_commands();
  scratch = create_commands();
  record_dispatches(recorded_one, 1);
  record_dispatches(recorded_many, DISPATCHES);
  measure("executeAndWait", rounds * 10, 1, execute_one);
  measure("fillAndWait", rounds * 10, 1, fill);
  measure("dispatchInCommandBuffer", rounds, DISPATCHES, execute_many);
  measure("dispatchRecordedAndExecuted", rounds, DISPATCHES, record_many);
  measure("copy64MiB", rounds / 4 + 1, 1, copy);
  measure("upload64MiB", rounds / 4 + 1, 1, upload);
  measure("download64MiB", rounds / 4 + 1, 1, download);
  return 0;
}

// Room of recordings. New room is allocated completely before it replaces the
// old. Calls vulkan_status.c.
#include "vulkan/vulkan_room.h"

#include <stdlib.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static shim__vk_totals_t both(const shim__vk_totals_t* a,
                              const shim__vk_totals_t* b) {
  return (shim__vk_totals_t){
      .bound = larger(a->bound, b->bound),
      .sets = larger(a->sets, b->sets),
      .storage = larger(a->storage, b->storage),
      .uniform = larger(a->uniform, b->uniform),
      .bindings = larger(a->bindings, b->bindings),
      .words = larger(a->words, b->words),
  };
}

static bool fits(const shim__vk_totals_t* needs,
                 const shim__vk_totals_t* size) {
  return needs->bound <= size->bound && needs->sets <= size->sets &&
         needs->storage <= size->storage && needs->uniform <= size->uniform &&
         needs->bindings <= size->bindings && needs->words <= size->words;
}

static shim_status_t make_arrays(shim__vk_room_t* room, shim_error_t* error) {
  const shim__vk_totals_t* size = &room->size;
  room->bound = calloc(size->bound + 1, sizeof(*room->bound));
  room->sets = calloc(size->sets + 1, sizeof(*room->sets));
  room->infos = calloc(size->bindings + 1, sizeof(*room->infos));
  room->writes = calloc(size->bindings + 1, sizeof(*room->writes));
  room->words = calloc(size->words + 1, sizeof(*room->words));
  if (room->bound && room->sets && room->infos && room->writes && room->words) {
    return SHIM_OK;
  }
  return shim__no_memory(
      error,
      size->bound * sizeof(*room->bound) + size->sets * sizeof(*room->sets) +
          size->bindings * (sizeof(*room->infos) + sizeof(*room->writes)) +
          size->words * sizeof(*room->words),
      "a recording");
}

static shim_status_t make_pool(shim_vulkan_device_t* device,
                               shim__vk_room_t* room, shim_error_t* error) {
  const shim__vk_totals_t* size = &room->size;
  svk_descriptor_pool_size_t sizes[] = {
      {SVK_DESCRIPTOR_TYPE_STORAGE_BUFFER, (uint32_t)size->storage + 1},
      {SVK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, (uint32_t)size->uniform + 1},
  };
  bool late =
      shim__vk_has(device,
                   SHIM_VULKAN_FEATURE_STORAGE_BUFFER_UPDATE_AFTER_BIND) ||
      shim__vk_has(device,
                   SHIM_VULKAN_FEATURE_UNIFORM_BUFFER_UPDATE_AFTER_BIND);
  svk_descriptor_pool_create_info_t info = {
      .sType = SVK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .flags = late ? SVK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT : 0,
      .maxSets = (uint32_t)size->sets,
      .poolSizeCount = 2,
      .pPoolSizes = sizes,
  };
  svk_result_t result = device->table.vkCreateDescriptorPool(
      device->handle, &info, NULL, &room->pool);
  if (result < 0) {
    room->pool = 0;
    return shim__vk_fail(device, result, error,
                         "vkCreateDescriptorPool of %zu sets", size->sets);
  }
  shim__vk_count(device, SHIM_VULKAN_KIND_DESCRIPTOR_POOLS, 1);
  return SHIM_OK;
}

shim_status_t shim__vk_room_grow(shim_vulkan_device_t* device,
                                 shim__vk_room_t* room,
                                 const shim__vk_totals_t* needs,
                                 shim_error_t* error) {
  if (needs->sets > UINT16_MAX * 16 || needs->storage > UINT32_MAX / 2 ||
      needs->uniform > UINT32_MAX / 2) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                          "a recording with %zu descriptor sets", needs->sets);
  }
  if (fits(needs, &room->size)) return SHIM_OK;
  shim__vk_room_t larger_room = {.size = both(needs, &room->size)};
  shim_status_t status = make_arrays(&larger_room, error);
  if (!status && larger_room.size.sets) {
    status = make_pool(device, &larger_room, error);
  }
  if (status) {
    shim__vk_room_release(device, &larger_room);
    return status;
  }
  shim__vk_room_release(device, room);
  *room = larger_room;
  return SHIM_OK;
}

void shim__vk_room_release(shim_vulkan_device_t* device,
                           shim__vk_room_t* room) {
  if (room->pool) {
    device->table.vkDestroyDescriptorPool(device->handle, room->pool, NULL);
    shim__vk_count(device, SHIM_VULKAN_KIND_DESCRIPTOR_POOLS, -1);
  }
  free(room->bound);
  free(room->sets);
  free(room->infos);
  free(room->writes);
  free(room->words);
  *room = (shim__vk_room_t){0};
}

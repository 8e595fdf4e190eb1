// Validation messages: a ring with any number of writers (driver threads) and
// readers (Java threads), using atomics only. A writer claims a number; a
// writer that is a whole ring ahead while the slot is still being written drops
// its text, but counts. Calls nothing of the shim.
#include <string.h>

#include "vulkan/vulkan_internal.h"

// Words between two stores of the state, in release mode: a reader that has seen
// a word also sees the state before. A reader that sees the same state before
// and after has read one message.
static void write_text(shim__vk_message_t* slot, const char* text) {
  size_t length = strlen(text);
  const size_t limit = sizeof(slot->text) - 1;
  if (length > limit) length = limit;
  for (size_t i = 0; i <= length / 8; ++i) {
    uint64_t word = 0;
    size_t left = length - i * 8;
    memcpy(&word, text + i * 8, left < 8 ? left : 8);
    atomic_store_explicit(&slot->text[i], word, memory_order_release);
  }
}

svk_bool_t shim__vk_message_callback(
    uint32_t severity, uint32_t types,
    const svk_debug_utils_messenger_callback_data_t* data, void* messages) {
  (void)severity, (void)types;
  shim__vk_messages_t* ring = messages;
  uint64_t number = atomic_fetch_add(&ring->count, 1);
  shim__vk_message_t* slot = &ring->slots[number % SHIM__VK_MESSAGES];
  uint64_t state = atomic_load(&slot->state);
  if (state % 2 != 0 || state > 2 * number ||
      !atomic_compare_exchange_strong(&slot->state, &state, 2 * number + 1)) {
    return 0;
  }
  write_text(slot, data->pMessage ? data->pMessage : "");
  atomic_store(&slot->state, 2 * number + 2);
  return 0;  // let the offending call continue
}

uint64_t shim_vulkan_message_count(const shim_vulkan_api_t* api) {
  return atomic_load(&api->messages.count);
}

size_t shim_vulkan_message(const shim_vulkan_api_t* api, uint64_t number,
                           char* out, size_t capacity) {
  const shim__vk_message_t* slot =
      &api->messages.slots[number % SHIM__VK_MESSAGES];
  uint64_t state = atomic_load(&slot->state);
  if (state != 2 * number + 2) return 0;
  uint64_t text[SHIM__VK_MESSAGE_WORDS];
  for (size_t i = 0; i < SHIM__VK_MESSAGE_WORDS; ++i) {
    text[i] = atomic_load_explicit(&slot->text[i], memory_order_acquire);
  }
  if (atomic_load(&slot->state) != state) return 0;
  size_t length = strnlen((const char*)text, sizeof(text));
  if (length > capacity) length = capacity;
  memcpy(out, text, length);
  return length;
}

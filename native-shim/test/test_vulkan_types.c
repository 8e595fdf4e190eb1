// Compares our declarations of Vulkan with the SDK's headers, where installed.
#include "test.h"
#include "vulkan/vulkan_types.h"
#include "vulkan/vulkan_status.h"

#if defined(SHIM_VULKAN_HEADERS)
#include <vulkan/vulkan_core.h>

#define TYPE_NUMBER(number, name)                        \
  CHECK_EQ(SVK_STRUCTURE_TYPE_##name, VK_STRUCTURE_TYPE_##name);
#define NUMBER(number, name) CHECK_EQ(SVK_##name, VK_##name);
#define RESULT(number, status, name) CHECK_EQ(number, VK_##name);

static void numbers_are_those_of_the_specification(void) {
  SVK_STRUCTURE_TYPES(TYPE_NUMBER)
  SVK_NUMBERS(NUMBER)
  SHIM__VK_RESULTS(RESULT)
  CHECK_EQ(SVK_API_VERSION(1, 3), VK_API_VERSION_1_3);
}

#define SIZE(ours, theirs) CHECK_EQ(sizeof(svk_##ours##_t), sizeof(Vk##theirs))
#define MEMBER(ours, theirs, member)                      \
  do {                                                    \
    CHECK_EQ(offsetof(svk_##ours##_t, member),            \
             offsetof(Vk##theirs, member));               \
    CHECK_EQ(sizeof(((svk_##ours##_t*)0)->member),        \
             sizeof(((Vk##theirs*)0)->member));           \
  } while (0)
#define STRUCT(ours, theirs)    \
  SIZE(ours, theirs);           \
  MEMBER(ours, theirs, sType);  \
  MEMBER(ours, theirs, pNext)

static void structures_have_the_layout_of_the_specification(void) {
#include "vulkan_layouts.inc"
}

#else

static void numbers_are_those_of_the_specification(void) {
  fprintf(stderr, "skipped: no <vulkan/vulkan_core.h> (libvulkan-dev)\n");
}

static void structures_have_the_layout_of_the_specification(void) {}

#endif

int main(void) {
  RUN(numbers_are_those_of_the_specification);
  RUN(structures_have_the_layout_of_the_specification);
  return 0;
}

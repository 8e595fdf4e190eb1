// Memory of pools: zeroed, aligned, between pages of zeros.
#include <string.h>

#include "shim_file.h"
#include "test.h"

static int is_zero(const uint8_t* bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (bytes[i]) return 0;
  }
  return 1;
}

static void check_slab(uint64_t size, uint64_t alignment) {
  shim_slab_t* slab = NULL;
  CHECK_OK(shim_slab_create(size, alignment, &slab, &error));
  uint8_t* bytes = shim_slab_bytes(slab);
  uint64_t page = shim_page_size();
  CHECK_EQ((uintptr_t)bytes % page, 0);
  CHECK_EQ((uintptr_t)bytes % alignment, 0);
  CHECK(is_zero(bytes, size));
  memset(bytes, 0xFF, size);
  CHECK(is_zero(bytes - page, page));
  CHECK(is_zero(bytes + size, page));
  shim_slab_release(slab);
}

static void slabs_of_all_sizes_lie_between_zeros(void) {
  const uint64_t large = 2 << 20;
  const uint64_t sizes[] = {1, 4095, 4096, 4097, 100000, large - 1, large,
                            large + 1, 3 * large + 12345};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    check_slab(sizes[i], 1);
    check_slab(sizes[i], 64);
    check_slab(sizes[i], 1 << 16);
    check_slab(sizes[i], large);
    check_slab(sizes[i], 4 * large);
  }
}

static void what_cannot_be_is_refused(void) {
  int something = 0;
  shim_slab_t* slab = (shim_slab_t*)(void*)&something;
  CHECK_FAILS(shim_slab_create(0, 64, &slab, &error), SHIM_INVALID_ARGUMENT,
              "slab of 0 bytes");
  CHECK(!slab);
  CHECK_FAILS(shim_slab_create(64, 48, &slab, &error), SHIM_INVALID_ARGUMENT,
              "multiples of 48");
  CHECK_FAILS(shim_slab_create(1ull << 60, 64, &slab, &error),
              SHIM_RESOURCE_EXHAUSTED, "no memory for 1152921504606846976 bytes");
  CHECK(!slab);
  shim_slab_release(NULL);
}

int main(void) {
  RUN(slabs_of_all_sizes_lie_between_zeros);
  RUN(what_cannot_be_is_refused);
  return 0;
}

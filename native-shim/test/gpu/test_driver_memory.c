// Memory of devices and of the host through the shim.
#include <stdlib.h>
#include <sys/mman.h>

#include "gpu/driver_test.h"

static void memory_is_allocated_and_freed(void) {
  begin("");
  uint64_t one = new_memory(1000), two = new_memory(1000);
  CHECK(one && two && one != two);
  CHECK_EQ(live(SHIM_GPU_KIND_MEMORY), 2);
  words_t words = {0};
  add_fill(&words, one, 1000, 1, 4);
  add_fill(&words, two, 1000, 2, 4);
  OK(run(&words, &error));
  CHECK_EQ(value_at(one + 996), 1);
  CHECK_EQ(value_at(two), 2);
  free_memory(one);
  CHECK_EQ(live(SHIM_GPU_KIND_MEMORY), 1);
  free_memory(two);
  end();
}

static void check_no_memory(uint64_t size) {
  uint64_t address = 7;
  FAILS(shim_gpu_memory_allocate(device, size, 0, &address, &error),
        SHIM_RESOURCE_EXHAUSTED, "allocation of device memory of ");
  CHECK_EQ(address, 0);
}

static void check_no_host_memory(uint64_t size) {
  uint64_t addresses[2] = {7, 7};
  FAILS(shim_gpu_host_allocate(device, size, addresses, &error),
        SHIM_RESOURCE_EXHAUSTED, "allocation of pinned host memory of ");
  CHECK(!addresses[0] && !addresses[1]);
}

static void memory_that_there_is_not_is_refused(void) {
  begin("");
  check_no_memory(1ull << 50);
  check_only_the_stream_is_live();
  end();
  if (!is_fake) return;
  begin("heap_mib=1 oom_allocation=2");
  check_no_memory((1 << 20) + 1);
  check_no_memory(4);  // the second
  check_only_the_stream_is_live();
  end();
  begin("oom_allocation=1");
  check_no_host_memory(4);
  check_only_the_stream_is_live();
  end();
}

// With the library's pools, and where it has none.
static void memory_goes_back_without_work_being_waited_for(void) {
  begin("heap_mib=1");
  uint64_t own = new_memory(1 << 19), given = new_memory(1 << 19);
  CHECK_EQ(fake.calls("pool_allocate"), 2);
  CHECK_EQ(fake.calls("memory_allocate"), 0);
  words_t words = {0};
  add_fill(&words, own, 4, 9, 4);
  OK(run(&words, &error));
  free_memory(given);
  uint64_t again = new_memory((1 << 19) - 64);  // of another size
  CHECK_EQ(value_at(own), 9);
  free_memory(again);
  free_memory(own);
  check_no_memory((1 << 20) + 1);
  own = new_memory(1 << 20);
  free_memory(own);
  end();
  begin("no_attribute=88 no_attribute=115");
  own = new_memory(64);
  CHECK_EQ(fake.calls("memory_allocate"), 1);
  CHECK_EQ(fake.calls("pool_create"), 0);
  free_memory(own);
  end();
  begin("fail=pool_create:1:801");
  own = new_memory(64);
  CHECK_EQ(fake.calls("memory_allocate"), 1);
  free_memory(own);
  end();
}

// Memory that the pool does not take is freed in another way; what the library
// takes in no way is still counted, and is taken later.
static void memory_that_is_refused_is_not_lost(void) {
  begin("fail=pool_free:1:2 fail=pool_free:3:304 fail=pool_free:5:2 "
        "fail=memory_free:3:304");
  for (int i = 0; i < 4; ++i) {
    free_memory(new_memory(64));
    CHECK_EQ(live(SHIM_GPU_KIND_MEMORY), 0);
  }
  CHECK_EQ(fake.calls("memory_free"), 2);
  uint64_t memory = new_memory(64);
  FAILS(shim_gpu_memory_free(device, memory, 0, &error),
        SHIM_RESOURCE_EXHAUSTED, "OPERATING_SYSTEM (304)");
  CHECK_EQ(live(SHIM_GPU_KIND_MEMORY), 1);
  free_memory(memory);
  check_only_the_stream_is_live();
  end();
  begin("no_attribute=88 no_attribute=115 fail=memory_free:1:2");
  memory = new_memory(64);
  FAILS(shim_gpu_memory_free(device, memory, 0, &error),
        SHIM_RESOURCE_EXHAUSTED, "freeing memory at 0x");
  free_memory(memory);
  check_only_the_stream_is_live();
  end();
}

// A free that was not waited for is over before its pool is destroyed. Often,
// since the fake's thread may be done with it before that.
static void frees_are_over_when_the_device_is_released(void) {
  for (int i = 0; i < 100; ++i) {
    begin("fail=stream_synchronize:2:1");
    free_memory(new_memory(64));
    CHECK_EQ(fake.calls("stream_synchronize"), 2);
    end();
  }
}

static void managed_memory_is_of_both(void) {
  begin("");
  uint64_t memory = 0;
  OK(shim_gpu_memory_allocate(device, 64, 1, &memory, &error));
  CHECK_EQ(live(SHIM_GPU_KIND_MEMORY), 1);
  uint32_t* host = (uint32_t*)(uintptr_t)memory;
  words_t words = {0};
  add_fill(&words, memory, 64, 6, 4);
  OK(run(&words, &error));
  finish();
  CHECK_EQ(host[15], 6);
  host[0] = 7;
  uint64_t own = new_memory(4);
  words.count = 0;
  add_copy(&words, own, memory, 4);
  OK(run(&words, &error));
  CHECK_EQ(value_at(own), 7);
  free_memory(own);
  OK(shim_gpu_memory_free(device, memory, 1, &error));
  end();
  if (!is_fake) return;
  begin("fail=memory_managed:1:2");
  FAILS(shim_gpu_memory_allocate(device, 64, 1, &memory, &error),
        SHIM_RESOURCE_EXHAUSTED, "allocation of managed memory of 64 bytes");
  end();
}

static void memory_of_others_is_not_available(void) {
  uint64_t available = 0;
  if (!is_fake) {
    begin("");
    OK(shim_gpu_memory_available(device, &available, &error));
    CHECK(available > 0);
    end();
    return;
  }
  begin("heap_mib=8 others_mib=3");
  OK(shim_gpu_memory_available(device, &available, &error));
  CHECK_EQ(available, 5u << 20);
  end();
  begin("fail=memory_info:1:2");
  FAILS(shim_gpu_memory_available(device, &available, &error),
        SHIM_RESOURCE_EXHAUSTED, "asking for free memory");
  CHECK_EQ(available, UINT64_MAX);
  end();
}

static void bytes_of_an_allocation_are_known(void) {
  begin("");
  uint64_t memory = new_memory(1000);
  OK(shim_gpu_memory_check(device, memory, 1000, &error));
  OK(shim_gpu_memory_check(device, memory + 999, 1, &error));
  if (is_fake) {  // drivers round up
    FAILS(shim_gpu_memory_check(device, memory + 1, 1000, &error),
          SHIM_INVALID_ARGUMENT, "are not in the allocation of 1000 bytes");
  }
  FAILS(shim_gpu_memory_check(device, memory, 1ull << 60, &error),
        SHIM_INVALID_ARGUMENT, "are not in the allocation of ");
  free_memory(memory);
  if (is_fake) {
    FAILS(shim_gpu_memory_check(device, memory, 4, &error), SHIM_NOT_FOUND,
          "finding memory at 0x");
  }
  end();
}

// Of |other|, filled by the device.
static void reach(shim_gpu_device_t* other) {
  OK(shim_gpu_device_reach(device, other, &error));
  OK(shim_gpu_device_reach(device, other, &error));  // it does already
  uint64_t memory = 0;
  OK(shim_gpu_memory_allocate(other, 64, 0, &memory, &error));
  words_t words = {0};
  add_fill(&words, memory, 64, 3, 4);
  OK(run(&words, &error));
  CHECK_EQ(value_at(memory + 60), 3);
  OK(shim_gpu_memory_free(other, memory, 0, &error));
}

static void devices_reach_one_another(void) {
  static const char* const settings[] = {
      "devices=2 peer", "devices=2 peer no_attribute=115 no_attribute=88"};
  for (int i = 0; i < 2; ++i) {
    begin(settings[i]);
    shim_gpu_device_t *other = NULL, *same = NULL;
    OK(shim_gpu_device_open(api, 1, &other, &error));
    OK(shim_gpu_device_open(api, 0, &same, &error));
    reach(other);
    OK(shim_gpu_device_reach(device, same, &error));
    DONE(shim_gpu_device_release(same));
    DONE(shim_gpu_device_release(other));
    other = NULL;  // another context
    OK(shim_gpu_device_open(api, 1, &other, &error));
    reach(other);
    DONE(shim_gpu_device_release(other));
    end();
  }
  begin("devices=2");
  shim_gpu_device_t* other = NULL;
  OK(shim_gpu_device_open(api, 1, &other, &error));
  FAILS(shim_gpu_device_reach(device, other, &error), SHIM_UNIMPLEMENTED,
        "reaching the memory of device '");
  DONE(shim_gpu_device_release(other));
  end();
}

static void memory_of_no_bytes_is_the_librarys_matter(void) {
  begin("");
  uint64_t address = 7;
  if (hip) {
    OK(shim_gpu_memory_allocate(device, 0, 0, &address, &error));
    CHECK_EQ(address, 0);
    free_memory(address);
  } else {
    FAILS(shim_gpu_memory_allocate(device, 0, 0, &address, &error),
          SHIM_INVALID_ARGUMENT, "of 0 bytes failed with INVALID_VALUE (1)");
    CHECK_EQ(address, 0);
  }
  end();
}

static void pinned_memory_is_shared(void) {
  begin("");
  pinned_t pinned = new_pinned(4096);
  CHECK_EQ(live(SHIM_GPU_KIND_HOST_MEMORY), 1);
  uint64_t memory = new_memory(4096);
  pinned.host[0] = 41;
  words_t words = {0};
  add_copy(&words, memory, pinned.address, 4096);
  add_copy(&words, pinned.address + 8, memory, 4);
  add_fill(&words, pinned.address + 12, 8, 42, 4);
  OK(run(&words, &error));
  finish();
  CHECK_EQ(pinned.host[2], 41);
  CHECK_EQ(pinned.host[3], 42);
  CHECK_EQ(pinned.host[4], 42);
  CHECK_EQ(pinned.host[5], 0);
  free_memory(memory);
  free_pinned(pinned);
  end();
}

enum { PAGE = 65536 };  // of any system

static void memory_of_the_caller_is_registered(void) {
  begin("");
  uint32_t* own = aligned_alloc(PAGE, 4 * PAGE);
  CHECK(own);
  memset(own, 0, 4 * PAGE);
  uint64_t address = 0;
  OK(shim_gpu_host_register(device, own, 2 * PAGE, 0, &address, &error));
  CHECK(address);
  CHECK_EQ(live(SHIM_GPU_KIND_REGISTRATIONS), 1);
  uint64_t memory = new_memory(64);
  own[1] = 5;
  words_t words = {0};
  add_copy(&words, memory, address + 4, 4);
  add_copy(&words, address + 8, memory, 4);
  OK(run(&words, &error));
  finish();
  CHECK_EQ(own[2], 5);
  free_memory(memory);
  DONE(shim_gpu_host_unregister(device, own));
  check_only_the_stream_is_live();
  free(own);
  end();
}

static void memory_that_is_only_read_is_registered_so(void) {
  begin("");
  uint32_t* own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(own != MAP_FAILED);
  own[1] = 5;
  CHECK_EQ(mprotect(own, PAGE, PROT_READ), 0);
  uint64_t address = 0;
  if (is_fake) {
    FAILS(shim_gpu_host_register(device, own, PAGE, 0, &address, &error),
          SHIM_INVALID_ARGUMENT, "registration of host memory of 65536 bytes");
  }
  if (is_fake && hip) {  // it has no such registration
    FAILS(shim_gpu_host_register(device, own, PAGE, 1, &address, &error),
          SHIM_INVALID_ARGUMENT, "registration of host memory of 65536 bytes");
  } else if (!hip) {
    OK(shim_gpu_host_register(device, own, PAGE, 1, &address, &error));
    uint64_t memory = new_memory(4);
    words_t words = {0};
    add_copy(&words, memory, address + 4, 4);
    OK(run(&words, &error));
    CHECK_EQ(value_at(memory), 5);
    free_memory(memory);
    DONE(shim_gpu_host_unregister(device, own));
  }
  check_only_the_stream_is_live();
  end();
  if (is_fake) {
    begin("no_attribute=113");
    FAILS(shim_gpu_host_register(device, own, PAGE, 1, &address, &error),
          SHIM_INVALID_ARGUMENT, "registration of host memory of 65536 bytes");
    CHECK_EQ(mprotect(own, PAGE, PROT_READ | PROT_WRITE), 0);
    OK(shim_gpu_host_register(device, own, PAGE, 1, &address, &error));
    DONE(shim_gpu_host_unregister(device, own));
    end();
  }
  CHECK_EQ(munmap(own, PAGE), 0);
}

static void no_byte_is_registered_twice(void) {
  begin("");
  uint8_t* own = aligned_alloc(PAGE, 4 * PAGE);
  CHECK(own);
  uint64_t address = 0, other = 7;
  OK(shim_gpu_host_register(device, own + PAGE, 2 * PAGE, 0, &address, &error));
  FAILS(shim_gpu_host_register(device, own + PAGE, PAGE, 0, &other, &error),
        SHIM_ALREADY_EXISTS, "registration of host memory of 65536 bytes");
  CHECK_EQ(other, 0);
  FAILS(shim_gpu_host_register(device, own + 2 * PAGE, 2 * PAGE, 0, &other,
                               &error),
        SHIM_ALREADY_EXISTS, "HOST_MEMORY_ALREADY_REGISTERED (712)");
  FAILS(shim_gpu_host_register(device, own, 0, 0, &other, &error),
        SHIM_INVALID_ARGUMENT, "registration of host memory of 0 bytes");
  CHECK_EQ(live(SHIM_GPU_KIND_REGISTRATIONS), 1);
  OK(shim_gpu_host_register(device, own, PAGE, 0, &other, &error));
  DONE(shim_gpu_host_unregister(device, own));
  DONE(shim_gpu_host_unregister(device, own + PAGE));
  OK(shim_gpu_host_register(device, own, 4 * PAGE, 0, &address, &error));
  DONE(shim_gpu_host_unregister(device, own));
  free(own);
  end();
}

void test_driver_memory(void) {
  RUN(memory_is_allocated_and_freed);
  RUN(memory_that_there_is_not_is_refused);
  RUN(memory_of_no_bytes_is_the_librarys_matter);
  if (is_fake) RUN(memory_goes_back_without_work_being_waited_for);
  if (is_fake) RUN(memory_that_is_refused_is_not_lost);
  if (is_fake) RUN(frees_are_over_when_the_device_is_released);
  RUN(managed_memory_is_of_both);
  RUN(memory_of_others_is_not_available);
  RUN(bytes_of_an_allocation_are_known);
  if (is_fake) RUN(devices_reach_one_another);
  RUN(pinned_memory_is_shared);
  RUN(memory_of_the_caller_is_registered);
  RUN(memory_that_is_only_read_is_registered_so);
  RUN(no_byte_is_registered_twice);
}

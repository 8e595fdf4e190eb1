// The fakes' memory, fills and copies.
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/fake_gpu_test.h"

static void fills_and_copies_run(void) {
  begin("");
  uint64_t memory = new_memory(4096);
  uint8_t* host = new_pinned(4096);
  CHECK_EQ(host[4095], 0xCD);
  CHECK_EQ(gpu.fill_8(memory, 1, 3, stream), 0);
  CHECK_EQ(gpu.fill_16(memory + 4, 0x0302, 2, stream), 0);
  CHECK_EQ(gpu.fill_32(memory + 8, 0x07060504, 1, stream), 0);
  CHECK_EQ(gpu.fill_32(memory + 4096, 0, 0, stream), 0);
  CHECK_EQ(copy(stream, address(host), memory, 13), 0);
  CHECK_EQ(finish(stream), 0);
  const uint8_t expected[] = {1, 1, 1, 0xCD, 2, 3, 2, 3, 4, 5, 6, 7, 0xCD};
  CHECK_EQ(memcmp(host, expected, sizeof(expected)), 0);
  CHECK_EQ(gpu.fill_16(memory + 1, 0, 1, stream), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.fill_32(memory + 2, 0, 1, stream), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  end();
}

static void only_known_memory_is_filled_and_copied(void) {
  begin("");
  uint64_t memory = new_memory(100);
  void* host = new_pinned(100);
  CHECK_EQ(gpu.fill_8(memory, 0, 101, stream), SGPU_INVALID_VALUE);
  complained("writes 101 bytes");
  char pageable[8];
  CHECK_EQ(copy(stream, memory, address(pageable), 8), SGPU_INVALID_VALUE);
  complained("a copy reads 8 bytes");
  CHECK_EQ(copy(stream, memory + 99, address(host), 2), SGPU_INVALID_VALUE);
  complained("writes 2 bytes");
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(copy(stream, memory, address(host), 1), SGPU_INVALID_VALUE);
  complained("writes 1 bytes");
  CHECK_EQ(gpu.host_free(host), 0);
  if (hip) CHECK_EQ(gpu.copy_hip(memory, memory, 1, 9, stream), 21);
  end();
}

// Whether the host can read it, without a fault.
static bool is_readable(uint64_t memory) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  bool readable = write(ends[1], (void*)(uintptr_t)memory, 1) == 1;
  if (!readable) CHECK_EQ(errno, EFAULT);
  close(ends[0]);
  close(ends[1]);
  return readable;
}

static void memory_is_hidden_from_the_host(void) {
  begin("");
  uint64_t memory = new_memory(100);
  CHECK(!is_readable(memory));
  CHECK_EQ(gpu.fill_8(memory, 0, 100, stream), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK(!is_readable(memory));
  CHECK_EQ(gpu.memory_free(memory), 0);
  end();
  begin("visible");
  memory = new_memory(100);
  CHECK(is_readable(memory));
  CHECK_EQ(*(uint8_t*)(uintptr_t)memory, 0xCD);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK(!is_readable(memory));
  end();
}

static void addresses_are_used_again_at_once(void) {
  begin("");
  uint64_t one = new_memory(100);
  uint64_t two = new_memory(100);
  CHECK(one != two);
  CHECK_EQ(gpu.fill_8(one, 7, 100, stream), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(gpu.memory_free(one), 0);
  CHECK_EQ(gpu.memory_free(one), SGPU_INVALID_VALUE);
  complained("but not such memory");
  CHECK_EQ(new_memory(90), one);
  uint8_t* host = new_pinned(90);
  CHECK_EQ(copy(stream, address(host), one, 90), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(host[0], 0xCD);
  CHECK_EQ(gpu.memory_free(one + 1), SGPU_INVALID_VALUE);
  complained("but not such memory");
  CHECK_EQ(gpu.host_free((void*)(uintptr_t)one), SGPU_INVALID_VALUE);
  complained("but not such memory");
  CHECK_EQ(gpu.memory_free(one), 0);
  CHECK_EQ(gpu.memory_free(two), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  end();
}

static void addresses_are_aligned_no_better_than_is_said(void) {
  begin("alignment=512");
  uint64_t memory = new_memory(65536);
  uint8_t* host = new_pinned(100);
  CHECK_EQ(memory % 1024, 512);
  CHECK_EQ(address(host) % 1024, 512);
  CHECK(!is_readable(memory) && !is_readable(memory + 65535));
  CHECK_EQ(gpu.fill_8(memory, 5, 65536, stream), 0);
  CHECK_EQ(copy(stream, address(host), memory + 65436, 100), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(host[99], 5);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(new_memory(65400), memory);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  end();
}

static void memory_that_is_in_use_is_not_freed(void) {
  begin("");
  uint64_t memory = new_memory(64);
  void* host = new_pinned(64);
  make_file(".hang");
  CHECK_EQ(copy(stream, memory, address(host), 64), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  complained("memory of a device is freed while operations use it");
  CHECK_EQ(gpu.host_free(host), 0);
  complained("pinned memory is freed while operations use it");
  // Not while it is used.
  uint64_t other = new_memory(64);
  CHECK(other != memory);
  CHECK_EQ(gpu.memory_free(other), 0);
  remove_file(".hang");
  CHECK_EQ(finish(stream), SGPU_ILLEGAL_ADDRESS);
  CHECK_EQ(finish(stream), SGPU_ILLEGAL_ADDRESS);
  end_dead(SGPU_ILLEGAL_ADDRESS);
}

static void memory_is_limited(void) {
  begin("heap_mib=1 oom_allocation=4");
  uint64_t one = new_memory(1 << 19);
  uint64_t two = 1;
  CHECK_EQ(gpu.memory_allocate(&two, (1 << 19) + 1), SGPU_OUT_OF_MEMORY);
  CHECK_EQ(two, 0);
  two = new_memory(1 << 19);
  void* host = NULL;
  CHECK_EQ(gpu.host_allocate(&host, 4, 0), SGPU_OUT_OF_MEMORY);  // the fourth
  CHECK_EQ(gpu.host_allocate(&host, 4, 0), 0);
  uint64_t none = 1;
  CHECK_EQ(gpu.memory_allocate(&none, 0), hip ? 0 : SGPU_INVALID_VALUE);
  CHECK_EQ(none, 0);
  if (hip) CHECK_EQ(gpu.memory_free(none), 0);
  CHECK_EQ(gpu.memory_free(one), 0);
  CHECK_EQ(gpu.memory_free(two), 0);
  CHECK_EQ(gpu.host_free(host), 0);
  end();
}

static void memory_of_the_host_is_registered_once(void) {
  begin("");
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t* own = aligned_alloc(page, 4 * page);
  CHECK(own);
  CHECK_EQ(gpu.host_register(own + 100, page, SGPU_HOST_REGISTER_MAPPED), 0);
  CHECK_EQ(gpu.host_register(own + 50, 51, 0), 712);
  CHECK_EQ(gpu.host_register(own, 10, 0), 712);  // of the same page
  CHECK_EQ(gpu.host_register(own + page + 200, 10, 0), 712);
  CHECK_EQ(gpu.host_register(own, 4 * page, 0), 712);
  CHECK_EQ(gpu.host_register(own + 2 * page, 100, 0), 0);
  CHECK_EQ(gpu.host_register(own + page + 200, page, 0), 712);
  CHECK_EQ(gpu.host_register(own, 0, 0), SGPU_INVALID_VALUE);
  uint64_t device = 0;
  CHECK_EQ(gpu.host_address(&device, own + 150, 0), 0);
  CHECK_EQ(device, address(own + 150));
  CHECK_EQ(gpu.host_address(&device, own, 0), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.fill_8(device, 9, 10, stream), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(own[159], 9);
  make_file(".hang");
  CHECK_EQ(gpu.fill_8(device, 9, 10, stream), 0);
  CHECK_EQ(gpu.host_unregister(own + 2 * page), 0);
  CHECK_EQ(gpu.host_unregister(own + 2 * page), 713);
  complained("but not such memory");
  remove_file(".hang");
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(gpu.host_unregister(own + 100), 0);
  free(own);
  end();
}

static uint8_t* map(size_t size, int rights, int flags, int file) {
  void* mapped = mmap(NULL, size, rights, flags, file, 0);
  CHECK(mapped != MAP_FAILED);
  return mapped;
}

static void memory_is_registered_with_the_rights_of_its_pages(void) {
  enum { READ_ONLY = SGPU_HOST_REGISTER_READ_ONLY };
  begin("");
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t* own = map(3 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1);
  CHECK_EQ(mprotect(own + page, page, PROT_READ), 0);
  CHECK_EQ(gpu.host_register(own, page, 0), 0);
  CHECK_EQ(gpu.host_unregister(own), 0);
  CHECK_EQ(gpu.host_register(own + page, 8, 0), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.host_register(own, 3 * page, 0), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.host_register(own, 3 * page, READ_ONLY),
           hip ? SGPU_NOT_SUPPORTED : 0);
  if (!hip) {
    uint64_t memory = new_memory(8);
    CHECK_EQ(copy(stream, memory, address(own + page), 8), 0);
    CHECK_EQ(finish(stream), 0);
    CHECK_EQ(gpu.fill_8(address(own), 1, 8, stream), SGPU_INVALID_VALUE);
    complained("registered to be read is written");
    CHECK_EQ(gpu.memory_free(memory), 0);
    CHECK_EQ(gpu.host_unregister(own), 0);
  }
  CHECK_EQ(mprotect(own + 2 * page, page, PROT_NONE), 0);
  CHECK_EQ(gpu.host_register(own + 2 * page, 8, 0), SGPU_INVALID_VALUE);
  CHECK_EQ(munmap(own + 2 * page, page), 0);
  CHECK_EQ(gpu.host_register(own + 2 * page, 8, 0), SGPU_INVALID_VALUE);
  CHECK_EQ(munmap(own, 2 * page), 0);
  end();
}

static void files_are_registered_unless_it_is_said(void) {
  FILE* file = tmpfile();
  CHECK(file);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  CHECK_EQ(ftruncate(fileno(file), (off_t)page), 0);
  uint8_t* shared = map(page, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file));
  begin("");
  CHECK_EQ(gpu.host_register(shared, page, 0), 0);
  CHECK_EQ(gpu.host_unregister(shared), 0);
  end();
  begin("no_files no_attribute=113");
  CHECK_EQ(gpu.host_register(shared, page, 0), SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.host_register(shared, page, SGPU_HOST_REGISTER_READ_ONLY),
           SGPU_NOT_SUPPORTED);
  end();
  CHECK_EQ(munmap(shared, page), 0);
  fclose(file);
}

static sgpu_event_t begin_work(uint64_t memory) {
  sgpu_event_t event = new_event();
  CHECK_EQ(gpu.fill_8(memory, 1, 1, stream), 0);
  CHECK_EQ(gpu.event_record(event, stream), 0);
  return event;
}

static void check_over(sgpu_event_t work) {
  CHECK_EQ(gpu.event_query(work), 0);
  CHECK_EQ(gpu.event_destroy(work), 0);
}

static void calls_wait_for_the_device_where_it_is_said(void) {
  begin("implicit_sync slow=2000");
  uint64_t memory = new_memory(64), more = 0;
  uint8_t own[64];
  void* host = NULL;
  sgpu_event_t work = begin_work(memory);
  CHECK_EQ(gpu.memory_allocate(&more, 64), 0);
  check_over(work);
  work = begin_work(memory);
  CHECK_EQ(gpu.memory_free(more), 0);
  check_over(work);
  work = begin_work(memory);
  CHECK_EQ(gpu.host_allocate(&host, 64, 0), 0);
  check_over(work);
  work = begin_work(memory);
  CHECK_EQ(gpu.host_free(host), 0);
  check_over(work);
  work = begin_work(memory);
  CHECK_EQ(gpu.host_register(own, 64, 0), 0);
  check_over(work);
  work = begin_work(memory);
  CHECK_EQ(gpu.host_unregister(own), 0);
  check_over(work);
  work = begin_work(memory);
  make_file(".lost");  // which ends the wait
  CHECK_EQ(gpu.memory_allocate(&more, 64), SGPU_LAUNCH_FAILED);
  remove_file(".lost");
  CHECK_EQ(gpu.event_destroy(work), SGPU_LAUNCH_FAILED);
  end_dead(SGPU_LAUNCH_FAILED);
}

static sgpu_pool_t new_pool(void) {
  const sgpu_pool_params_t params = {.type = SGPU_POOL_PINNED,
                                     .location = SGPU_LOCATION_DEVICE};
  sgpu_pool_t pool = NULL;
  CHECK_EQ(gpu.pool_create(&pool, &params), 0);
  return pool;
}

static void pools_give_and_take_in_the_order_of_a_stream(void) {
  begin("heap_mib=1");
  sgpu_pool_t pool = new_pool();
  sgpu_stream_t other = new_stream();
  uint64_t memory = 0;
  CHECK_EQ(gpu.pool_allocate(&memory, 1 << 20, pool, stream), 0);
  CHECK_EQ(gpu.fill_8(memory, 1, 4, stream), 0);
  CHECK_EQ(gpu.stream_synchronize(stream), 0);
  CHECK_EQ(gpu.fill_8(memory, 1, 4, other), 0);
  CHECK_EQ(finish(other), 0);
  make_file(".hang");
  CHECK_EQ(gpu.fill_8(memory, 1, 4, stream), 0);
  CHECK_EQ(gpu.pool_free(memory, stream), 0);  // once that is over
  CHECK_EQ(gpu.pool_free(memory, stream), SGPU_INVALID_VALUE);
  complained("but not memory of one");
  CHECK_EQ(gpu.fill_8(memory, 1, 4, stream), 0);
  complained("memory is used after it was given back");
  remove_file(".hang");
  CHECK_EQ(finish(stream), SGPU_ILLEGAL_ADDRESS);
  complained("memory of a device is freed while operations use it");
  CHECK_EQ(gpu.pool_destroy(pool), SGPU_ILLEGAL_ADDRESS);
  CHECK_EQ(gpu.stream_destroy(other), SGPU_ILLEGAL_ADDRESS);
  end_dead(SGPU_ILLEGAL_ADDRESS);
}

// Until something waits for the device.
static void pools_keep_what_was_given_back(void) {
  begin("heap_mib=1");
  sgpu_pool_t pool = new_pool();
  uint64_t memory = 0, none = 0;
  CHECK_EQ(gpu.pool_allocate(&memory, 1 << 20, pool, stream), 0);
  CHECK_EQ(gpu.pool_free(memory, stream), 0);
  sgpu_event_t event = new_event();
  CHECK_EQ(gpu.event_record(event, stream), 0);
  while (gpu.event_query(event) == SGPU_NOT_READY) continue;
  CHECK_EQ(gpu.event_destroy(event), 0);
  CHECK_EQ(gpu.memory_allocate(&none, 1 << 19), SGPU_OUT_OF_MEMORY);
  CHECK_EQ(gpu.pool_allocate(&memory, 1 << 20, pool, stream), 0);
  CHECK_EQ(gpu.pool_free(memory, stream), 0);
  CHECK_EQ(gpu.stream_synchronize(stream), 0);
  uint64_t own = new_memory(1 << 19);
  CHECK_EQ(gpu.pool_free(own, stream), SGPU_INVALID_VALUE);
  complained("but not memory of one");
  CHECK_EQ(gpu.pool_allocate(&memory, (1 << 19) + 1, pool, stream),
           SGPU_OUT_OF_MEMORY);
  CHECK_EQ(gpu.memory_free(own), 0);
  CHECK_EQ(gpu.pool_allocate(&memory, 4, pool, stream), 0);
  CHECK_EQ(gpu.stream_synchronize(stream), 0);
  CHECK_EQ(gpu.pool_destroy(pool), 0);
  complained("a pool is destroyed whose memory is in use");
  CHECK_EQ(gpu.memory_free(memory), 0);
  end();
}

static void memory_is_of_one_device_unless_it_is_a_peer(void) {
  begin("devices=2 peer");
  sgpu_context_t second = NULL;
  CHECK_EQ(gpu.context_retain(&second, 1), 0);
  CHECK_EQ(gpu.context_push(second), 0);
  uint64_t memory = new_memory(64);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.fill_8(memory, 0, 64, stream), SGPU_INVALID_VALUE);
  complained("memory of another device is filled");
  uint64_t own = new_memory(64);
  CHECK_EQ(copy(stream, memory, own, 64), 0);  // the driver sees to it
  CHECK_EQ(finish(stream), 0);
  int can = 0;
  CHECK_EQ(gpu.peer_ask(&can, 0, 1), 0);
  CHECK_EQ(can, 1);
  CHECK_EQ(gpu.peer_ask(&can, 0, 0), 0);
  CHECK_EQ(can, 0);
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(hip ? gpu.peer_hip(1, 0) : gpu.peer_cuda(second, 0),
             i ? SGPU_PEER_ACCESS_ALREADY_ENABLED : 0);
  }
  CHECK_EQ(gpu.fill_8(memory, 0, 64, stream), 0);
  CHECK_EQ(finish(stream), 0);
  CHECK_EQ(gpu.memory_free(own), 0);
  CHECK_EQ(gpu.context_push(second), 0);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.context_release(1), 0);
  end();
}

static void managed_memory_is_seen_by_the_host(void) {
  begin("");
  uint64_t memory = 0;
  CHECK_EQ(gpu.memory_managed(&memory, 100, SGPU_MANAGED_GLOBAL), 0);
  CHECK(is_readable(memory));
  CHECK_EQ(gpu.memory_managed(&memory, 0, SGPU_MANAGED_GLOBAL),
           SGPU_INVALID_VALUE);
  CHECK_EQ(gpu.memory_managed(&memory, 100, SGPU_MANAGED_GLOBAL), 0);
  uint64_t first = 0;
  size_t size = 0;
  CHECK_EQ(gpu.memory_range(&first, &size, memory + 50), 0);
  CHECK_EQ(first, memory);
  CHECK_EQ(size, 100);
  CHECK_EQ(gpu.memory_free(memory), 0);
  CHECK_EQ(gpu.stream_destroy(stream), 0);
  CHECK_EQ(gpu.context_pop(NULL), 0);
  CHECK_EQ(gpu.context_release(0), 0);
  complained("1 managed allocations");
  close_fake();
}

void test_gpu_memory(void) {
  RUN(fills_and_copies_run);
  RUN(only_known_memory_is_filled_and_copied);
  RUN(memory_is_hidden_from_the_host);
  RUN(addresses_are_used_again_at_once);
  RUN(addresses_are_aligned_no_better_than_is_said);
  RUN(memory_that_is_in_use_is_not_freed);
  RUN(memory_is_limited);
  RUN(memory_of_the_host_is_registered_once);
  RUN(memory_is_registered_with_the_rights_of_its_pages);
  RUN(files_are_registered_unless_it_is_said);
  RUN(calls_wait_for_the_device_where_it_is_said);
  RUN(pools_give_and_take_in_the_order_of_a_stream);
  RUN(pools_keep_what_was_given_back);
  RUN(memory_is_of_one_device_unless_it_is_a_peer);
  RUN(managed_memory_is_seen_by_the_host);
}

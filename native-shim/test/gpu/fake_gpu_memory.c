// Memory of the fakes: a table of the address ranges that operations can use.
// Device memory lies in this process, but without access rights while no
// operation uses it. Addresses last freed are first reused.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_gpu.h"

enum { PAGE = 65536, POISON = 0xCD };  // PAGE: of any system

// By address.
static fake_range_t** table;
static size_t table_count, table_room;

static uint64_t used[FAKE_MAX_DEVICES];  // bytes

//===--------------------------------------------------------------------===//
// The table
//===--------------------------------------------------------------------===//

// The number of ranges that begin at or before the address.
static size_t position(uint64_t address) {
  size_t low = 0, high = table_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (table[middle]->address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

fake_range_t* fake_find(uint64_t address, uint64_t size) {
  size_t after = position(address);
  if (!after) return NULL;
  fake_range_t* range = table[after - 1];
  uint64_t offset = address - range->address;
  return offset < range->size && size <= range->size - offset ? range : NULL;
}

static bool overlaps(uint64_t address, uint64_t size) {
  size_t after = position(address);
  if (after && address - table[after - 1]->address < table[after - 1]->size) {
    return true;
  }
  return after < table_count && table[after]->address - address < size;
}

static uint64_t page_of(uint64_t address) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  return address / page * page;
}

// Whether pages, of which |first| and |last| are addresses, have registered
// memory, or bytes of other memory.
static bool overlaps_pages(uint64_t first, uint64_t last) {
  first = page_of(first);
  last = page_of(last);
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  if (overlaps(first, last - first + page)) return true;
  size_t after = position(first);
  const fake_range_t* before = after ? table[after - 1] : NULL;
  return before && before->kind == FAKE_MEMORY_REGISTERED &&
         page_of(before->address + before->size - 1) == first;
}

static fake_range_t* add(fake_range_t value) {
  if (table_count == table_room) {
    table_room = table_room * 2 + 64;
    table = realloc(table, table_room * sizeof(*table));
  }
  fake_range_t* range = malloc(sizeof(*range));
  *range = value;
  size_t at = position(value.address);
  memmove(&table[at + 1], &table[at], (table_count - at) * sizeof(*table));
  table[at] = range;
  ++table_count;
  return range;
}

//===--------------------------------------------------------------------===//
// Addresses
//===--------------------------------------------------------------------===//

// Freed rooms, last freed first. They stay reserved, so that no other code gets
// them and accesses fault.
typedef struct room_t {
  struct room_t* next;
  uint64_t address, size;
} room_t;

static room_t* rooms;

static uint64_t reserve(uint64_t size) {
  for (room_t** at = &rooms; *at; at = &(*at)->next) {
    if ((*at)->size != size) continue;
    room_t* found = *at;
    uint64_t address = found->address;
    *at = found->next;
    free(found);
    return address;
  }
  // A gap at either side, without access rights.
  void* address = mmap(NULL, size + 2 * PAGE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return 0;
  return ((uint64_t)(uintptr_t)address + PAGE - 1) / PAGE * PAGE + PAGE;
}

static void* pointer(uint64_t address) { return (void*)(uintptr_t)address; }

// Where the room of a range begins, which need not be where the range does.
static uint64_t start(uint64_t address) { return address / PAGE * PAGE; }

static void give_back(uint64_t first, uint64_t size) {
  madvise(pointer(first), size, MADV_DONTNEED);
  mprotect(pointer(first), size, PROT_NONE);
  room_t* room = malloc(sizeof(*room));
  *room = (room_t){.next = rooms, .address = first, .size = size};
  rooms = room;
}

static void allow(const fake_range_t* range, int rights) {
  mprotect(pointer(start(range->address)), range->room, rights);
}

// New memory of a context, with access rights, or NULL.
static fake_range_t* make(fake_memory_kind_t kind, sgpu_context_t context,
                          uint64_t size) {
  uint64_t offset = fake_settings.alignment % PAGE;
  uint64_t room = (offset + size + PAGE - 1) / PAGE * PAGE;
  uint64_t first = reserve(room);
  if (!first) return NULL;
  if (mprotect(pointer(first), room, PROT_READ | PROT_WRITE)) {
    give_back(first, room);
    return NULL;
  }
  uint64_t address = first + offset;
  memset(pointer(address), POISON, size);
  return add((fake_range_t){.kind = kind,
                            .context = context,
                            .device = context->device,
                            .address = address,
                            .size = size,
                            .room = room});
}

static bool is_hidden(const fake_range_t* range) {
  return range->kind == FAKE_MEMORY_DEVICE && !fake_settings.visible;
}

//===--------------------------------------------------------------------===//
// Uses
//===--------------------------------------------------------------------===//

static void release_unused(fake_range_t* range) {
  if (!range->freed || range->uses || range->open) return;
  if (range->kind != FAKE_MEMORY_REGISTERED) {
    give_back(start(range->address), range->room);
  }
  free(range);
}

void fake_retain(fake_range_t* range) { ++range->uses; }

void fake_release(fake_range_t* range) {
  --range->uses;
  release_unused(range);
}

void fake_open(fake_range_t* range) {
  if (range->pending) fake_complain("memory is used before it is allocated");
  if (range->open++ == 0 && is_hidden(range)) {
    allow(range, PROT_READ | PROT_WRITE);
  }
}

void fake_close(fake_range_t* range) {
  if (--range->open == 0 && is_hidden(range)) allow(range, PROT_NONE);
  release_unused(range);
}

// Ends the life of a range; its address is free once no operation uses it.
static void drop(size_t index, bool report) {
  static const char* const verbs[FAKE_MEMORY_KIND_COUNT] = {
      "memory of a device is freed", "pinned memory is freed",
      "memory is unregistered", "managed memory is freed"};
  fake_range_t* range = table[index];
  if (report && (range->uses || range->open)) {
    fake_complain("%s while operations use it", verbs[range->kind]);
  }
  --table_count;
  memmove(&table[index], &table[index + 1],
          (table_count - index) * sizeof(*table));
  if (range->kind == FAKE_MEMORY_DEVICE) used[range->device] -= range->size;
  range->freed = true;
  release_unused(range);
}

void fake_free_memory(sgpu_context_t context,
                      int counts[FAKE_MEMORY_KIND_COUNT]) {
  for (size_t i = table_count; i-- > 0;) {
    if (table[i]->context != context) continue;
    ++counts[table[i]->kind];
    drop(i, false);
  }
}

__attribute__((destructor)) static void free_rooms(void) {
  if (fake_has_contexts()) return;  // streams still run
  while (rooms) {
    room_t* next = rooms->next;
    munmap(pointer(rooms->address - PAGE), rooms->size + PAGE);
    free(rooms);
    rooms = next;
  }
  free(table);
}

//===--------------------------------------------------------------------===//
// Pools
//===--------------------------------------------------------------------===//

void fake_trim_pool(sgpu_pool_t pool) {
  used[pool->object.context->device] -= pool->unused;
  pool->unused = 0;
}

void fake_trim(sgpu_context_t context) {
  for (sgpu_pool_t pool = fake_next(FAKE_POOL, context, NULL); pool;
       pool = fake_next(FAKE_POOL, context, pool)) {
    fake_trim_pool(pool);
  }
}

bool fake_leave_pool(sgpu_pool_t pool) {
  bool any = false;
  for (size_t i = 0; i < table_count; ++i) {
    if (table[i]->pool != pool) continue;
    table[i]->pool = NULL;
    any = true;
  }
  return any;
}

void fake_end_allocation(uint64_t address) {
  fake_range_t* range = fake_find(address, 1);
  if (range) range->pending = false;
}

int fake_begin_free(uint64_t address) {
  fake_range_t* range = fake_find(address, 1);
  if (!range || range->address != address || !range->pool || range->leaving) {
    fake_complain("%#llx is given back to a pool, but not memory of one",
                  (unsigned long long)address);
    return SGPU_INVALID_VALUE;
  }
  range->leaving = true;
  return SGPU_SUCCESS;
}

void fake_end_free(uint64_t address) {
  size_t after = position(address);
  if (!after || table[after - 1]->address != address) return;
  fake_range_t* range = table[after - 1];
  if (range->pool) {
    range->pool->unused += range->size;
    used[range->device] += range->size;
  }
  drop(after - 1, true);
}

//===--------------------------------------------------------------------===//
// Entry points
//===--------------------------------------------------------------------===//

// Frees the range that begins there.
static int free_range(sgpu_context_t context, fake_memory_kind_t kind,
                      uint64_t address, int unknown) {
  size_t after = position(address);
  fake_range_t* range = after ? table[after - 1] : NULL;
  if (range && range->kind == FAKE_MEMORY_MANAGED &&
      kind == FAKE_MEMORY_DEVICE) {
    kind = FAKE_MEMORY_MANAGED;
  }
  if (!range || range->address != address || range->kind != kind) {
    fake_complain("%#llx is freed or unregistered, but not such memory",
                  (unsigned long long)address);
    return unknown;
  }
  if (range->context != context) {
    fake_complain("memory of another context is freed or unregistered");
    return SGPU_INVALID_VALUE;
  }
  drop(after - 1, !context->error);
  return SGPU_SUCCESS;
}

static int next_allocation(void) {
  return ++fake_allocations == fake_settings.oom_allocation ? SGPU_OUT_OF_MEMORY
                                                            : SGPU_SUCCESS;
}

// Memory of the device, of which |more| bytes are there besides those that are
// not used; NULL when there is not enough.
static fake_range_t* make_hidden(sgpu_context_t context, uint64_t size,
                                 uint64_t more) {
  if (size > fake_settings.heap_bytes - used[context->device] + more) {
    return NULL;
  }
  fake_range_t* range = make(FAKE_MEMORY_DEVICE, context, size);
  if (!range) return NULL;
  used[context->device] += size;
  if (is_hidden(range)) allow(range, PROT_NONE);
  return range;
}

static int allocate(sgpu_context_t context, uint64_t size, uint64_t* out) {
  *out = 0;
  if (!size) return FAKE_PICK(SGPU_INVALID_VALUE, SGPU_SUCCESS);
  int code = fake_refuse_capture();
  if (!code) code = next_allocation();
  if (code) return code;
  fake_range_t* range = make_hidden(context, size, 0);
  if (!range) return SGPU_OUT_OF_MEMORY;
  *out = range->address;
  return SGPU_SUCCESS;
}

int fake_memory_allocate(uint64_t* out_address, size_t size) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_memory_allocate, &context);
  if (!code) code = allocate(context, size, out_address);
  if (!code) fake_await_work(context);
  return fake_end(code);
}

// Memory that the pool has is used first.
int fake_take_from_pool(sgpu_pool_t pool, uint64_t size, uint64_t* out) {
  int code = next_allocation();
  if (code) return code;
  sgpu_context_t context = pool->object.context;
  fake_range_t* range = make_hidden(context, size, pool->unused);
  if (!range) return SGPU_OUT_OF_MEMORY;
  uint64_t again = size < pool->unused ? size : pool->unused;
  pool->unused -= again;
  used[context->device] -= again;
  range->pool = pool;
  range->pending = true;
  *out = range->address;
  return SGPU_SUCCESS;
}

int fake_memory_free(uint64_t address) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_memory_free, &context);
  if (!code) code = fake_refuse_capture();
  if (context && (address || !FAKE_PICK(false, true))) {
    int own =
        free_range(context, FAKE_MEMORY_DEVICE, address, SGPU_INVALID_VALUE);
    if (!code) code = own;
  }
  if (!code) fake_await_work(context);
  return fake_end(code);
}

// What other processes have is not free.
int fake_memory_info(size_t* out_free, size_t* out_total) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_memory_info, &context);
  if (!code) {
    uint64_t taken = used[context->device] + fake_settings.others_bytes;
    *out_total = fake_settings.heap_bytes;
    *out_free = taken < *out_total ? *out_total - taken : 0;
  }
  return fake_end(code);
}

int fake_memory_managed(uint64_t* out_address, size_t size, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_memory_managed, &context);
  *out_address = 0;
  if (!code) code = fake_refuse_capture();
  if (!code && (!size || flags != SGPU_MANAGED_GLOBAL)) {
    code = SGPU_INVALID_VALUE;
  }
  if (!code) code = next_allocation();
  if (!code) {
    const fake_range_t* range = make(FAKE_MEMORY_MANAGED, context, size);
    if (range) *out_address = range->address;
    if (!range) code = SGPU_OUT_OF_MEMORY;
  }
  if (!code) fake_await_work(context);
  return fake_end(code);
}

int fake_memory_range(uint64_t* out_address, size_t* out_size,
                      uint64_t address) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_memory_range, &context);
  const fake_range_t* range = code ? NULL : fake_find(address, 1);
  if (!code && (!range || range->leaving)) code = SGPU_NOT_FOUND;
  if (!code) {
    *out_address = range->address;
    *out_size = range->size;
  }
  return fake_end(code);
}

static int allocate_host(sgpu_context_t context, size_t size, void** out) {
  *out = NULL;
  if (!size) return FAKE_PICK(SGPU_INVALID_VALUE, SGPU_SUCCESS);
  int code = fake_refuse_capture();
  if (!code) code = next_allocation();
  if (code) return code;
  fake_range_t* range = make(FAKE_MEMORY_PINNED, context, size);
  if (!range) return SGPU_OUT_OF_MEMORY;
  *out = pointer(range->address);
  return SGPU_SUCCESS;
}

int fake_host_allocate(void** out_address, size_t size, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_host_allocate, &context);
  if (!code && flags & ~7u) code = SGPU_INVALID_VALUE;
  if (!code) code = allocate_host(context, size, out_address);
  if (!code) fake_await_work(context);
  return fake_end(code);
}

int fake_host_free(void* address) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_host_free, &context);
  if (!code) code = fake_refuse_capture();
  if (context && (address || !FAKE_PICK(false, true))) {
    int own = free_range(context, FAKE_MEMORY_PINNED, (uintptr_t)address,
                         SGPU_INVALID_VALUE);
    if (!code) code = own;
  }
  if (!code) fake_await_work(context);
  return fake_end(code);
}

// Whether the pages of some bytes are mapped so that they can be registered.
static bool is_mapped(uint64_t first, uint64_t last, bool written) {
  FILE* maps = fopen("/proc/self/maps", "r");
  if (!maps) return false;
  char line[512];
  uint64_t at = page_of(first);
  while (at <= last && fgets(line, sizeof(line), maps)) {
    unsigned long long begin = 0, end = 0, inode = 0;
    char rights[8] = "";
    if (sscanf(line, "%llx-%llx %7s %*s %*s %llu", &begin, &end, rights,
               &inode) != 4 ||
        end <= at) {
      continue;
    }
    if (begin > at || rights[0] != 'r' || (written && rights[1] != 'w') ||
        (inode && fake_settings.no_files)) {
      break;
    }
    at = end;
  }
  fclose(maps);
  return at > last;
}

static int check_register(sgpu_context_t context, uint64_t first, uint64_t last,
                          bool read_only) {
  int can = 0;
  if (read_only && (fake_attribute_of(context->device, 113, &can) || !can)) {
    return SGPU_NOT_SUPPORTED;
  }
  if (overlaps_pages(first, last)) return SGPU_HOST_MEMORY_ALREADY_REGISTERED;
  return is_mapped(first, last, !read_only) ? SGPU_SUCCESS : SGPU_INVALID_VALUE;
}

int fake_host_register(void* address, size_t size, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_host_register, &context);
  uint64_t begin = (uintptr_t)address;
  if (!code) code = fake_refuse_capture();
  if (!code && (!address || !size || flags & ~15u || begin + size < begin)) {
    code = SGPU_INVALID_VALUE;
  }
  bool read_only = flags & SGPU_HOST_REGISTER_READ_ONLY;
  if (!code) {
    code = check_register(context, begin, begin + size - 1, read_only);
  }
  if (!code) {
    add((fake_range_t){.kind = FAKE_MEMORY_REGISTERED,
                       .context = context,
                       .device = context->device,
                       .address = begin,
                       .size = size,
                       .read_only = read_only});
  }
  if (!code) fake_await_work(context);
  return fake_end(code);
}

int fake_host_unregister(void* address) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_host_unregister, &context);
  if (!code) code = fake_refuse_capture();
  if (context) {
    int own = free_range(context, FAKE_MEMORY_REGISTERED, (uintptr_t)address,
                         FAKE_HOST_MEMORY_NOT_REGISTERED);
    if (!code) code = own;
  }
  if (!code) fake_await_work(context);
  return fake_end(code);
}

int fake_host_address(uint64_t* out_address, void* host, unsigned flags) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_host_address, &context);
  if (!code) {
    const fake_range_t* range = fake_find((uintptr_t)host, 1);
    if (flags || !range || range->kind == FAKE_MEMORY_DEVICE) {
      code = SGPU_INVALID_VALUE;
    } else {
      *out_address = (uintptr_t)host;
    }
  }
  return fake_end(code);
}

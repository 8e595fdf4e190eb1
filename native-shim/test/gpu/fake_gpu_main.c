// The fakes themselves: settings, symbols that are missing, complaints, counts
// of calls, and what each entry point begins with.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake_gpu.h"

#define FAKE_NAME FAKE_PICK("fake_cuda", "fake_hip")

enum { SLICE_NS = 5000000 };

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed;
fake_settings_t fake_settings;
uint64_t fake_allocations, fake_launches, fake_kernels, fake_waits;

static bool initialized;
static char own_path[4096], lost_file[4200], hang_file[4200];

//===--------------------------------------------------------------------===//
// Complaints and counts
//===--------------------------------------------------------------------===//

static pthread_mutex_t complaint_lock = PTHREAD_MUTEX_INITIALIZER;
static char complaints[16384];
static int complaint_count;
static int64_t calls[CALL_COUNT];

static const char* const call_names[CALL_COUNT][2] = {
#define X(need, name, cuda, hip, arguments) \
  {#name, FAKE_LABEL(FAKE_PICK(cuda, hip))},
#include "gpu/gpu_symbols.inc"
#undef X
#define X(need, name, symbol, arguments) {#name, #symbol},
#include "gpu/collective_symbols.inc"
#undef X
};

void fake_complain(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  fprintf(stderr, FAKE_NAME ": %s\n", text);
  pthread_mutex_lock(&complaint_lock);
  ++complaint_count;
  size_t length = strlen(complaints);
  size_t more = strlen(text) + 1;
  if (length + more >= sizeof(complaints)) length = 0;  // the latest matter
  snprintf(complaints + length, sizeof(complaints) - length, "%s\n", text);
  pthread_mutex_unlock(&complaint_lock);
}

void fake_tell(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  fprintf(stderr, FAKE_NAME ": %s\n", text);
}

int fake_gpu_complaints(char* out, int size) {
  pthread_mutex_lock(&complaint_lock);
  int count = complaint_count;
  if (out && size > 0) snprintf(out, (size_t)size, "%s", complaints);
  pthread_mutex_unlock(&complaint_lock);
  return count;
}

int64_t fake_gpu_calls(const char* name) {
  int64_t count = 0;
  for (int i = 0; i < CALL_COUNT; ++i) {
    if (!name || strcmp(name, call_names[i][0]) == 0 ||
        strcmp(name, call_names[i][1]) == 0) {
      count += __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
    }
  }
  return count;
}

void fake_gpu_forget(void) {
  pthread_mutex_lock(&complaint_lock);
  complaint_count = 0;
  complaints[0] = 0;
  pthread_mutex_unlock(&complaint_lock);
  for (int i = 0; i < CALL_COUNT; ++i) {
    __atomic_store_n(&calls[i], 0, __ATOMIC_RELAXED);
  }
}

//===--------------------------------------------------------------------===//
// Settings
//===--------------------------------------------------------------------===//

// Makes the dynamic loader find no such symbol in this library.
static void hide_symbol(const char* name) {
  Dl_info self;
  struct link_map* map = NULL;
  if (!dladdr((void*)(uintptr_t)hide_symbol, &self)) return;
  void* library = dlopen(self.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  if (!library) return;
  const bool known = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0;
  dlclose(library);
  if (!known) return;
  ElfW(Sym)* symbols = NULL;
  const char* strings = NULL;
  const uint32_t* hash = NULL;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag; ++entry) {
    uintptr_t address = (uintptr_t)entry->d_un.d_ptr;
    // glibc has relocated the table, musl has not.
    if (address < map->l_addr) address += map->l_addr;
    if (entry->d_tag == DT_SYMTAB) symbols = (ElfW(Sym)*)address;
    if (entry->d_tag == DT_STRTAB) strings = (const char*)address;
    if (entry->d_tag == DT_HASH) hash = (const uint32_t*)address;
  }
  if (!symbols || !strings || !hash) return;
  for (uint32_t i = 0; i < hash[1]; ++i) {
    if (strcmp(strings + symbols[i].st_name, name)) continue;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)&symbols[i] / page * page;
    size_t size = (uintptr_t)&symbols[i + 1] - begin;
    if (mprotect((void*)begin, size, PROT_READ | PROT_WRITE)) return;
    symbols[i].st_shndx = SHN_UNDEF;
    symbols[i].st_value = 0;
    mprotect((void*)begin, size, PROT_READ);
  }
}

static bool value_of(const char* word, const char* name, const char** value) {
  size_t length = strlen(name);
  if (strncmp(word, name, length) || word[length] != '=') return false;
  *value = word + length + 1;
  return true;
}

static void set_attribute(fake_settings_t* s, const char* value) {
  if (s->attribute_count == FAKE_MAX_OVERRIDES) return;
  int* pair = s->attributes[s->attribute_count++];
  pair[1] = FAKE_NO_ATTRIBUTE;
  sscanf(value, "%d:%d", &pair[0], &pair[1]);
}

static void add_failure(fake_settings_t* s, const char* value) {
  if (s->failure_count == FAKE_MAX_FAILURES) return;
  fake_failure_t* failure = &s->failures[s->failure_count++];
  unsigned long long left = 0;
  sscanf(value, "%39[^:]:%llu:%d", failure->name, &left, &failure->code);
  failure->left = left;
}

// Such as gfx90a, which is 9.0, or gfx1030, which is 10.3.
static void set_gfx(fake_settings_t* s, const char* value) {
  snprintf(s->gfx, sizeof(s->gfx), "%s", value);
  char digits[16] = "";
  snprintf(digits, sizeof(digits), "%s", s->gfx + strnlen(s->gfx, 3));
  size_t length = strlen(digits);
  if (length < 3) return;
  s->minor = digits[length - 2] - '0';
  digits[length - 2] = 0;
  s->major = atoi(digits);
}

static void set_word(const char* word, bool loading) {
  fake_settings_t* s = &fake_settings;
  const char* value = NULL;
  if (value_of(word, "no_symbol", &value)) {
    if (loading) hide_symbol(value);
  } else if (value_of(word, "devices", &value)) {
    int count = atoi(value);
    s->device_count = count < FAKE_MAX_DEVICES ? count : FAKE_MAX_DEVICES;
  } else if (value_of(word, "init_error", &value)) {
    s->init_error = atoi(value);
  } else if (value_of(word, "version", &value)) {
    s->version = atoi(value);
  } else if (value_of(word, "compute", &value)) {
    sscanf(value, "%d.%d", &s->major, &s->minor);
  } else if (value_of(word, "gfx", &value)) {
    set_gfx(s, value);
  } else if (value_of(word, "attribute", &value) ||
             value_of(word, "no_attribute", &value)) {
    set_attribute(s, value);
  } else if (value_of(word, "fail", &value)) {
    add_failure(s, value);
  } else if (value_of(word, "comm_error", &value)) {
    unsigned long long at = 1;
    sscanf(value, "%d:%llu", &s->comm_error_rank, &at);
    s->comm_error_at = at;
  } else if (value_of(word, "heap_mib", &value)) {
    s->heap_bytes = strtoull(value, NULL, 10) << 20;
  } else if (value_of(word, "others_mib", &value)) {
    s->others_bytes = strtoull(value, NULL, 10) << 20;
  }
#define NUMBER(name, member) \
  if (value_of(word, #name, &value)) s->member = strtoull(value, NULL, 10)
  NUMBER(alignment, alignment);
  NUMBER(capacity, capacity);
  NUMBER(slow, slow_us);
  NUMBER(oom_allocation, oom_allocation);
  NUMBER(launch_error, launch_error);
  NUMBER(kernel_fault, kernel_fault);
  NUMBER(lost_wait, lost_wait);
  NUMBER(join_slow, join_slow);
#undef NUMBER
#define FLAG(name) \
  if (strcmp(word, #name) == 0) s->name = true
  FLAG(lazy);
  FLAG(no_device);
  FLAG(no_files);
  FLAG(no_uuid);
  FLAG(implicit_sync);
  FLAG(instances);
  FLAG(peer);
  FLAG(visible);
#undef FLAG
}

static void set_words(char* text, bool loading) {
  char* rest = NULL;
  for (char* word = strtok_r(text, " \n", &rest); word;
       word = strtok_r(NULL, " \n", &rest)) {
    set_word(word, loading);
  }
}

static void read_settings(bool loading) {
  fake_settings = (fake_settings_t){.device_count = 1,
                                    .version = FAKE_PICK(12020, 60000000),
                                    .major = FAKE_PICK(8, 9),
                                    .heap_bytes = 256u << 20,
                                    .capacity = 1024,
                                    .gfx = "gfx90a"};
  fake_allocations = fake_launches = fake_kernels = fake_waits = 0;
  char text[8192] = "";
  char path[4200];
  snprintf(path, sizeof(path), "%s.conf", own_path);
  FILE* file = fopen(path, "r");
  if (file) {
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
  }
  set_words(text, loading);
  const char* environment = getenv(FAKE_PICK("FAKE_CUDA", "FAKE_HIP"));
  snprintf(text, sizeof(text), "%s", environment ? environment : "");
  set_words(text, loading);
}

__attribute__((constructor)) static void prepare(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&fake_changed, &attributes);
  pthread_condattr_destroy(&attributes);
  Dl_info self;
  if (dladdr((void*)(uintptr_t)hide_symbol, &self)) {
    snprintf(own_path, sizeof(own_path), "%s", self.dli_fname);
  }
  snprintf(lost_file, sizeof(lost_file), "%s.lost", own_path);
  snprintf(hang_file, sizeof(hang_file), "%s.hang", own_path);
  read_settings(true);
}

//===--------------------------------------------------------------------===//
// Calls
//===--------------------------------------------------------------------===//

void fake_begin_bare(fake_call_t call) {
  __atomic_add_fetch(&calls[call], 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&fake_lock);
}

int fake_next_failure(fake_call_t call) {
  fake_settings_t* s = &fake_settings;
  int code = SGPU_SUCCESS;
  for (int i = 0; i < s->failure_count; ++i) {
    fake_failure_t* failure = &s->failures[i];
    if (strcmp(failure->name, call_names[call][0]) == 0 && failure->left &&
        --failure->left == 0) {
      code = failure->code;
    }
  }
  return code;
}

int fake_begin_driver(fake_call_t call) {
  fake_begin_bare(call);
  return initialized ? fake_next_failure(call) : SGPU_NOT_INITIALIZED;
}

bool fake_stays(int code) {
  static const int codes[] = {4,   46,  214, 220, 226, 700, 702, 709, 710, 714,
                              715, 716, 717, 718, 719, 721, 805, 806, 810, 999};
  for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); ++i) {
    if (codes[i] == code) return true;
  }
  return false;
}

int fake_begin(fake_call_t call, sgpu_context_t* out_context) {
  *out_context = NULL;
  int code = fake_begin_driver(call);
  if (fake_stays(code) && !fake_current(out_context)) {
    fake_kill(*out_context, code);
    return fake_error(*out_context);
  }
  if (!code) code = fake_current(out_context);
  return code ? code : fake_error(*out_context);
}

int fake_end(int code) {
  pthread_mutex_unlock(&fake_lock);
  return code;
}

bool fake_is_hung(int stream) {
  FILE* file = fopen(hang_file, "r");
  if (!file) return false;
  int which = stream;
  bool one = fscanf(file, "%d", &which) == 1;
  fclose(file);
  return !one || which == stream;
}

bool fake_is_lost(void) { return access(lost_file, F_OK) == 0; }

void fake_pause(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += SLICE_NS;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    ++until.tv_sec;
  }
  pthread_cond_timedwait(&fake_changed, &fake_lock, &until);
}

int fake_init(unsigned flags) {
  fake_begin_bare(CALL_init);
  if (!fake_has_contexts()) read_settings(false);
  const int none = FAKE_PICK(SGPU_NO_DEVICE, SGPU_INVALID_DEVICE);
  int code = flags                     ? SGPU_INVALID_VALUE
             : fake_settings.no_device ? none
             : fake_settings.init_error
                 ? fake_settings.init_error
                 : fake_next_failure(CALL_init);
  initialized = code == SGPU_SUCCESS;
  return fake_end(code);
}

int fake_driver_version(int* out_version) {
  fake_begin_bare(CALL_driver_version);
  *out_version = fake_settings.version;
  return fake_end(SGPU_SUCCESS);
}

// Loads shared libraries with the system's loader, from memory. Calls elf_file.c
// and shim_status.c.
#include "system_image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fpu.h"
#include "shim_internal.h"
#include "shim_system.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

// Kernels before 6.3 do not know MFD_EXEC; later ones may be configured to
// refuse files without it.
static int create_file(void) {
  int fd = memfd_create("iree4j-library",
                        MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) {
    fd = memfd_create("iree4j-library", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  }
  return fd;
}

static bool write_all(int fd, const uint8_t* bytes, size_t size) {
  while (size > 0) {
    ssize_t done = write(fd, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = EIO;
    if (done <= 0) return false;
    bytes += done;
    size -= (size_t)done;
  }
  return true;
}

static shim_status_t not_created(int code, shim_error_t* error) {
  if (code == EACCES || code == EPERM) {
    return shim_error_set(error, SHIM_PERMISSION_DENIED, code,
                          "the system allows no executable files in memory "
                          "(errno %d); see sysctl vm.memfd_noexec",
                          code);
  }
  return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                        "no file descriptor for the library (errno %d); raise "
                        "the limit of open files",
                        code);
}

// A file that can no longer change.
static shim_status_t sealed_copy(const void* bytes, size_t size, int* out_fd,
                                 shim_error_t* error) {
  int fd = create_file();
  if (fd < 0) return not_created(errno, error);
  const char* what = "writing";
  bool done = write_all(fd, bytes, size);
  if (done) {
    what = "sealing";
    done = fcntl(fd, F_ADD_SEALS,
                 F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
  }
  if (!done) {
    int code = errno;
    close(fd);
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "%s a file of %llu bytes in memory failed with errno "
                          "%d",
                          what, (unsigned long long)size, code);
  }
  *out_fd = fd;
  return SHIM_OK;
}

typedef struct path_t {
  char text[64];
} path_t;

static path_t path_of(int fd) {
  path_t path;
  snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
  return path;
}

// The loader returns an already loaded library for a path it knows. While one
// of ours is loaded, its descriptor stays open; but libraries may stay loaded
// after they were closed (-z nodelete, unique symbols), and other code may load
// from descriptors too. So the file is moved to a descriptor number that is new
// to the loader.
static shim_status_t move_to_new_path(int* fd, shim_error_t* error) {
  void* known;
  while ((known = dlopen(path_of(*fd).text, RTLD_NOLOAD | RTLD_LAZY)) != NULL) {
    dlclose(known);
    int next = fcntl(*fd, F_DUPFD_CLOEXEC, *fd + 1);
    if (next < 0) return not_created(errno, error);
    close(*fd);
    *fd = next;
  }
  return SHIM_OK;
}

typedef struct search_t {
  uint64_t bias;
  shim__elf_image_t* image;
  bool found;
} search_t;

// Copies the segments of the object with a given load bias.
static int visit(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  search_t* search = data;
  if (info->dlpi_addr != search->bias) return 0;
  shim__elf_image_t* image = search->image;
  for (uint32_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || header->p_memsz == 0) continue;
    if (image->segment_count == SHIM__ELF_MAX_SEGMENTS) return 1;
    image->segments[image->segment_count++] = (shim__elf_segment_t){
        .vaddr = header->p_vaddr,
        .memsz = header->p_memsz,
        .offset = header->p_offset,
        .filesz = header->p_filesz,
        .flags = header->p_flags,
    };
  }
  search->found = true;
  return 1;
}

static shim_status_t describe(const shim__system_image_t* system,
                              shim__elf_image_t* image, shim_error_t* error) {
  struct link_map* map = NULL;
  memset(image, 0, sizeof(*image));
  if (dlinfo(system->library, RTLD_DI_LINKMAP, &map) == 0) {
    image->bias = map->l_addr;
    image->page_size = shim__system_page_size();
    search_t search = {.bias = map->l_addr, .image = image};
    dl_iterate_phdr(visit, &search);
    if (search.found) return SHIM_OK;
  }
  return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                        "the system's loader does not say where the library "
                        "is, or it has more than %d segments",
                        SHIM__ELF_MAX_SEGMENTS);
}

// Constructors of libraries may change the floating-point mode of the thread,
// which belongs to Java.
static void* open_in_mode(const char* path, int flags) {
  const uint64_t mode = shim__fpu_mode();
  void* library = dlopen(path, flags);
  shim__fpu_set_mode(mode);
  return library;
}

static shim_status_t open_library(int fd, shim__system_image_t* out_system,
                                  shim_error_t* error) {
  // Compiled libraries name no dependencies and take math functions from
  // globally loaded libraries; this soname is stable.
  open_in_mode("libm.so.6", RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  void* library = open_in_mode(path_of(fd).text, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* cause = dlerror();
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "the system's loader refuses it: %.200s; compile it "
                          "for this machine and its libraries, or leave "
                          "--iree-llvmcpu-link-embedded=false out",
                          cause ? cause : "no cause given");
  }
  out_system->library = library;
  out_system->fd = fd;
  return SHIM_OK;
}

shim_status_t shim__system_image_load(const void* bytes, size_t size,
                                      const char* symbol,
                                      shim__system_image_t* out_system,
                                      shim__elf_image_t* out_image,
                                      uint64_t* out_address,
                                      shim_error_t* error) {
  memset(out_system, 0, sizeof(*out_system));
  int fd = -1;
  shim_status_t status =
      shim__elf_file_check(bytes, size, SHIM__ELF_HOST_MACHINE, error);
  if (status == SHIM_OK) status = sealed_copy(bytes, size, &fd, error);
  if (status != SHIM_OK) return status;
  status = move_to_new_path(&fd, error);
  if (status == SHIM_OK) status = open_library(fd, out_system, error);
  if (status != SHIM_OK) {
    close(fd);
    return status;
  }
  void* address = dlsym(out_system->library, symbol);
  if (!address) {
    status = shim_error_set(error, SHIM_NOT_FOUND, 0,
                            "library does not have '%s'", symbol);
  } else {
    *out_address = (uint64_t)(uintptr_t)address;
    status = describe(out_system, out_image, error);
  }
  if (status != SHIM_OK) shim__system_image_release(out_system);
  return status;
}

void shim__system_image_release(shim__system_image_t* system) {
  if (!system->library) return;
  dlclose(system->library);
  close(system->fd);
  memset(system, 0, sizeof(*system));
}

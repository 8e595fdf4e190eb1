// Maps a checked ELF file: copy, relocate, protect, initialize. Calls
// elf_file.c, elf_relocations.c, shim_system.h and shim_status.c.
//
// Address space is reserved without access; each segment is then made writable,
// filled and relocated, and finally gets the permissions it requests. No page
// is ever writable and executable at the same time.
#include <errno.h>
#include <string.h>

#include "elf.h"
#include "shim_system.h"

typedef unsigned long long ull;

#if defined(__APPLE__)
#define REMEDY                                                            \
  "; entitle the program to com.apple.security.cs.allow-unsigned-executable-" \
  "memory"
#else
#define REMEDY "; allow it in the security policy (SELinux execmem, seccomp)"
#endif

static void* pointer_to(uint64_t address) { return (void*)(uintptr_t)address; }

// The segment of a vaddr range, or NULL.
static const shim__elf_segment_t* segment_of(const shim__elf_image_t* image,
                                             uint64_t vaddr, uint64_t size) {
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const shim__elf_segment_t* segment = &image->segments[i];
    if (vaddr >= segment->vaddr && vaddr - segment->vaddr <= segment->memsz &&
        size <= segment->memsz - (vaddr - segment->vaddr)) {
      return segment;
    }
  }
  return NULL;
}

static shim_status_t protect(const shim__elf_image_t* image, uint64_t vaddr,
                             uint64_t size, int rights,
                             shim_error_t* error) {
  const uint64_t mask = image->page_size - 1;
  uint64_t first = vaddr & ~mask;
  uint64_t end = (vaddr + size + mask) & ~mask;
  const int code =
      shim__system_allow(pointer_to(image->bias + first), end - first, rights);
  if (code == 0) return SHIM_OK;
  return shim_error_set(
      error, code == ENOMEM ? SHIM_RESOURCE_EXHAUSTED : SHIM_PERMISSION_DENIED,
      code, "cannot make memory %s (errno %d)%s",
      (rights & SHIM__RIGHT_EXECUTE) ? "executable"
      : (rights & SHIM__RIGHT_WRITE) ? "writable"
                                     : "read-only",
      code,
      (rights & SHIM__RIGHT_EXECUTE)
          ? REMEDY
          : "");
}

static shim_status_t copy_segments(const shim__elf_file_t* file,
                                   const shim__elf_image_t* image,
                                   shim_error_t* error) {
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const shim__elf_segment_t* segment = &image->segments[i];
    shim_status_t status = protect(image, segment->vaddr, segment->memsz,
                                   SHIM__RIGHT_READ | SHIM__RIGHT_WRITE, error);
    if (status != SHIM_OK) return status;
    if (segment->filesz > 0) {
      memcpy(pointer_to(image->bias + segment->vaddr),
             file->bytes + segment->offset, (size_t)segment->filesz);
    }
  }
  return SHIM_OK;
}

static shim_status_t symbol_address(const shim__elf_file_t* file,
                                    const shim__elf_image_t* image,
                                    uint64_t index, uint64_t* out_address,
                                    shim_error_t* error) {
  *out_address = 0;
  if (index == 0) return SHIM_OK;
  if (index >= file->symbols.count) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed ELF: relocation of symbol %llu of %llu",
                          (ull)index, (ull)file->symbols.count);
  }
  elf_symbol_t symbol = shim__elf_file_symbol(file, index);
  uint8_t type = symbol.info & 0xF;
  if (type == ELF_STT_TLS || type == ELF_STT_IFUNC) {
    return shim_error_set(
        error, SHIM_UNIMPLEMENTED, 0, "ELF relocates '%.100s', which is %s",
        shim__elf_file_symbol_name(file, &symbol),
        type == ELF_STT_TLS ? "thread-local" : "an indirect function");
  }
  if (symbol.section == ELF_SHN_UNDEF) return SHIM_OK;  // weak
  *out_address =
      symbol.section == ELF_SHN_ABS ? symbol.value : image->bias + symbol.value;
  return SHIM_OK;
}

static shim_status_t relocate(const shim__elf_file_t* file,
                              const shim__elf_image_t* image,
                              const elf_rela_t* rela, shim_error_t* error) {
  shim__elf_relocation_t relocation = {
      .type = (uint32_t)rela->info,
      .place = image->bias + rela->offset,
      .base = image->bias,
      .addend = rela->addend,
  };
  shim_status_t status = symbol_address(file, image, rela->info >> 32,
                                        &relocation.symbol, error);
  if (status != SHIM_OK) return status;
  uint64_t value = 0;
  uint32_t width = 0;
  status = shim__elf_relocation_compute(file->machine, &relocation, &value,
                                        &width, error);
  if (status != SHIM_OK || width == 0) return status;
  const shim__elf_segment_t* segment = segment_of(image, rela->offset, width);
  if (!segment) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed ELF: relocation of 0x%llx, outside of all "
                          "segments",
                          (ull)rela->offset);
  }
  if (!(segment->flags & ELF_PF_W)) {
    return shim_error_set(error, SHIM_UNIMPLEMENTED, 0,
                          "ELF relocates read-only memory at 0x%llx; compile "
                          "with -fPIC and link with -z text",
                          (ull)rela->offset);
  }
  memcpy(pointer_to(relocation.place), &value, width);
  return SHIM_OK;
}

static shim_status_t relocate_all(const shim__elf_file_t* file,
                                  const shim__elf_image_t* image,
                                  shim_error_t* error) {
  for (int t = 0; t < 2; ++t) {
    const shim__elf_table_t* table = &file->relocations[t];
    for (uint64_t i = 0; i < table->count; ++i) {
      elf_rela_t rela;
      memcpy(&rela, table->data + i * sizeof(rela), sizeof(rela));
      shim_status_t status = relocate(file, image, &rela, error);
      if (status != SHIM_OK) return status;
    }
  }
  return SHIM_OK;
}

static shim_status_t protect_all(const shim__elf_file_t* file,
                                 const shim__elf_image_t* image,
                                 shim_error_t* error) {
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const shim__elf_segment_t* segment = &image->segments[i];
    int rights = 0;
    if (segment->flags & ELF_PF_R) rights |= SHIM__RIGHT_READ;
    if (segment->flags & ELF_PF_W) rights |= SHIM__RIGHT_WRITE;
    if (segment->flags & ELF_PF_X) rights |= SHIM__RIGHT_EXECUTE;
    shim_status_t status =
        protect(image, segment->vaddr, segment->memsz, rights, error);
    if (status != SHIM_OK) return status;
  }
  if (file->relro_size == 0) return SHIM_OK;
  return protect(image, file->relro_vaddr, file->relro_size, SHIM__RIGHT_READ,
                 error);
}

shim_status_t shim__elf_image_load(const shim__elf_file_t* file,
                                   shim__elf_image_t* out_image,
                                   shim_error_t* error) {
  memset(out_image, 0, sizeof(*out_image));
  int code = 0;
  uint8_t* base = shim__system_reserve(file->image_size, file->alignment,
                                       file->image_vaddr, &code);
  if (!base) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, code,
                          "cannot reserve %llu bytes for an ELF image (errno "
                          "%d)",
                          (ull)file->image_size, code);
  }
  out_image->base = base;
  out_image->size = file->image_size;
  out_image->bias = (uint64_t)(uintptr_t)base - file->image_vaddr;
  out_image->page_size = shim__system_page_size();
  out_image->segment_count = file->segment_count;
  memcpy(out_image->segments, file->segments, sizeof(file->segments));
  out_image->init = file->init;
  out_image->init_array = file->init_array;
  out_image->init_array_count = file->init_array_count;

  shim_status_t status = copy_segments(file, out_image, error);
  if (status == SHIM_OK) status = relocate_all(file, out_image, error);
  if (status == SHIM_OK) status = protect_all(file, out_image, error);
  if (status != SHIM_OK) shim__elf_image_release(out_image);
  return status;
}

static shim_status_t initialize(const shim__elf_image_t* image,
                                uint64_t address, shim_error_t* error) {
  if (!shim__elf_image_is_code(image, address)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed ELF: initializer is not in an executable "
                          "segment");
  }
  void(SHIM_KERNEL_CALL* function)(void);
  memcpy(&function, &address, sizeof(function));
  function();
  return SHIM_OK;
}

shim_status_t shim__elf_image_initialize(const shim__elf_image_t* image,
                                         shim_error_t* error) {
  if (image->init != 0) {
    shim_status_t status = initialize(image, image->bias + image->init, error);
    if (status != SHIM_OK) return status;
  }
  for (uint64_t i = 0; i < image->init_array_count; ++i) {
    // The entries hold absolute addresses: they have been relocated.
    uint64_t address = 0;
    if (!shim__elf_image_read(
            image, image->bias + image->init_array + i * sizeof(address),
            &address, sizeof(address))) {
      return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                            "malformed ELF: initializer table leaves its "
                            "segment at entry %llu of %llu",
                            (ull)i, (ull)image->init_array_count);
    }
    if (address == 0 || address == UINT64_MAX) continue;
    shim_status_t status = initialize(image, address, error);
    if (status != SHIM_OK) return status;
  }
  return SHIM_OK;
}

void shim__elf_image_release(shim__elf_image_t* image) {
  if (image->base) shim__system_release(image->base, image->size);
  memset(image, 0, sizeof(*image));
}

bool shim__elf_image_is_readable(const shim__elf_image_t* image,
                                 uint64_t address, uint64_t size) {
  const shim__elf_segment_t* segment =
      segment_of(image, address - image->bias, size);
  return segment && (segment->flags & ELF_PF_R);
}

bool shim__elf_image_is_code(const shim__elf_image_t* image, uint64_t address) {
  const shim__elf_segment_t* segment =
      segment_of(image, address - image->bias, 1);
  return segment && (segment->flags & ELF_PF_X);
}

bool shim__elf_image_read(const shim__elf_image_t* image, uint64_t address,
                          void* out, uint64_t size) {
  if (!shim__elf_image_is_readable(image, address, size)) return false;
  memcpy(out, pointer_to(address), (size_t)size);
  return true;
}

const char* shim__elf_image_string(const shim__elf_image_t* image,
                                   uint64_t address, uint64_t max_length,
                                   uint64_t* out_length) {
  *out_length = 0;
  const shim__elf_segment_t* segment =
      segment_of(image, address - image->bias, 1);
  if (!segment || !(segment->flags & ELF_PF_R)) return NULL;
  uint64_t left =
      segment->memsz - (address - image->bias - segment->vaddr);
  if (left > max_length + 1) left = max_length + 1;
  const char* string = pointer_to(address);
  const char* end = memchr(string, '\0', (size_t)left);
  if (!end) return NULL;
  *out_length = (uint64_t)(end - string);
  return string;
}

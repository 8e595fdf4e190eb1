// Reads and checks the description of a compiled library (its header, imports
// and exports). Calls elf_loader.c for all access to the image, and
// shim_status.c.
#include "cpu_library.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

enum { MAX_NAME_LENGTH = 4096 };

static uint64_t address_of(const void* pointer) {
  return (uint64_t)(uintptr_t)pointer;
}

static shim_status_t outside(const char* what, shim_error_t* error) {
  return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                        "malformed library: %s is outside of the loaded image",
                        what);
}

// Element |i| of an array of pointers at |array|.
static bool read_pointer(const shim__elf_image_t* image, uint64_t array,
                         uint32_t i, uint64_t* out_pointer) {
  return shim__elf_image_read(image, array + (uint64_t)i * sizeof(uint64_t),
                              out_pointer, sizeof(*out_pointer));
}

static shim_status_t check_header(const shim__elf_image_t* image,
                                  const shim_library_t* library,
                                  shim_error_t* error) {
  shim_library_header_t header;
  if (!shim__elf_image_read(image, address_of(library->header), &header,
                            sizeof(header))) {
    return outside("its header", error);
  }
  if (header.version != SHIM_CPU_LIBRARY_VERSION) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "library version is %u, expected %u", header.version,
                          SHIM_CPU_LIBRARY_VERSION);
  }
  if (header.features != 0) {
    return shim_error_set(error, SHIM_INCOMPATIBLE, 0,
                          "library needs unknown features 0x%x",
                          header.features);
  }
  if (header.sanitizer != 0) {
    static const char* const names[] = {"none", "address", "memory", "thread",
                                        "undefined"};
    return shim_error_set(
        error, SHIM_UNIMPLEMENTED, 0,
        "library is instrumented with sanitizer %u (%s), which embedded ELF "
        "files may not be; compile without it",
        header.sanitizer, header.sanitizer < 5 ? names[header.sanitizer] : "?");
  }
  return SHIM_OK;
}

// Nothing provides imports: optional ones stay unresolved, others are an error.
static shim_status_t check_imports(const shim__elf_image_t* image,
                                   const shim_import_table_t* imports,
                                   shim_error_t* error) {
  for (uint32_t i = 0; i < imports->count; ++i) {
    uint64_t pointer = 0;
    uint64_t length = 0;
    if (!read_pointer(image, address_of(imports->symbols), i, &pointer)) {
      return outside("its import table", error);
    }
    const char* symbol =
        shim__elf_image_string(image, pointer, MAX_NAME_LENGTH, &length);
    if (!symbol) return outside("the name of an import", error);
    if (symbol[0] != '?') {
      return shim_error_set(error, SHIM_UNAVAILABLE, 0,
                            "library imports '%.120s', which nothing provides; "
                            "compile it without external functions",
                            symbol);
    }
  }
  return SHIM_OK;
}

static shim_status_t read_export(const shim__elf_image_t* image,
                                 const shim_export_table_t* table, uint32_t i,
                                 shim__cpu_export_t* out_export,
                                 shim_error_t* error) {
  shim_dispatch_attributes_t attributes;
  uint64_t function = 0;
  uint64_t name = 0;
  uint64_t name_length = 0;
  if (!shim__elf_image_read(
          image, address_of(table->attrs) + (uint64_t)i * sizeof(attributes),
          &attributes, sizeof(attributes))) {
    return outside("the attribute table of its exports", error);
  }
  if (!read_pointer(image, address_of(table->names), i, &name)) {
    return outside("the name table of its exports", error);
  }
  const char* string =
      shim__elf_image_string(image, name, MAX_NAME_LENGTH, &name_length);
  if (!string) return outside("the name of an export", error);
  if (name_length == 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed library: export %u has no name", i);
  }
  if (!read_pointer(image, address_of(table->ptrs), i, &function)) {
    return outside("the function table of its exports", error);
  }
  if (!shim__elf_image_is_code(image, function)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed library: export '%.100s' is not in an "
                          "executable segment",
                          string);
  }
  if (attributes.constant_count > SHIM_CPU_MAX_CONSTANTS ||
      attributes.binding_count > SHIM_CPU_MAX_BINDINGS) {
    return shim_error_set(
        error, SHIM_OUT_OF_RANGE, 0,
        "export '%.100s' takes %u constants and %u bindings; the limits are %d "
        "and %d",
        string, attributes.constant_count, attributes.binding_count,
        SHIM_CPU_MAX_CONSTANTS, SHIM_CPU_MAX_BINDINGS);
  }
  *out_export = (shim__cpu_export_t){
      .flags = attributes.flags,
      .local_memory_size =
          attributes.local_memory_pages * SHIM_CPU_LOCAL_MEMORY_PAGE,
      .constant_count = attributes.constant_count,
      .binding_count = attributes.binding_count,
      .workgroup_size_x = attributes.workgroup_size_x,
      .workgroup_size_y = attributes.workgroup_size_y,
      .workgroup_size_z = attributes.workgroup_size_z,
      .name = string,
      .name_length = (uint32_t)name_length,
  };
  memcpy(&out_export->function, &function, sizeof(function));
  return SHIM_OK;
}

static shim_status_t read_exports(const shim__elf_image_t* image,
                                  const shim_export_table_t* table,
                                  shim__cpu_library_t* library,
                                  shim_error_t* error) {
  if (table->count == 0) return SHIM_OK;
  // Checked before the allocation, which is thereby no larger than a small
  // multiple of the image.
  if (!shim__elf_image_is_readable(
          image, address_of(table->attrs),
          (uint64_t)table->count * sizeof(shim_dispatch_attributes_t))) {
    return outside("the attribute table of its exports", error);
  }
  library->exports = calloc(table->count, sizeof(*library->exports));
  if (!library->exports) {
    return shim_error_set(error, SHIM_RESOURCE_EXHAUSTED, 0,
                          "no memory for %u exports", table->count);
  }
  library->export_count = table->count;
  for (uint32_t i = 0; i < table->count; ++i) {
    shim_status_t status =
        read_export(image, table, i, &library->exports[i], error);
    if (status != SHIM_OK) return status;
  }
  return SHIM_OK;
}

shim_status_t shim__cpu_library_read(const shim__elf_image_t* image,
                                     uint64_t address, size_t constant_count,
                                     shim__cpu_library_t* out_library,
                                     shim_error_t* error) {
  memset(out_library, 0, sizeof(*out_library));
  shim_library_t library;
  // The header comes first and says whether the rest has the expected shape.
  if (!shim__elf_image_read(image, address, &library.header,
                            sizeof(library.header))) {
    return outside("its description", error);
  }
  shim_status_t status = check_header(image, &library, error);
  if (status != SHIM_OK) return status;
  if (!shim__elf_image_read(image, address, &library, sizeof(library))) {
    return outside("its description", error);
  }
  if (library.constants.count != constant_count) {
    return shim_error_set(error, SHIM_FAILED_PRECONDITION, 0,
                          "library takes %u specialization constants, %llu "
                          "were given",
                          library.constants.count, (ull)constant_count);
  }
  status = check_imports(image, &library.imports, error);
  if (status == SHIM_OK) {
    out_library->import_count = library.imports.count;
    status = read_exports(image, &library.exports, out_library, error);
  }
  if (status != SHIM_OK) shim__cpu_library_release(out_library);
  return status;
}

void shim__cpu_library_release(shim__cpu_library_t* library) {
  free(library->exports);
  memset(library, 0, sizeof(*library));
}

// Reads and checks the description of a compiled library (its header, imports
// and exports). Calls elf_loader.c for all access to the image, and
// shim_status.c.
#include "cpu_library.h"

#include <stdlib.h>
#include <string.h>

#include "shim_internal.h"

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
                                  const shim_library_header_t* address,
                                  uint32_t* out_version, shim_error_t* error) {
  shim_library_header_t header;
  if (!shim__elf_image_read(image, address_of(address), &header,
                            sizeof(header))) {
    return outside("its header", error);
  }
  if (header.version < SHIM_CPU_LIBRARY_OLDEST_VERSION ||
      header.version > SHIM_CPU_LIBRARY_VERSION) {
    return shim_error_set(
        error, SHIM_INCOMPATIBLE, 0,
        "library version is %u, versions %u to %u (IREE of March 2023 and "
        "later) can be run",
        header.version, SHIM_CPU_LIBRARY_OLDEST_VERSION,
        SHIM_CPU_LIBRARY_VERSION);
  }
  *out_version = header.version;
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
        "library is instrumented with sanitizer %u (%s), which this process "
        "does not run with; compile without it",
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

// Locations of what all versions have.
typedef struct tables_t {
  uint32_t version;
  shim_import_table_t imports;
  uint32_t constant_count;
  uint32_t export_count;
  uint64_t ptrs;
  uint64_t attrs;
  uint64_t names;
} tables_t;

static uint64_t attributes_size(uint32_t version) {
  switch (version) {
    case 3:
    case 4:
      return sizeof(shim_dispatch_attributes_v3_t);
    case 5:
      return sizeof(shim_dispatch_attributes_v5_t);
    default:
      return sizeof(shim_dispatch_attributes_t);
  }
}

static shim_status_t read_tables(const shim__elf_image_t* image,
                                 uint64_t address, tables_t* tables,
                                 shim_error_t* error) {
  union {
    shim_library_v3_t v3;
    shim_library_v4_t v4;
    shim_library_t v6;
  } library;
  const uint32_t version = tables->version;
  uint64_t size = version == 3   ? sizeof(library.v3)
                  : version <= 5 ? sizeof(library.v4)
                                 : sizeof(library.v6);
  if (!shim__elf_image_read(image, address, &library, size)) {
    return outside("its description", error);
  }
  if (version >= 6) {
    tables->imports = library.v6.imports;
    tables->constant_count = library.v6.constants.count;
    tables->export_count = library.v6.exports.count;
    tables->ptrs = address_of(library.v6.exports.ptrs);
    tables->attrs = address_of(library.v6.exports.attrs);
    tables->names = address_of(library.v6.exports.names);
    return SHIM_OK;
  }
  // The beginning is the same in 3 to 5.
  tables->imports = library.v3.imports;
  tables->constant_count =
      version == 3 ? library.v3.constants.count : library.v4.constants.count;
  tables->export_count = library.v3.exports.count;
  tables->ptrs = address_of(library.v3.exports.ptrs);
  tables->attrs = address_of(library.v3.exports.attrs);
  tables->names = address_of(library.v3.exports.names);
  return SHIM_OK;
}

static shim_status_t read_attributes(const shim__elf_image_t* image,
                                     const tables_t* tables, uint32_t i,
                                     shim__cpu_export_t* entry,
                                     shim_error_t* error) {
  if (tables->attrs == 0 && tables->version < 6) return SHIM_OK;
  union {
    shim_dispatch_attributes_v3_t v3;
    shim_dispatch_attributes_v5_t v5;
    shim_dispatch_attributes_t v6;
  } attributes;
  uint64_t size = attributes_size(tables->version);
  if (!shim__elf_image_read(image, tables->attrs + (uint64_t)i * size,
                            &attributes, size)) {
    return outside("the attribute table of its exports", error);
  }
  uint32_t pages = 0;
  switch (tables->version) {
    case 3:
    case 4:
      pages = attributes.v3.local_memory_pages;
      break;
    case 5:
      pages = attributes.v5.local_memory_pages;
      entry->counts_known = true;
      entry->constant_count = attributes.v5.constant_count;
      entry->binding_count = attributes.v5.binding_count;
      break;
    default:
      pages = attributes.v6.local_memory_pages;
      entry->counts_known = true;
      entry->constant_count = attributes.v6.constant_count;
      entry->binding_count = attributes.v6.binding_count;
      entry->flags = attributes.v6.flags;
      entry->workgroup_size_x = attributes.v6.workgroup_size_x;
      entry->workgroup_size_y = attributes.v6.workgroup_size_y;
      entry->workgroup_size_z = attributes.v6.workgroup_size_z;
      break;
  }
  entry->local_memory_size = pages * SHIM_CPU_LOCAL_MEMORY_PAGE;
  return SHIM_OK;
}

static shim_status_t read_name(const shim__elf_image_t* image,
                               const tables_t* tables, uint32_t i,
                               shim__cpu_export_t* entry,
                               shim_error_t* error) {
  entry->name = "";
  if (tables->names == 0) return SHIM_OK;
  uint64_t name = 0;
  uint64_t length = 0;
  if (!read_pointer(image, tables->names, i, &name)) {
    return outside("the name table of its exports", error);
  }
  entry->name = shim__elf_image_string(image, name, MAX_NAME_LENGTH, &length);
  if (!entry->name) return outside("the name of an export", error);
  if (length == 0) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed library: export %u has no name", i);
  }
  entry->name_length = (uint32_t)length;
  return SHIM_OK;
}

static shim_status_t read_export(const shim__elf_image_t* image,
                                 const tables_t* tables, uint32_t i,
                                 shim__cpu_export_t* entry,
                                 shim_error_t* error) {
  uint64_t function = 0;
  shim_status_t status = read_attributes(image, tables, i, entry, error);
  if (status == SHIM_OK) status = read_name(image, tables, i, entry, error);
  if (status != SHIM_OK) return status;
  if (!read_pointer(image, tables->ptrs, i, &function)) {
    return outside("the function table of its exports", error);
  }
  if (!shim__elf_image_is_code(image, function)) {
    return shim_error_set(error, SHIM_INVALID_ARGUMENT, 0,
                          "malformed library: export '%.100s' is not in an "
                          "executable segment",
                          entry->name);
  }
  if (entry->constant_count > SHIM_CPU_MAX_CONSTANTS ||
      entry->binding_count > SHIM_CPU_MAX_BINDINGS) {
    return shim_error_set(
        error, SHIM_OUT_OF_RANGE, 0,
        "export '%.100s' takes %u constants and %u bindings; the limits are %d "
        "and %d",
        entry->name, entry->constant_count, entry->binding_count,
        SHIM_CPU_MAX_CONSTANTS, SHIM_CPU_MAX_BINDINGS);
  }
  memcpy(&entry->function, &function, sizeof(function));
  return SHIM_OK;
}

static shim_status_t read_exports(const shim__elf_image_t* image,
                                  const tables_t* tables,
                                  shim__cpu_library_t* library,
                                  shim_error_t* error) {
  const uint64_t count = tables->export_count;
  if (count == 0) return SHIM_OK;
  // Checked before the allocation, which is thereby no larger than a small
  // multiple of the image.
  if (!shim__elf_image_is_readable(image, tables->ptrs,
                                   count * sizeof(uint64_t))) {
    return outside("the function table of its exports", error);
  }
  bool has_attributes = tables->attrs != 0 || tables->version >= 6;
  if (has_attributes &&
      !shim__elf_image_is_readable(image, tables->attrs,
                                   count * attributes_size(tables->version))) {
    return outside("the attribute table of its exports", error);
  }
  library->exports = calloc(count, sizeof(*library->exports));
  if (!library->exports) {
    return shim__no_memory(error, count * sizeof(*library->exports), "exports");
  }
  library->export_count = tables->export_count;
  for (uint32_t i = 0; i < tables->export_count; ++i) {
    shim_status_t status =
        read_export(image, tables, i, &library->exports[i], error);
    if (status != SHIM_OK) return status;
  }
  return SHIM_OK;
}

shim_status_t shim__cpu_library_read(const shim__elf_image_t* image,
                                     uint64_t address, size_t constant_count,
                                     shim__cpu_library_t* out_library,
                                     shim_error_t* error) {
  memset(out_library, 0, sizeof(*out_library));
  const shim_library_header_t* header = NULL;
  tables_t tables;
  memset(&tables, 0, sizeof(tables));
  // The header comes first and determines the layout of the rest.
  if (!shim__elf_image_read(image, address, &header, sizeof(header))) {
    return outside("its description", error);
  }
  shim_status_t status = check_header(image, header, &tables.version, error);
  if (status == SHIM_OK) status = read_tables(image, address, &tables, error);
  if (status != SHIM_OK) return status;
  if (tables.constant_count != constant_count) {
    return shim_error_set(error, SHIM_FAILED_PRECONDITION, 0,
                          "library takes %u specialization constants, %llu "
                          "were given",
                          tables.constant_count, (ull)constant_count);
  }
  status = check_imports(image, &tables.imports, error);
  if (status == SHIM_OK) {
    out_library->import_count = tables.imports.count;
    status = read_exports(image, &tables, out_library, error);
  }
  if (status != SHIM_OK) shim__cpu_library_release(out_library);
  return status;
}

void shim__cpu_library_release(shim__cpu_library_t* library) {
  free(library->exports);
  memset(library, 0, sizeof(*library));
}

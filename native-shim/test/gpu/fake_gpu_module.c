// Modules of the fakes: PTX, which runs, and the code of devices in ELF, of
// which the functions are found but do not run.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu.h"
#include "ptx.h"

enum { MACHINE_CUDA = 190, MACHINE_AMDGPU = 224 };

typedef struct fake_program_t {
  int references;
  bool unloaded;
  ptx_module_t* ptx;
  char** names;  // functions of other code
  size_t name_count;
} fake_program_t;

fake_program_t* fake_retain_program(fake_program_t* program) {
  ++program->references;
  return program;
}

void fake_release_program(fake_program_t* program) {
  if (!program || --program->references) return;
  ptx_module_unload(program->ptx);
  for (size_t i = 0; i < program->name_count; ++i) free(program->names[i]);
  free(program->names);
  free(program);
}

bool fake_is_unloaded(const fake_program_t* program) {
  return program->unloaded;
}

//===--------------------------------------------------------------------===//
// PTX
//===--------------------------------------------------------------------===//

// The length of text in ASCII that ends with NUL; 0 for anything else.
static size_t text_length(const char* image) {
  size_t length = 0;
  for (; image[length]; ++length) {
    unsigned char byte = (unsigned char)image[length];
    if ((byte < 32 && !strchr("\t\n\v\f\r", byte)) || byte > 126) return 0;
  }
  return length;
}

// Whether the device is older than what the text was made for.
static bool is_too_new(const char* text) {
  const char* target = strstr(text, ".target sm_");
  int number = 0;
  if (FAKE_PICK(false, true) || !target) return false;
  return sscanf(target, ".target sm_%d", &number) == 1 &&
         number > fake_settings.major * 10 + fake_settings.minor;
}

static int load_text(const char* text, fake_program_t* program, char* error,
                     size_t error_size) {
  size_t length = text_length(text);
  if (!length || !strstr(text, ".version")) {
    snprintf(error, error_size, "neither PTX nor an image of a device");
    return SGPU_INVALID_IMAGE;
  }
  if (is_too_new(text)) {
    snprintf(error, error_size, "the PTX is for a newer device");
    return SGPU_NO_BINARY_FOR_GPU;
  }
  program->ptx = ptx_module_load(text, length, error, error_size);
  return program->ptx ? SGPU_SUCCESS : SGPU_INVALID_PTX;
}

//===--------------------------------------------------------------------===//
// ELF
//===--------------------------------------------------------------------===//

// The numbers in e_flags of AMD's devices.
static const struct {
  unsigned number;
  const char* name;
} machines[] = {
    {0x2c, "gfx900"},  {0x2f, "gfx906"},  {0x30, "gfx908"},  {0x3f, "gfx90a"},
    {0x40, "gfx940"},  {0x4c, "gfx942"},  {0x4f, "gfx950"},  {0x33, "gfx1010"},
    {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x41, "gfx1100"},
    {0x46, "gfx1101"}, {0x47, "gfx1102"}, {0x44, "gfx1103"}, {0x48, "gfx1200"},
    {0x4e, "gfx1201"},
};

static bool is_for_device(const Elf64_Ehdr* header) {
#ifdef FAKE_HIP
  if (header->e_machine != MACHINE_AMDGPU) return false;
  for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); ++i) {
    if (machines[i].number == (header->e_flags & 0xFF)) {
      return strcmp(machines[i].name, fake_settings.gfx) == 0;
    }
  }
  return false;
#else
  (void)machines;
  if (header->e_machine != MACHINE_CUDA) return false;
  // Newer compilers use another byte and another version.
  unsigned shift = header->e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  int number = (int)(header->e_flags >> shift & 0xFF);
  return number / 10 == fake_settings.major &&
         number % 10 <= fake_settings.minor;
#endif
}

static void add_name(fake_program_t* program, const char* name, size_t length) {
  program->names =
      realloc(program->names, (program->name_count + 1) * sizeof(char*));
  program->names[program->name_count++] = strndup(name, length);
}

// AMD's functions are described by objects NAME.kd.
static void add_symbol(fake_program_t* program, const Elf64_Sym* symbol,
                       const char* name) {
  size_t length = strlen(name);
  if (symbol->st_shndx == SHN_UNDEF) return;
#ifdef FAKE_HIP
  if (length > 3 && strcmp(name + length - 3, ".kd") == 0) {
    add_name(program, name, length - 3);
  }
#else
  if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
      ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL) {
    add_name(program, name, length);
  }
#endif
}

static bool has_name(const fake_program_t* program, const char* name) {
  for (size_t i = 0; i < program->name_count; ++i) {
    if (strcmp(program->names[i], name) == 0) return true;
  }
  return false;
}

static int load_elf(const uint8_t* image, fake_program_t* program, char* error,
                    size_t error_size) {
  Elf64_Ehdr header;
  memcpy(&header, image, sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || !is_for_device(&header)) {
    snprintf(error, error_size, "the image is for another device");
    return SGPU_NO_BINARY_FOR_GPU;
  }
  const Elf64_Shdr* sections = (const Elf64_Shdr*)(image + header.e_shoff);
  for (int i = 0; i < header.e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB &&
        sections[i].sh_type != SHT_DYNSYM) {
      continue;
    }
    const Elf64_Sym* symbols =
        (const Elf64_Sym*)(image + sections[i].sh_offset);
    const char* names =
        (const char*)image + sections[sections[i].sh_link].sh_offset;
    for (size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s) {
      add_symbol(program, &symbols[s], names + symbols[s].st_name);
    }
  }
  return SGPU_SUCCESS;
}

#ifdef FAKE_HIP
// Several images: a magic, the number of parts, of each its place, its size and
// its name in front of which is its length.
static const char BUNDLE[] = "__CLANG_OFFLOAD_BUNDLE__";

// The part for the device, or NULL.
static const uint8_t* part_of(const uint8_t* bundle) {
  char wanted[64];
  size_t length =
      (size_t)snprintf(wanted, sizeof(wanted), "hipv4-amdgcn-amd-amdhsa--%s",
                       fake_settings.gfx);
  uint64_t count = 0, entry[3];
  const uint8_t* at = bundle + strlen(BUNDLE);
  memcpy(&count, at, sizeof(count));
  at += sizeof(count);
  for (; count; --count) {
    memcpy(entry, at, sizeof(entry));
    at += sizeof(entry);
    if (entry[2] == length && !memcmp(at, wanted, length)) {
      return bundle + entry[0];
    }
    at += entry[2];
  }
  return NULL;
}
#endif

// An image of the fake's own compiler: PTX in a section of an ELF file.
typedef struct image_t {
  Elf64_Ehdr header;
  Elf64_Shdr sections[2];
  char text[];
} image_t;

enum { COMPILED = 0x50545821 };  // in the section's sh_info

void* fake_make_image(const char* text, size_t* out_size) {
  size_t length = strlen(text) + 1;
  *out_size = sizeof(image_t) + length;
  image_t* image = calloc(1, *out_size);
  memcpy(image->header.e_ident, ELFMAG, SELFMAG);
  image->header.e_ident[EI_CLASS] = ELFCLASS64;
  image->header.e_ident[EI_DATA] = ELFDATA2LSB;
  image->header.e_machine = MACHINE_CUDA;
  image->header.e_flags =
      (unsigned)(fake_settings.major * 10 + fake_settings.minor);
  image->header.e_shoff = sizeof(Elf64_Ehdr);
  image->header.e_shentsize = sizeof(Elf64_Shdr);
  image->header.e_shnum = 2;
  image->sections[1].sh_type = SHT_PROGBITS;
  image->sections[1].sh_info = COMPILED;
  image->sections[1].sh_offset = sizeof(image_t);
  image->sections[1].sh_size = length;
  memcpy(image->text, text, length);
  return image;
}

//===--------------------------------------------------------------------===//
// Modules
//===--------------------------------------------------------------------===//

// Fills the buffer that the options of a module give for errors.
static void tell_log(const char* error, unsigned count, const int* options,
                     void** values) {
  char* buffer = NULL;
  size_t size = 0;
  void** size_value = NULL;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == SGPU_JIT_ERROR_LOG) buffer = values[i];
    if (options[i] == SGPU_JIT_ERROR_LOG_BYTES) {
      size_value = &values[i];
      size = (size_t)(uint32_t)(uintptr_t)values[i];
    }
  }
  if (!buffer || !size) return;
  snprintf(buffer, size, "%s", error);
  *size_value = (void*)(uintptr_t)strlen(buffer);
}

static int load(sgpu_context_t context, const void* image,
                fake_program_t* program, char* error, size_t error_size) {
  (void)context;
  if (strncmp(image, ELFMAG, SELFMAG) == 0) {
    const image_t* own = image;
    if (own->header.e_shnum == 2 && own->sections[1].sh_info == COMPILED &&
        is_for_device(&own->header)) {
      return load_text(own->text, program, error, error_size);
    }
    return load_elf(image, program, error, error_size);
  }
#ifdef FAKE_HIP
  if (strncmp(image, BUNDLE, strlen(BUNDLE)) == 0) {
    const uint8_t* part = part_of(image);
    if (part) return load_elf(part, program, error, error_size);
    snprintf(error, error_size, "the bundle has no image for the device");
    return SGPU_NO_BINARY_FOR_GPU;
  }
#endif
  return load_text(image, program, error, error_size);
}

int fake_module_load(sgpu_module_t* out_module, const void* image,
                     unsigned option_count, int* options,
                     void** option_values) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_module_load, &context);
  if (!code) code = fake_refuse_capture();
  if (!code && !image) code = SGPU_INVALID_VALUE;
  if (code) return fake_end(code);
  char error[512] = "";
  fake_program_t* program = calloc(1, sizeof(*program));
  program->references = 1;
  code = load(context, image, program, error, sizeof(error));
  tell_log(error, option_count, options, option_values);
  if (code) {
    fake_release_program(program);
  } else {
    sgpu_module_t module = fake_make(FAKE_MODULE, context);
    module->program = program;
    *out_module = module;
  }
  if (!code) fake_await_work(context);
  return fake_end(code);
}

void fake_free_link(sgpu_link_t link) {
  free(link->text);
  free(link->image);
}

#ifndef FAKE_HIP
int fake_link_create(unsigned option_count, int* options, void** option_values,
                     sgpu_link_t* out_link) {
  (void)option_count, (void)options, (void)option_values;
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_link_create, &context);
  if (!code) code = fake_refuse_capture();
  if (!code) *out_link = fake_make(FAKE_LINK, context);
  return fake_end(code);
}

int fake_link_add(sgpu_link_t link, int type, void* data, size_t size,
                  const char* name, unsigned option_count, int* options,
                  void** option_values) {
  (void)name, (void)option_count, (void)options, (void)option_values;
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_link_add, &context);
  if (!code) code = fake_check(FAKE_LINK, link, context);
  if (!code && (type != SGPU_LINK_PTX || !size || link->text)) {
    code = SGPU_INVALID_VALUE;
  }
  const char* text = data;
  if (!code && text[size - 1]) {
    fake_complain("PTX without a zero byte at its end is compiled");
    code = SGPU_INVALID_IMAGE;
  }
  if (code) return fake_end(code);
  char error[512];
  fake_program_t* program = calloc(1, sizeof(*program));
  program->references = 1;
  code = load_text(text, program, error, sizeof(error));
  fake_release_program(program);
  if (!code) link->text = strdup(text);
  return fake_end(code);
}

int fake_link_complete(sgpu_link_t link, void** out_image, size_t* out_size) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_link_complete, &context);
  if (!code) code = fake_check(FAKE_LINK, link, context);
  if (!code && (!link->text || link->image)) code = SGPU_INVALID_VALUE;
  if (!code) *out_image = link->image = fake_make_image(link->text, out_size);
  return fake_end(code);
}

int fake_link_destroy(sgpu_link_t link) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_link_destroy, &context);
  if (context) {
    int own = fake_check(FAKE_LINK, link, context);
    if (!own) {
      fake_free_link(link);
      fake_drop(FAKE_LINK, link);
    }
    if (!code) code = own;
  }
  return fake_end(code);
}
#endif

static void drop_functions(sgpu_module_t module) {
  sgpu_context_t context = module->object.context;
  sgpu_function_t function = fake_next(FAKE_FUNCTION, context, NULL);
  while (function) {
    if (function->module == module) fake_drop(FAKE_FUNCTION, function);
    function = fake_next(FAKE_FUNCTION, context, function);
  }
}

int fake_module_unload(sgpu_module_t module) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_module_unload, &context);
  if (!code) code = fake_refuse_capture();
  if (context) {
    int own = fake_check(FAKE_MODULE, module, context);
    if (!own) {
      if (!context->error && fake_is_pending(module->program)) {
        fake_complain("a module is unloaded while operations use it");
      }
      module->program->unloaded = true;
      fake_release_program(module->program);
      drop_functions(module);
      fake_drop(FAKE_MODULE, module);
    }
    if (!code) code = own;
  }
  if (!code) fake_await_work(context);
  return fake_end(code);
}

void fake_free_modules(sgpu_context_t context) {
  sgpu_module_t module = fake_next(FAKE_MODULE, context, NULL);
  while (module) {
    fake_release_program(module->program);
    module = fake_next(FAKE_MODULE, context, module);
  }
}

//===--------------------------------------------------------------------===//
// Functions
//===--------------------------------------------------------------------===//

static int find_function(sgpu_module_t module, const char* name,
                         sgpu_function_t* out) {
  sgpu_context_t context = module->object.context;
  sgpu_function_t function = fake_next(FAKE_FUNCTION, context, NULL);
  for (; function; function = fake_next(FAKE_FUNCTION, context, function)) {
    if (function->module == module && strcmp(function->name, name) == 0) {
      *out = function;
      return SGPU_SUCCESS;
    }
  }
  const ptx_function_t* kernel = NULL;
  if (module->program->ptx) {
    kernel = ptx_module_function(module->program->ptx, name);
  }
  if (!kernel && !has_name(module->program, name)) return SGPU_NOT_FOUND;
  function = fake_make(FAKE_FUNCTION, context);
  function->module = module;
  function->program = module->program;
  function->kernel = kernel;
  function->loaded = FAKE_PICK(!fake_settings.lazy, true);
  function->max_dynamic_bytes = FAKE_MAX_SHARED_BYTES;
  if (kernel) {
    function->max_dynamic_bytes -= (int)ptx_function_shared_bytes(kernel);
  }
  snprintf(function->name, sizeof(function->name), "%s", name);
  *out = function;
  return SGPU_SUCCESS;
}

int fake_module_function(sgpu_function_t* out_function, sgpu_module_t module,
                         const char* name) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_module_function, &context);
  if (!code) code = fake_check(FAKE_MODULE, module, context);
  if (!code) code = find_function(module, name, out_function);
  return fake_end(code);
}

static int attribute_of(sgpu_function_t function, int attribute, int* out) {
  const ptx_function_t* kernel = function->kernel;
  switch (attribute) {
    case SGPU_FUNCTION_MAX_THREADS:
      *out = kernel ? (int)ptx_function_max_threads(kernel) : 1024;
      return SGPU_SUCCESS;
    case SGPU_FUNCTION_SHARED_BYTES:
      *out = kernel ? (int)ptx_function_shared_bytes(kernel) : 0;
      return SGPU_SUCCESS;
    case 2:  // bytes of constants
      *out = 0;
      return SGPU_SUCCESS;
    case 3:  // local bytes of a thread
      *out = kernel ? (int)ptx_function_local_bytes(kernel) : 0;
      return SGPU_SUCCESS;
    case 4:  // registers of a thread
      *out = kernel ? (int)ptx_function_registers(kernel) : 0;
      return SGPU_SUCCESS;
    case SGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES:
      *out = function->max_dynamic_bytes;
      return SGPU_SUCCESS;
    default:
      return SGPU_INVALID_VALUE;
  }
}

int fake_function_attribute(int* out_value, int attribute,
                            sgpu_function_t function) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_function_attribute, &context);
  if (!code) code = fake_check(FAKE_FUNCTION, function, context);
  if (!code) code = attribute_of(function, attribute, out_value);
  return fake_end(code);
}

#ifndef FAKE_HIP
int fake_function_load(sgpu_function_t function) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_function_load, &context);
  if (!code) code = fake_refuse_capture();
  if (!code) code = fake_check(FAKE_FUNCTION, function, context);
  if (!code && !function->loaded) {
    function->loaded = true;
    fake_await_work(context);
  }
  return fake_end(code);
}

int fake_function_set_attribute(sgpu_function_t function, int attribute,
                                int value) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_function_set_attribute, &context);
  if (!code) code = fake_check(FAKE_FUNCTION, function, context);
  if (!code) {
    int own =
        function->kernel ? (int)ptx_function_shared_bytes(function->kernel) : 0;
    if (attribute != SGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES || value < 0 ||
        value > FAKE_MAX_OPTIN_BYTES - own) {
      code = SGPU_INVALID_VALUE;
    } else {
      function->max_dynamic_bytes = value;
    }
  }
  return fake_end(code);
}

int fake_function_parameter(sgpu_function_t function, size_t index,
                            size_t* out_offset, size_t* out_size) {
  sgpu_context_t context = NULL;
  int code = fake_begin(CALL_function_parameter, &context);
  if (!code) code = fake_check(FAKE_FUNCTION, function, context);
  if (!code && !function->kernel) code = SGPU_NOT_SUPPORTED;
  if (!code && index >= ptx_function_param_count(function->kernel)) {
    code = SGPU_INVALID_VALUE;
  }
  if (!code) {
    *out_offset = ptx_function_param_offset(function->kernel, (uint32_t)index);
    *out_size = ptx_function_param_size(function->kernel, (uint32_t)index);
  }
  return fake_end(code);
}
#endif

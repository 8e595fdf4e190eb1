// Mutated files: loading gives a status for any content of the tables. Machine
// code is not run for files whose code or entry points may have changed; where
// the query function does run, only its returned data was mutated.
//
// SHIM_FUZZ_SEED and SHIM_FUZZ_RUNS override the defaults; a failure prints the
// seed of its run.
#include "cpu/cpu_library.h"
#include "elf_edit.h"
#include "shim_system.h"

static uint64_t state;

static uint64_t next_random(void) {  // splitmix64
  uint64_t z = (state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

static uint64_t below(uint64_t bound) { return next_random() % bound; }

// Values that reveal missing checks more often than random ones.
static uint64_t interesting(void) {
  static const uint64_t values[] = {
      0, 1, 7, 8, 24, 0xFFF, 0x1000, 0x7FFFFFFF, 0x80000000, UINT32_MAX,
      INT64_MAX, 1ull << 63, UINT64_MAX - 7, UINT64_MAX};
  return values[below(sizeof(values) / sizeof(values[0]))];
}

static void mutate(uint8_t* bytes, size_t size) {
  size_t at = below(size);
  switch (below(4)) {
    case 0:
      bytes[at] = (uint8_t)next_random();
      break;
    case 1:
      bytes[at] = (uint8_t)(bytes[at] ^ (1u << below(8)));
      break;
    case 2: {
      uint64_t value = interesting();
      at &= ~(size_t)7;
      memcpy(bytes + at, &value, size - at < 8 ? size - at : 8);
      break;
    }
    default: {
      uint32_t value = (uint32_t)interesting();
      at &= ~(size_t)3;
      memcpy(bytes + at, &value, size - at < 4 ? size - at : 4);
      break;
    }
  }
}

static uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text ? strtoull(text, NULL, 0) : otherwise;
}

static int outcomes[2];  // rejected, loaded

// Parse and map; the tables of headers, symbols and relocations are mutated
// more often than the rest of the file.
static void mutated_files_are_rejected_or_mapped(uint64_t seed) {
  state = seed;
  file_t original = read_kernel("basic");
  uint8_t* bytes = malloc(original.size);
  CHECK(bytes);
  size_t size = original.size;
  memcpy(bytes, original.bytes, size);
  size_t tables = segment_of_type(&original, ELF_PT_LOAD, 0)->filesz;
  elf_program_header_t* dynamic = segment_of_type(&original, ELF_PT_DYNAMIC, 0);
  for (uint64_t i = 1 + below(4); i > 0; --i) {
    switch (below(4)) {
      case 0:
        mutate(bytes, size);
        break;
      case 1:
        mutate(bytes + dynamic->offset, dynamic->filesz);
        break;
      default:
        mutate(bytes, tables);
        break;
    }
  }
  if (below(10) == 0) size = below(size);
  // Exactly the size of the file, for the sanitizers.
  uint8_t* exact = malloc(size ? size : 1);
  CHECK(exact);
  memcpy(exact, bytes, size);
  shim_error_t error = {0};
  shim__elf_file_t file;
  shim__elf_image_t image = {0};
  shim_status_t status = shim__elf_file_parse(
      exact, size, SHIM__ELF_HOST_MACHINE, shim__system_page_size(), &file,
      &error);
  if (status == SHIM_OK) {
    uint64_t vaddr;
    shim__elf_file_lookup(&file, SHIM_CPU_QUERY_SYMBOL, &vaddr, NULL);
    status = shim__elf_image_load(&file, &image, &error);
  }
  CHECK_EQ(status, error.status);
  if (status != SHIM_OK && error.message[0] == '\0') {
    fprintf(stderr, "no message at seed %llu\n", (unsigned long long)seed);
    exit(1);
  }
  ++outcomes[status == SHIM_OK];
  shim__elf_image_release(&image);
  free(exact);
  free(bytes);
  free(original.bytes);
}

// The data segment and the addends and places of relocations: what the query
// function returns then points anywhere.
static void mutated_descriptions_are_rejected_or_read(uint64_t seed) {
  static const char* const kernels[] = {"basic", "version_3", "version_4",
                                        "version_5"};
  state = seed;
  file_t file = read_kernel(kernels[below(4)]);
  int data_segment = 0;
  while (!(segment_of_type(&file, ELF_PT_LOAD, data_segment)->flags &
           ELF_PF_W)) {
    ++data_segment;
  }
  elf_program_header_t* data =
      segment_of_type(&file, ELF_PT_LOAD, data_segment);
  elf_program_header_t* dynamic = segment_of_type(&file, ELF_PT_DYNAMIC, 0);
  uint64_t relocations =
      dynamic_entry(&file, ELF_DT_RELASZ)->value / sizeof(elf_rela_t);
  for (uint64_t i = 1 + below(6); i > 0; --i) {
    if (below(2)) {
      // Up to the dynamic section, which must not gain an initializer.
      mutate(file.bytes + data->offset, dynamic->offset - data->offset);
    } else {
      elf_rela_t* rela = &first_relocation(&file)[below(relocations)];
      uint64_t value = below(2) ? interesting() : below(0x6000);
      memcpy(below(4) ? (void*)&rela->addend : (void*)&rela->offset, &value, 8);
    }
  }
  const uint32_t constant = 1;
  shim_cpu_executable_params_t params = {.name = "fuzz",
                                         .name_length = 4,
                                         .elf = file.bytes,
                                         .elf_size = file.size,
                                         .constants = &constant,
                                         .constant_count = 1};
  shim_cpu_executable_t* executable = NULL;
  shim_error_t failure = {0};
  shim_status_t status =
      shim_cpu_executable_create(&params, &executable, &failure);
  CHECK_EQ(status, failure.status);
  CHECK_EQ(status == SHIM_OK, executable != NULL);
  if (executable) {
    uint32_t count = shim_cpu_executable_export_count(executable);
    for (uint32_t i = 0; i < count; ++i) {
      shim_cpu_export_t info;
      CHECK_OK(shim_cpu_executable_export_query(executable, i, &info, &error));
      CHECK_EQ(strlen(info.name), info.name_length);
    }
  }
  ++outcomes[status == SHIM_OK];
  shim_cpu_executable_release(executable);
  free(file.bytes);
}

static void fuzz(const char* name, void (*run)(uint64_t seed)) {
  uint64_t seed = setting("SHIM_FUZZ_SEED", 1);
  uint64_t runs = setting("SHIM_FUZZ_RUNS", 20000);
  outcomes[0] = outcomes[1] = 0;
  for (uint64_t i = 0; i < runs; ++i) run(seed + i * 1000003);
  fprintf(stderr, "ok %s: seed %llu, %d rejected, %d loaded\n", name,
          (unsigned long long)seed, outcomes[0], outcomes[1]);
  // If one of these were 0 in a long run, the mutations would prove nothing.
  CHECK(runs < 1000 || (outcomes[0] > 0 && outcomes[1] > 0));
}

int main(void) {
  fuzz("mutated_files_are_rejected_or_mapped",
       mutated_files_are_rejected_or_mapped);
  fuzz("mutated_descriptions_are_rejected_or_read",
       mutated_descriptions_are_rejected_or_read);
  return 0;
}

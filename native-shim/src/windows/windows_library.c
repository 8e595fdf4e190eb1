// Libraries of drivers on Windows. Calls nothing of the shim.
#include "windows/windows_error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "windows/dlfcn.h"

static _Thread_local unsigned long last;
static _Thread_local char text[64];

void* dlopen(const char* name, int flags) {
  (void)flags;
  wchar_t wide[1024];
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, wide,
                           sizeof(wide) / sizeof(wide[0]))) {
    last = GetLastError();
    return NULL;
  }
  const bool is_path = strpbrk(name, "/\\") != NULL;
  HMODULE library =
      LoadLibraryExW(wide, NULL,
                     is_path ? LOAD_WITH_ALTERED_SEARCH_PATH
                             : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  last = GetLastError();
  return library;
}

void* dlsym(void* library, const char* symbol) {
  FARPROC found = GetProcAddress(library, symbol);
  void* address;
  memcpy(&address, &found, sizeof(address));
  return address;
}

int dlclose(void* library) { return FreeLibrary(library) ? 0 : -1; }

char* dlerror(void) {
  snprintf(text, sizeof(text), "error %lu of Windows%s", last,
           last == ERROR_MOD_NOT_FOUND ? ", there is no such library" : "");
  return text;
}

// Libraries of drivers on Windows. The Windows side of
// shim_system.h for them. Calls nothing of the shim.
#include "windows/windows_error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shim_system.h"
#include "windows/dlfcn.h"

static _Thread_local unsigned long last;
static _Thread_local bool is_there;  // though it does not load
static _Thread_local char text[96];

static const char none[] = ", there is no such library";

void* dlopen(const char* name, int flags) {
  (void)flags;
  wchar_t wide[1024];
  is_there = false;
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, wide,
                           sizeof(wide) / sizeof(wide[0]))) {
    last = GetLastError();
    return NULL;
  }
  const bool is_path = strpbrk(name, "/\\") != NULL;
  const DWORD search = is_path ? LOAD_WITH_ALTERED_SEARCH_PATH
                               : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
  HMODULE library = LoadLibraryExW(wide, NULL, search);
  last = GetLastError();
  if (!library && last == ERROR_MOD_NOT_FOUND) {
    // The same code says that a library is missing which this one needs.
    HMODULE data =
        LoadLibraryExW(wide, NULL, search | LOAD_LIBRARY_AS_DATAFILE);
    is_there = data != NULL;
    if (data) FreeLibrary(data);
  }
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
  const char* meaning = last != ERROR_MOD_NOT_FOUND ? ""
                        : is_there ? ", a library that it needs is missing"
                                   : none;
  snprintf(text, sizeof(text), "error %lu of Windows%s", last, meaning);
  return text;
}

bool shim__system_lacks(const char* name, const char* cause) {
  (void)name;
  return strstr(cause, none) != NULL;
}

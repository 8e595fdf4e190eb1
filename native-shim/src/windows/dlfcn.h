// The part of POSIX's <dlfcn.h> that the shim uses of drivers, on Windows.
#ifndef IREE4J_SHIM_WINDOWS_DLFCN_H_
#define IREE4J_SHIM_WINDOWS_DLFCN_H_

#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_LOCAL 0

// |name| is UTF-8. A bare name is looked for in the system's folder and the
// application's, never in the current one.
void* dlopen(const char* name, int flags);
void* dlsym(void* library, const char* symbol);
int dlclose(void* library);

// Why the last dlopen of this thread failed.
char* dlerror(void);

#endif  // IREE4J_SHIM_WINDOWS_DLFCN_H_

// Errors of Windows as the numbers that callers and messages have on Linux.
// Private to the shim.
#ifndef IREE4J_SHIM_WINDOWS_ERROR_H_
#define IREE4J_SHIM_WINDOWS_ERROR_H_

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

// The last error of this thread as an errno.
int shim__windows_errno(void);

#endif  // IREE4J_SHIM_WINDOWS_ERROR_H_

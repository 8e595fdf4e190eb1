/**
 * The only access to native code: all {@code native} methods, loading of the shim library, decoding of the library's
 * errors.
 *
 * <p>Start at {@link io.github.iree4j.nativeaccess.NativeLibrary}. It reports whether native code is available and, if
 * not, the cause and the remedy. {@link io.github.iree4j.nativeaccess.CpuLibrary} runs compiled CPU kernels.
 * The native methods of drivers are in packages below this one, in the drivers' modules. The C side is {@code native-shim/}, with the contract
 * {@code native-shim/include/shim.h}.
 *
 * <p>All types are safe for use from any thread, virtual ones included, unless documented otherwise. Not exported:
 * users of the runtime reach native code only through the HAL.
 */
@NullMarked
package io.github.iree4j.nativeaccess;

import org.jspecify.annotations.NullMarked;

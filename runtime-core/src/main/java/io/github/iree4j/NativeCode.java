package io.github.iree4j;

import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The native library of this process, needed by compiled CPU code and by drivers. The library is searched once, at the
 * first use: when a device or a kernel needs native code, or {@link #unavailabilityCause} is called. Any thread may call
 * these methods.
 */
public final class NativeCode {
    private NativeCode() {}

    /**
     * Sets the native library, before the library's first use.
     *
     * @param path the library's file or directory
     * @throws IreeException FAILED_PRECONDITION when the library was searched already, under another name
     */
    public static void useLibrary(Path path) {
        NativeLibrary.use(path.toString());
    }

    /**
     * Sets the directory for a copy of the native library when the library comes in a jar, before the library's first
     * use.
     *
     * @param directory created if missing; other users must not be able to write there
     * @throws IreeException FAILED_PRECONDITION when the library was copied already, with another directory
     */
    public static void copyLibraryTo(Path directory) {
        NativeLibrary.copyTo(directory.toString());
    }

    /**
     * Returns why compiled CPU code and drivers cannot be called in this process. Searches the library.
     *
     * @return an exception with status UNAVAILABLE, a message with a remedy, and an {@link IllegalCallerException} as
     *     the cause when native access is not enabled; empty when native code can be called
     */
    public static Optional<IreeException> unavailabilityCause() {
        return Optional.ofNullable(NativeLibrary.unavailabilityCause());
    }
}

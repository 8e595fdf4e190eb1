package io.github.iree4j.nativeaccess;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Compiled kernels for tests, from the build directory of {@code native-shim}; sources in {@code native-shim/test/kernels}. The system
 * property {@code iree4j.test.kernels} selects another directory.
 */
final class TestKernels {
    static final Path DIRECTORY =
            Path.of(System.getProperty("iree4j.test.kernels", "../native-shim/build/release/test/kernels"));

    private TestKernels() {}

    /** The ELF file of a kernel, on the heap. */
    static MemorySegment elf(String name) {
        try {
            return MemorySegment.ofArray(Files.readAllBytes(DIRECTORY.resolve(name + ".so")));
        } catch (IOException e) {
            throw new UncheckedIOException("kernel '" + name + "' has not been built", e);
        }
    }

    /** {@code basic.c} with specialization constant 77. */
    static CpuLibrary basic() {
        return CpuLibrary.load("basic", elf("basic"), new int[] {77});
    }
}

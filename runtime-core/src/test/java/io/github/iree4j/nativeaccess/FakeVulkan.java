package io.github.iree4j.nativeaccess;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A Vulkan library without hardware, for tests: several queues, memory that the host cannot see, failures at will, complaints about
 * misuse as validation would have them. {@code native-shim/test/fake/fake_vulkan.h} has the settings. Each has a copy of the library, thus
 * settings and state of its own.
 *
 * <pre>
 *   FakeVulkan fake = FakeVulkan.in(temporaryDirectory, "devices=discrete+cpu oom_allocation=3");
 *   try (VulkanApi api = VulkanApi.open(fake.library(), true)) { ... fake.loseDevice(); ... }
 * </pre>
 *
 * <p>Where a library is chosen by the system property {@value VulkanApi#LIBRARY}, set that to {@link #library}.
 */
public final class FakeVulkan {
    private static final Path BUILT = Path.of(
            System.getProperty("iree4j.test.fake-vulkan", "../native-shim/build/release/test/libfake_vulkan.so"));

    private static final AtomicInteger COPIES = new AtomicInteger();

    private final Path library;

    private FakeVulkan(Path library) {
        this.library = library;
    }

    /** Makes a copy with some settings, separated by blanks. Skips the test where the build of the shim made none. */
    public static FakeVulkan in(Path directory, String settings) {
        assumeTrue(Files.exists(BUILT), "no fake Vulkan library; bin/cmake-native release builds it");
        try {
            Path copy = directory.resolve("libfake_vulkan_" + COPIES.incrementAndGet() + ".so");
            Files.copy(BUILT, copy);
            Files.writeString(Path.of(copy + ".conf"), settings);
            return new FakeVulkan(copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What {@link VulkanApi#open} opens. */
    public String library() {
        return library.toAbsolutePath().toString();
    }

    /** Has its queues begin nothing that is submitted, until {@link #goOn}. */
    public void hang() {
        try {
            Files.createFile(Path.of(library + ".hang"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends {@link #hang}; harmless without. */
    public void goOn() {
        try {
            Files.deleteIfExists(Path.of(library + ".hang"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Has its devices lost from now on, waits in progress included. */
    public void loseDevice() {
        try {
            Files.createFile(Path.of(library + ".lost"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package io.github.iree4j.nativeaccess.vulkan;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A Vulkan library without hardware, for tests: several queues, hidden memory, injected failures, validation messages
 * for misuse. {@code native-shim/test/fake/fake_vulkan.h} documents the settings. Each instance has a private copy of
 * the library, and so private settings and state.
 *
 * <pre>
 *   FakeVulkan fake = FakeVulkan.in(temporaryDirectory, "devices=discrete+cpu oom_allocation=3");
 *   try (VulkanApi api = VulkanApi.open(fake.library(), true)) { ... fake.loseDevice(); ... }
 * </pre>
 *
 * <p>Where the system property {@value VulkanApi#LIBRARY} selects the library, set the property to {@link #library}.
 */
public final class FakeVulkan {
    private static final Path BUILT = Path.of(
            System.getProperty("iree4j.test.fake-vulkan", "../native-shim/build/release/test/libfake_vulkan.so"));

    private static final AtomicInteger COPIES = new AtomicInteger();

    private final Path library;

    private FakeVulkan(Path library) {
        this.library = library;
    }

    /** Creates a copy with settings, separated by blanks. Skips the test if the build of the shim produced none. */
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

    /** The library's path, for {@link VulkanApi#open}. */
    public String library() {
        return library.toAbsolutePath().toString();
    }

    /** Keeps the queues from starting submitted work until {@link #goOn}. */
    public void hang() {
        try {
            Files.createFile(Path.of(library + ".hang"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends {@link #hang}; no effect without it. */
    public void goOn() {
        try {
            Files.deleteIfExists(Path.of(library + ".hang"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes the devices lost from now on, and ends waits in progress. */
    public void loseDevice() {
        try {
            Files.createFile(Path.of(library + ".lost"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package io.github.iree4j.spring;

import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Gives each JVM of tests a private copy of the library in place of CUDA's driver, for losing devices separately. A
 * driver opens the library once.
 */
public final class FakeCuda implements LauncherSessionListener {
    private static final String PROPERTY = "iree.cuda.library";

    /** For the service loader. */
    public FakeCuda() {}

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Path built = Path.of(System.getProperty(PROPERTY, ""));
        if (!built.isAbsolute() || !Files.isRegularFile(built)) {
            return; // the machine's own, or none
        }
        try {
            Path copy = Files.createTempDirectory("iree4j-cuda").resolve("libfake_cuda.so");
            Files.copy(built, copy);
            System.setProperty(PROPERTY, copy.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void launcherSessionClosed(LauncherSession session) {
        Path copy = Path.of(System.getProperty(PROPERTY, ""));
        try {
            if (copy.getParent() != null
                    && copy.getParent().getFileName().toString().startsWith("iree4j-cuda")) {
                Files.deleteIfExists(copy);
                Files.deleteIfExists(copy.getParent());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Skips the test, or fails it where the driver is required, without the driver. */
    public static void require() {
        Availability availability = driver("cuda").availability();
        if (!availability.available()) {
            if (System.getProperty("iree.require", "").contains("cuda")) {
                throw new IllegalStateException("driver 'cuda' is required: " + availability.reason());
            }
            Assumptions.abort("no CUDA here: " + availability.reason());
        }
    }

    /** The driver of this name. */
    public static DriverProvider driver(String name) {
        return DriverProvider.installed().stream()
                .filter(driver -> driver.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Loses the open devices, until the result is closed. Skips the test on hardware. */
    public static Loss lose() {
        Path library = Path.of(System.getProperty(PROPERTY, ""));
        Assumptions.assumeTrue(library.getFileName().toString().startsWith("libfake_cuda"), "not on hardware");
        try {
            return new Loss(Files.createFile(Path.of(library + ".lost")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A loss.
     *
     * @param file the file sought by the library
     */
    public record Loss(Path file) implements AutoCloseable {
        @Override
        public void close() {
            try {
                Files.delete(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

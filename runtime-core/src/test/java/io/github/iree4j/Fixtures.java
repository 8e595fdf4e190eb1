package io.github.iree4j;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;

/** Compiled modules that are not part of the repository: {@code -Diree4j.fixtures=DIR}, or {@code shared/vmfb} next to the repository. */
public final class Fixtures {
    private static final Path DIRECTORY = Path.of(System.getProperty("iree4j.fixtures", "../../shared/vmfb"));

    private Fixtures() {}

    /** The file of a name; skips the test when it is not there. */
    public static Path file(String name) {
        Path file = DIRECTORY.resolve(name);
        Assumptions.assumeTrue(
                Files.isRegularFile(file),
                "fixture '" + file + "' is not there; name its directory with -Diree4j.fixtures=DIR");
        return file;
    }
}

package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

/** The project's own programs, compiled by releases of IREE's compiler, in {@code fixtures/}; see the README there. */
public final class Fixtures {
    /** The folder, or another of the same form, created by {@code bin/compatibility}; tests run in the folder of their Maven module. */
    public static final Path DIRECTORY = Path.of(System.getProperty("iree4j.fixtures", "../fixtures"));

    private Fixtures() {}

    /** A module by release, variant and program ({@code 3.11.0/cpu/add.vmfb}), or an archive of parameters by name. */
    public static Path file(String name) {
        Path file = DIRECTORY
                .resolve(name.endsWith(".irpa") ? "parameters" : "modules")
                .resolve(name);
        assertThat(file).isRegularFile();
        return file;
    }
}

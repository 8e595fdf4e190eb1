package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All other tests run on the class path; this one starts a JVM that sees the runtime as a named module. Nothing requires the library's
 * module (io.github.iree4j.shim), so the command line names it.
 */
@Tag("nightly")
class ModulePathTest {
    @Test
    void runtimeWorksAsNamedModule() throws Exception {
        Path program = Path.of(ModulePathTest.class
                .getResource("/module-path/UsesNamedModule.java")
                .toURI());
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--module-path",
                        path(true),
                        // In a build without jars the library's resources are a directory, which is not a module.
                        "--class-path",
                        path(false),
                        "--add-modules",
                        "ALL-MODULE-PATH",
                        "--enable-native-access=io.github.iree4j.runtime",
                        "-Dslf4j.internal.verbosity=ERROR",
                        program.toString(),
                        Fixtures.file("3.13.0/cpu/host_scalars.vmfb").toString())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(jvm.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(output.lines())
                    .as(output)
                    .containsExactly("io.github.iree4j.runtime", "1 device", "native: null", "832040");
        } finally {
            jvm.destroyForcibly();
        }
    }

    /** The runtime's classes, what they require, and the library: nothing that only tests need. */
    private static String path(boolean modules) {
        List<String> wanted = List.of("runtime-core", "native-shim", "jspecify", "slf4j-api");
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.endsWith("test-classes"))
                .filter(entry -> wanted.stream().anyMatch(entry::contains))
                .filter(entry -> modules
                        == (entry.endsWith(".jar")
                                || Files.exists(Path.of(entry).resolve("module-info.class"))))
                .collect(Collectors.joining(File.pathSeparator));
    }
}

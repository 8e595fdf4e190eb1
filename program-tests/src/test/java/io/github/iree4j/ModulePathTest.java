package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.vulkan.VulkanOfProcess;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * All other tests run on the class path; this test starts a JVM with the runtime and its parts as named modules, and
 * permits native access to the runtime alone. Nothing requires the library's module (io.github.iree4j.shim), so the
 * command line names the module.
 */
@Tag("nightly")
class ModulePathTest {
    @ParameterizedTest
    @CsvSource({"local, 3.13.0/cpu/add.vmfb", "local, 3.13.0/vmvx/add.vmfb", "vulkan, 3.13.0/vulkan/add.vmfb"})
    void runtimeAndPartsWorkAsNamedModules(String device, String module) throws Exception {
        if (device.equals("vulkan")) {
            VulkanOfProcess.assume();
        }
        Path program = Path.of(ModulePathTest.class
                .getResource("/module-path/UsesNamedModule.java")
                .toURI());
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--module-path",
                        path(true),
                        // In a build without jars the library's resources are a directory, not a module.
                        "--class-path",
                        path(false),
                        "--add-modules",
                        "ALL-MODULE-PATH",
                        "--enable-native-access=io.github.iree4j.runtime", // serves the drivers, too
                        "--illegal-native-access=deny",
                        "-Dslf4j.internal.verbosity=ERROR",
                        program.toString(),
                        device,
                        Fixtures.file(module).toString())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(jvm.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(output.lines())
                    .as(output)
                    .endsWith("io.github.iree4j.runtime", "native: Optional.empty", "[6.0, 8.0, 10.0, 12.0]");
        } finally {
            jvm.destroyForcibly();
        }
    }

    /** The runtime's classes, the required modules, and the library: nothing only needed by tests. */
    private static String path(boolean modules) {
        List<String> wanted = List.of("runtime-core", "vmvx", "backend-", "native-shim", "jspecify", "slf4j-api");
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.endsWith("test-classes") && !entry.endsWith("-tests.jar"))
                .filter(entry -> wanted.stream().anyMatch(entry::contains))
                .filter(entry -> modules
                        == (entry.endsWith(".jar")
                                || Files.exists(Path.of(entry).resolve("module-info.class"))))
                .collect(Collectors.joining(File.pathSeparator));
    }
}

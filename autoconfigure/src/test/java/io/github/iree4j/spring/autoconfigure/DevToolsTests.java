package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.devtools.DevToolsApplication;
import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** State that survives a restart by DevTools. */
@Tag("nightly")
class DevToolsTests {

    @Test
    void classesLoadingTheNativeLibraryAreNotRestarted() throws Exception {
        Properties properties = new Properties();
        try (InputStream in = getClass().getResourceAsStream("/META-INF/spring-devtools.properties")) {
            properties.load(in);
        }
        Pattern kept = Pattern.compile(properties.getProperty("restart.exclude.iree4j"));
        assertThat(List.of("runtime-core", "vmvx", "backend-stream", "backend-vulkan", "native-shim"))
                .allSatisfy(part -> assertThat(kept.matcher("file:/home/me/iree4j/" + part + "/target/classes/")
                                .find())
                        .isTrue());
        assertThat(kept.matcher("file:/home/me/iree4j/sample-app/target/classes/")
                        .find())
                .isFalse();
    }

    @Test
    void restartedApplicationReloadsItsPrograms(@TempDir Path directory) throws Exception {
        Path devTools = Path.of("target/devtools/spring-boot-devtools.jar").toAbsolutePath();
        assumeTrue(Files.exists(devTools), "the build has not fetched " + devTools);
        Path output = directory.resolve("output.txt");
        Process application = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path") + File.pathSeparator + devTools,
                        DevToolsApplication.class.getName(),
                        "--spring.main.web-application-type=none",
                        "--spring.main.banner-mode=off",
                        "--spring.devtools.livereload.enabled=false",
                        "--iree.modules.adder.location=" + TestModules.adder(directory))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(application.waitFor(6, TimeUnit.MINUTES)).as("has ended").isTrue();
        } finally {
            application.destroyForcibly();
        }
        assertThat(Files.readString(output))
                .contains("start 1: sum 42, native code works, class loader RestartClassLoader")
                .contains("start 2: sum 42, native code works, class loader RestartClassLoader")
                .contains("first runtime: programs 0, device closed");
    }
}

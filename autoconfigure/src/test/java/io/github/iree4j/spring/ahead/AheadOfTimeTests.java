package io.github.iree4j.spring.ahead;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.TestModules;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplicationAotProcessor;

/** An application processed ahead of time, as for a native image, and run on the JVM. */
@Tag("nightly")
class AheadOfTimeTests {

    @TempDir
    Path directory;

    @Test
    void namedBeansSurviveAheadOfTimeProcessing() throws Exception {
        String[] properties = {
            "--iree.modules.adding.location=" + TestModules.adder(directory),
            "--iree.device=cpu",
            "--iree.devices.cpu.uri=local",
            "--spring.main.banner-mode=off"
        };
        Path sources = directory.resolve("sources");
        Path classes = directory.resolve("classes");
        List<String> process = new ArrayList<>(List.of(
                SpringApplicationAotProcessor.class.getName(),
                AheadOfTimeApplication.class.getName(),
                sources.toString(),
                directory.resolve("resources").toString(),
                classes.toString(),
                "group",
                "artifact"));
        process.addAll(List.of(properties));
        java(List.of(), "", process);
        assertThat(text(sources)).contains("iree.modules.adding").contains("addQualifier(");

        compile(sources, classes);
        List<String> run = new ArrayList<>(List.of(AheadOfTimeApplication.class.getName()));
        run.addAll(List.of(properties));
        String output = java(List.of("-Dspring.aot.enabled=true"), classes + ":", run);
        assertThat(output).contains("AOT-processed").contains("on cpu 1 + 2 = 3");
    }

    private static String java(List<String> flags, String classPath, List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1"));
        command.addAll(flags);
        command.add("-cp");
        command.add(classPath + System.getProperty("java.class.path"));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private static List<Path> files(Path sources) throws IOException {
        try (Stream<Path> found = Files.walk(sources)) {
            return found.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    private static String text(Path sources) throws IOException {
        StringBuilder all = new StringBuilder();
        for (Path file : files(sources)) {
            all.append(Files.readString(file));
        }
        return all.toString();
    }

    private static void compile(Path sources, Path classes) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                "-proc:none",
                "-nowarn",
                "-d",
                classes.toString(),
                "-cp",
                classes + ":" + System.getProperty("java.class.path")));
        files(sources).forEach(file -> arguments.add(file.toString()));
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }
}

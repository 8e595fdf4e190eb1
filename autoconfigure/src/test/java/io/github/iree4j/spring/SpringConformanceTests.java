package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The classes and tests referenced in {@code docs/conformance/spring.md} exist. */
class SpringConformanceTests {

    private static final Pattern NAMED = Pattern.compile("`([A-Z]\\w+)(?:#(\\w+))?`");
    private static final List<String> MODULES = List.of(
            "runtime-core",
            "vmasm",
            "virtual-devices",
            "program-tests",
            "autoconfigure",
            "spring-ai-autoconfigure",
            "test-autoconfigure",
            "sample-app",
            "tools",
            "benchmarks");

    @Test
    void everyReferencedClassAndTestExists() throws IOException {
        Map<String, String> sources = sources();
        List<String> missing = new ArrayList<>();
        int rows = 0;
        for (String line : Files.readAllLines(Path.of("../docs/conformance/spring.md"))) {
            String[] cells = line.split("\\|");
            if (cells.length < 4 || cells[1].isBlank() || cells[1].startsWith("-")) {
                continue;
            }
            rows++;
            int named = 0;
            Matcher name = NAMED.matcher(cells[3]);
            while (name.find()) {
                named++;
                String source = sources.get(name.group(1));
                if (source == null || name.group(2) != null && !isTest(source, name.group(2))) {
                    missing.add(name.group());
                }
            }
            if (named == 0 && !cells[2].contains("**not met") && !cells[3].contains("Where")) {
                missing.add("proof of:" + cells[1]);
            }
        }
        assertThat(missing).isEmpty();
        assertThat(rows).isGreaterThan(50);
    }

    private static boolean isTest(String source, String method) {
        return Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\\b[^;]*?\\b" + method + "\\(")
                .matcher(source)
                .find();
    }

    /** By the simple name of the class, the source. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src"))) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            }
        }
        return sources;
    }
}

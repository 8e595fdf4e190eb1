package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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

/** Checks that the tests named by docs/conformance/tasks.md exist. */
class ConformanceTableTest {
    private static final Pattern NAMED = Pattern.compile("`([A-Z]\\w+)(?:#(\\w*))?`");
    private static final Path TABLE = Path.of("../docs/conformance/tasks.md");

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        assumeTrue(Files.exists(TABLE), "docs/conformance/tasks.md is not beside this module");
        Map<String, String> sources = sources();
        List<String> missing = new ArrayList<>();
        int named = 0;
        for (String line : Files.readAllLines(TABLE)) {
            if (!line.startsWith("|")) {
                continue;
            }
            Matcher test = NAMED.matcher(line);
            while (test.find()) {
                named++;
                String source = sources.get(test.group(1));
                String method = test.group(2);
                if (source == null || method != null && !isTest(source, method)) {
                    missing.add(test.group());
                }
            }
        }
        assertThat(missing).isEmpty();
        assertThat(named).isGreaterThan(80);
    }

    private static boolean isTest(String source, String method) {
        return Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\\b[^;]*?\\b" + method + "\\(")
                .matcher(source)
                .find();
    }

    /** By the simple name of the class, its source. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (String root : List.of("src/test/java", "../concurrency-tests/src/main/java")) {
            try (Stream<Path> files = Files.walk(Path.of(root))) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            }
        }
        return sources;
    }
}

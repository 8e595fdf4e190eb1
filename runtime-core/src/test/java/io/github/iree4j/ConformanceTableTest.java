package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks that the tests named by the tables of docs/conformance exist, and that the tables have the stated numbers of
 * cases.
 */
class ConformanceTableTest {
    private static final Pattern NAMED = Pattern.compile("`([A-Z]\\w+)(?:#(\\w*))?`");
    private static final Pattern SECTION = Pattern.compile("## (.*) \\((\\d+)\\)");
    private static final Pattern ROW = Pattern.compile("\\| (.*?) \\| (.*) \\|");
    private static final Pattern COUNTS =
            Pattern.compile("(\\d+) in all\\. (\\d+) have a test of ours, (\\d+) do not apply, (\\d+) are missing\\.");

    @ParameterizedTest
    @CsvSource({"tasks.md, 80", "hal.md, 180", "async.md, 150"})
    void everyNamedTestExists(String page, int least) throws IOException {
        Map<String, String> sources = sources();
        List<String> missing = new ArrayList<>();
        int named = 0;
        for (String line : lines(page)) {
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
        assertThat(named).isGreaterThan(least);
    }

    /** Each once in the right section; cases without a test explain why. */
    @ParameterizedTest
    @CsvSource({"hal.md", "async.md"})
    void casesAreAsManyAsThePageSays(String page) throws IOException {
        List<String> lines = lines(page);
        Matcher said = COUNTS.matcher(String.join(" ", lines));
        assertThat(said.find()).as("the counts are said").isTrue();
        int tested = 0;
        int inapplicable = 0;
        int missing = 0;
        String section = "";
        int expected = 0;
        Set<String> cases = new HashSet<>();
        for (String line : lines) {
            Matcher heading = SECTION.matcher(line);
            Matcher row = ROW.matcher(line);
            if (heading.matches()) {
                assertThat(cases).as(section).hasSize(expected);
                section = heading.group(1);
                expected = Integer.parseInt(heading.group(2));
                cases.clear();
            } else if (expected > 0 && row.matches() && !row.group(1).equals("IREE")) {
                List<String> names = List.of(row.group(1).split(", "));
                assertThat(names).as(section).allMatch(name -> name.matches("[\\w.]+") && cases.add(name));
                if (row.group(2).startsWith("none: ")) {
                    inapplicable += names.size();
                } else if (row.group(2).startsWith("MISSING: ")) {
                    missing += names.size();
                } else {
                    assertThat(row.group(2)).as(section).containsPattern(NAMED);
                    tested += names.size();
                }
            }
        }
        assertThat(cases).as(section).hasSize(expected);
        assertThat(List.of(tested + inapplicable + missing, tested, inapplicable, missing))
                .as("all, with a test, not applicable, missing")
                .containsExactly(number(said, 1), number(said, 2), number(said, 3), number(said, 4));
    }

    private static int number(Matcher matcher, int group) {
        return Integer.parseInt(matcher.group(group));
    }

    private static List<String> lines(String page) throws IOException {
        Path path = Path.of("../docs/conformance", page);
        assumeTrue(Files.exists(path), "docs/conformance is not beside this module");
        return Files.readAllLines(path);
    }

    private static boolean isTest(String source, String method) {
        return Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\\b[^;]*?\\b" + method + "\\(")
                .matcher(source)
                .find();
    }

    /** By the simple name of the class, the source. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        List<Path> roots = new ArrayList<>(Modules.folders("src/test/java"));
        roots.add(Path.of("../concurrency-tests/src/main/java"));
        for (Path root : roots) {
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            }
        }
        return sources;
    }
}

package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the register of invariants in docs/concurrency.md with the marks in code and tests. */
class InvariantRegisterTest {
    private static final Pattern ROW = Pattern.compile("^\\| ([A-Z]+-[0-9]+) \\|");
    private static final Pattern MARK =
            Pattern.compile("(?://|\\*|<p>) *((?:[A-Z]+-[0-9]+(?:, | and )?)+)(?::|$)", Pattern.MULTILINE);
    private static final Pattern ID = Pattern.compile("\\b[A-Z]+-[0-9]+\\b");

    private static final Path ROOT = Path.of("..");
    private static final Path TWINS = ROOT.resolve("concurrency-tests/src/main/java");

    @Test
    void everyInvariantIsUpheldInCodeAndProvedByATest() throws IOException {
        Set<String> registered = registered();
        assertThat(registered).isNotEmpty();
        assertThat(marks(code())).as("ids in code").containsAll(registered);
        Set<String> proved = marks(Modules.folders("src/test/java"));
        proved.addAll(marks(List.of(TWINS)));
        assertThat(proved).as("ids in tests").containsAll(registered);
    }

    @Test
    void everyMarkIsInTheRegister() throws IOException {
        assertThat(registered()).containsAll(marks(code()));
    }

    private static List<Path> code() {
        return Modules.folders("src/main/java").stream()
                .filter(folder -> !folder.equals(TWINS))
                .toList();
    }

    private static Set<String> registered() throws IOException {
        Path register = ROOT.resolve("docs/concurrency.md");
        assumeTrue(Files.exists(register), "docs/concurrency.md is not beside this module");
        Set<String> ids = new TreeSet<>();
        for (String line : Files.readAllLines(register)) {
            Matcher row = ROW.matcher(line);
            if (row.find()) {
                assertThat(ids.add(row.group(1)))
                        .as("%s has one row", row.group(1))
                        .isTrue();
            }
        }
        return ids;
    }

    /** Ids at the beginning of a comment: {@code // LIFE-1: why}, or {@code // LIFE-1} alone. */
    private static Set<String> marks(List<Path> folders) throws IOException {
        Set<String> ids = new TreeSet<>();
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    Matcher mark = MARK.matcher(Files.readString(file));
                    while (mark.find()) {
                        ID.matcher(mark.group(1)).results().forEach(r -> ids.add(r.group()));
                    }
                }
            }
        }
        return ids;
    }
}

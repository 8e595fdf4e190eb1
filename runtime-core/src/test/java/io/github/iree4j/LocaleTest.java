package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Text for programs does not depend on the user's language: in Turkish the lower case of I is a letter beyond ASCII, in German 0.5 is
 * written 0,5, and in Persian and in Arabic {@code %d} writes digits beyond ASCII.
 */
class LocaleTest {
    private static final Path ROOT = Path.of("..");

    private static final Pattern CASE = Pattern.compile("\\.to(Lower|Upper)Case\\(\\)");

    /** A literal of several parts, formatted in the user's language. */
    private static final Pattern FORMATTED = Pattern.compile(
            "(\"(?:[^\"\\\\\n]|\\\\.)*\"(?:\\s*\\+\\s*\"(?:[^\"\\\\\n]|\\\\.)*\")*)\\)?\\s*\\.formatted\\(");

    private static final Pattern FRACTION = Pattern.compile("%[-0-9]*(?:\\.[1-9][0-9]*)?[feg]|%[-0-9]*,");

    /** A number in JSON, and in YAML as in scenarios. */
    private static final Pattern MEMBER = Pattern.compile("(\\\\\":|[{,] *\\w+:) ?(\\\\\")?%[0-9.]*[dfeg]");

    @Test
    void textForProgramsDoesNotDependOnTheLanguage() throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path sources : modules.map(each -> each.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .filter(each -> !each.startsWith("../benchmarks") && !each.startsWith("../concurrency-tests"))
                    .toList()) {
                try (Stream<Path> files = Files.walk(sources)) {
                    for (Path file : files.filter(each -> each.toString().endsWith(".java"))
                            .toList()) {
                        dependent(Files.readString(file)).forEach(each -> found.add(file + ": " + each));
                    }
                }
            }
        }
        assertThat(found).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "name.toLowerCase()",
                "\"%.2f s\".formatted(seconds)",
                "\"%10d of %,d\".formatted(a, b)",
                "\"{\\\"status\\\": %d}\".formatted(status)",
                "(\"{\\\"a\\\":%s,\"\n + \"\\\"b\\\":\\\"%d\\\"}\")\n.formatted(a, b)",
                "\"- {id: %s, lanes: %d}\".formatted(id, lanes)"
            })
    void dependentTextIsFound(String source) {
        assertThat(dependent(source)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "name.toLowerCase(Locale.ROOT)",
                "String.format(Locale.ROOT, \"%.2f s\", seconds)",
                "\"within %.0f, %d of %d\".formatted(a, b, c)",
                "\"{\\\"name\\\":%s,\\\"id\\\":\\\"%016x\\\"}\".formatted(name, id)"
            })
    void otherTextIsNot(String source) {
        assertThat(dependent(source)).isEmpty();
    }

    private static List<String> dependent(String source) {
        List<String> found = new ArrayList<>();
        CASE.matcher(source).results().forEach(result -> found.add(result.group() + " without Locale.ROOT"));
        FORMATTED
                .matcher(source)
                .results()
                .map(result -> result.group(1))
                .filter(text ->
                        FRACTION.matcher(text).find() || MEMBER.matcher(text).find())
                .forEach(text ->
                        found.add(text + " is formatted in the user's language; take String.format(Locale.ROOT, ...)"));
        return found;
    }
}

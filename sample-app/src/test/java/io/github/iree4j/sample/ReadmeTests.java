package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples of the README and of the page on timelines are excerpts of this application, and so compile and run. */
class ReadmeTests {
    private static final Pattern EXAMPLE = Pattern.compile("```(java|yaml)\n(.*?)```", Pattern.DOTALL);

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/timelines.md"})
    void examplesAreExcerptsOfThisApplication(String name) throws IOException {
        Path page = Path.of("..", name);
        assumeTrue(Files.exists(page), () -> name + " is not beside this module");
        List<String> sources = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main"))) {
            for (Path file :
                    files.filter(f -> f.toString().matches(".*\\.(java|yaml)")).toList()) {
                sources.add(unindented(Files.readString(file)));
            }
        }
        List<String> examples = EXAMPLE.matcher(Files.readString(page))
                .results()
                .map(match -> unindented(match.group(2)))
                .toList();
        assertThat(examples)
                .isNotEmpty()
                .allSatisfy(example -> assertThat(sources)
                        .as("files of the application with these lines")
                        .anyMatch(source -> source.contains(example)));
    }

    @Test
    void theFirstScreenIsShort() throws IOException {
        Path page = Path.of("..", "README.md");
        assumeTrue(Files.exists(page), "README.md is not beside this module");
        List<String> lines = Files.readAllLines(page);
        int table = lines.indexOf("|---|---|---|---|---|---|");
        int end = table;
        while (lines.get(end).startsWith("|")) {
            end++;
        }
        assertThat(table).as("the line below the head of the table").isPositive();
        assertThat(end).as("lines from the title to the end of the table").isLessThanOrEqualTo(25);
    }

    /** Without indentation and empty lines, which pages omit. */
    private static String unindented(String text) {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).collect(Collectors.joining("\n"));
    }
}

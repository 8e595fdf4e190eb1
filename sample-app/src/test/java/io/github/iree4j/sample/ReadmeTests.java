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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples of the README and of the page on timelines are excerpts of this application, so they compile and run. */
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

    private static String unindented(String text) {
        return text.lines().map(String::strip).collect(Collectors.joining("\n"));
    }
}

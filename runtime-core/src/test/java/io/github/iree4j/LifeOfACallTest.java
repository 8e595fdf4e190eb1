package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/life-of-a-call.md names existing classes, each once. */
class LifeOfACallTest {
    private static final Pattern NAME = Pattern.compile("`([A-Z]\\w+)[^`]*`");

    @Test
    void namesEachClassOnceAndOnlyExistingClasses() throws IOException {
        Path page = Path.of("..", "docs", "life-of-a-call.md");
        assumeTrue(Files.exists(page), "docs/life-of-a-call.md is not beside this module");
        Set<String> classes = new HashSet<>();
        for (Path code : Modules.folders("src/main/java")) {
            try (Stream<Path> files = Files.walk(code)) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".java"))
                        .map(name -> name.substring(0, name.length() - ".java".length()))
                        .forEach(classes::add);
            }
        }
        List<String> named = NAME.matcher(Files.readString(page))
                .results()
                .map(match -> match.group(1))
                .filter(name -> !name.equals(getClass().getSimpleName()))
                .toList();
        assertThat(named).hasSizeGreaterThan(40).doesNotHaveDuplicates();
        assertThat(classes).containsAll(named);
    }
}

package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What applications have to know, in the listings of all modules that {@link PublicApiTest} compares with the classes. */
class PromisedTypesTest {
    @Test
    void allModulesTogetherPromiseFewTypes() throws IOException {
        assertThat(types())
                .contains("public final class io.github.iree4j.IreeRuntime implements AutoCloseable")
                .anyMatch(each -> each.contains("class io.github.iree4j.spring.InvocationService "))
                .hasSizeLessThanOrEqualTo(180);
    }

    private static List<String> types() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules.map(module -> module.resolve("src/test/resources/api/public-api.txt"))
                    .filter(Files::exists)
                    .flatMap(PromisedTypesTest::types)
                    .toList();
        }
    }

    private static Stream<String> types(Path listing) {
        try {
            return Files.readAllLines(listing).stream()
                    .filter(line -> !line.startsWith(" ") && !line.startsWith("package "));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}

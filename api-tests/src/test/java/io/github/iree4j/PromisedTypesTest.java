package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The types that applications have to know, in the listings of all modules compared with the classes by {@link
 * PublicApiTest}.
 */
class PromisedTypesTest {
    private static final String LISTING = "src/test/resources/api/public-api.txt";

    @Test
    void allModulesTogetherPromiseFewTypes() throws IOException {
        assertThat(types())
                .contains("public final class io.github.iree4j.IreeRuntime implements AutoCloseable")
                .anyMatch(each -> each.contains("class io.github.iree4j.spring.InvocationService "))
                .hasSizeLessThanOrEqualTo(180);
    }

    @Test
    void theRuntimePromisesFewTypes() {
        assertThat(types(Path.of("..", "runtime-core", LISTING))).hasSizeBetween(50, 72);
    }

    /** Operators' types are in {@code monitor}, drivers' types in {@code hal.spi}. */
    @Test
    void theRootPackageIsSmallAndSoAreItsCentralTypes() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("..", "runtime-core", LISTING));
        List<String> root = lines.subList(1, lines.size()).stream()
                .takeWhile(line -> !line.startsWith("package "))
                .toList();
        assertThat(lines).startsWith("package io.github.iree4j");
        assertThat(root.stream().filter(line -> !line.startsWith(" "))).hasSizeBetween(20, 35);
        assertThat(members(root, "IreeRuntime")).hasSizeBetween(10, 21);
        assertThat(members(root, "Program")).hasSizeBetween(10, 21);
    }

    private static List<String> members(List<String> listing, String type) {
        return listing.stream()
                .dropWhile(line -> !line.contains(" class io.github.iree4j." + type + " "))
                .skip(1)
                .takeWhile(line -> line.startsWith(" "))
                .toList();
    }

    private static List<String> types() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules.map(module -> module.resolve(LISTING))
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

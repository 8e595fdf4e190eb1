package io.github.iree4j.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The files as received by browsers. There is no build between the two, so nothing can be out of date. */
class ConsoleFilesTest {

    private static final Path ROOT = Path.of("src/main/resources/META-INF/iree-console");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import [^;]*?from \"([^\"]+)\";$");
    private static final Pattern NAMES = Pattern.compile("(?m)^import \\{([^}]*)} from \"([^\"]+)\";$");

    /** The total weight of all files: a request per file, without a library. */
    private static final int MOST_BYTES = 330_000;

    private static Map<Path, String> files() throws IOException {
        Map<Path, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(ROOT)) {
            for (Path each : all.filter(Files::isRegularFile).toList()) {
                files.put(ROOT.relativize(each), Files.readString(each));
            }
        }
        return files;
    }

    private static Path target(Path from, String specifier) {
        Path base = from.getParent() == null ? Path.of("") : from.getParent();
        return base.resolve(specifier).normalize();
    }

    @Test
    void everyModuleIsReachedAndEveryImportIsExported() throws IOException {
        Map<Path, String> files = files();
        Set<Path> reached = new LinkedHashSet<>();
        List<Path> open = new ArrayList<>(List.of(Path.of("main.js")));
        while (!open.isEmpty()) {
            Path each = open.removeLast();
            assertThat(files).as("imported file").containsKey(each);
            if (reached.add(each)) {
                Matcher imports = IMPORT.matcher(files.get(each));
                while (imports.find()) {
                    assertThat(imports.group(1))
                            .as("an import of " + each)
                            .startsWith(".")
                            .endsWith(".js");
                    open.add(target(each, imports.group(1)));
                }
                assertNamesAreExportedAndUsed(files, each);
            }
        }
        assertThat(files.keySet().stream().filter(each -> each.toString().endsWith(".js")))
                .containsExactlyInAnyOrderElementsOf(reached);
    }

    private static void assertNamesAreExportedAndUsed(Map<Path, String> files, Path file) {
        String text = files.get(file);
        Matcher names = NAMES.matcher(text);
        while (names.find()) {
            String from = files.get(target(file, names.group(2)));
            for (String name : names.group(1).split(",")) {
                assertThat(from)
                        .as("%s imports %s", file, name)
                        .containsPattern("export [\\w ]*\\b" + name.strip() + "\\b");
                assertThat(text.substring(names.end()))
                        .as("%s uses %s", file, name)
                        .containsPattern("\\b" + name.strip() + "\\b");
            }
        }
    }

    @Test
    void nothingIsInlineAndNothingComesFromElsewhere() throws IOException {
        files().forEach((file, text) -> {
            assertThat(text.replace("http://www.w3.org/2000/svg", ""))
                    .as(file.toString())
                    .doesNotContain(
                            "http://",
                            "https://",
                            "innerHTML",
                            "outerHTML",
                            "insertAdjacentHTML",
                            "eval(",
                            "new Function");
            if (file.toString().endsWith(".html")) {
                assertThat(text)
                        .doesNotContainPattern("<script(?![^>]*\\bsrc=)")
                        .doesNotContain("<style")
                        .doesNotContainPattern("\\s(style|on\\w+)=");
            }
        });
    }

    @Test
    void elementsNamedByTheScriptsExist() throws IOException {
        Map<Path, String> files = files();
        String page = files.get(Path.of("index.html"));
        files.forEach((file, text) -> {
            Matcher ids = Pattern.compile("byId\\(\"([\\w-]+)\"\\)").matcher(text);
            while (ids.find()) {
                assertThat(page).as("%s names %s", file, ids.group(1)).contains("id=\"" + ids.group(1) + "\"");
            }
        });
    }

    @Test
    void thePageStaysLight() throws IOException {
        int bytes = files().values().stream().mapToInt(String::length).sum();
        assertThat(bytes).isLessThan(MOST_BYTES);
    }

    @Test
    void theDocumentedRequestsAreTheFilesAndThreeAnswers() throws IOException {
        Matcher documented = Pattern.compile("some (\\d+) requests to open")
                .matcher(Files.readString(Path.of("../docs/console.md")));
        assertThat(documented.find()).isTrue();
        assertThat(Integer.parseInt(documented.group(1))).isCloseTo(files().size() + 3, within(5));
    }

    @Test
    void hasNoLibraryWithALicenceToBeNamed() throws IOException {
        files().forEach((file, text) ->
                assertThat(text).as(file.toString()).doesNotContainIgnoringCase("copyright", "@license"));
    }
}

package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The commands of pages are run at night, and the builds shown on pages agree. */
class CommandPagesTests {
    private static final Path ROOT = Path.of("..");
    private static final Pattern COMMANDS = Pattern.compile("(?m)^ *```(?:sh|shell|bash)$|^// src/"); // or a file
    private static final Pattern PAGE = Pattern.compile("(?:docs/[a-z-]+|sample-[a-z]+/README)\\.md");
    private static final Pattern FENCE = Pattern.compile("(?ms)^ *```([\\w-]*)\\n(.*?)^ *```$");
    private static final Pattern COMMAND =
            Pattern.compile("(?m)^(?:\\./|bin/|curl |\\$ |java -|iree-|pip |mvn |\"?\\$IREE4J_HOME).*");
    private static final Pattern ARTIFACT = Pattern.compile(
            "<groupId>io\\.github\\.iree4j</groupId>\\s*<artifactId>(.*?)</artifactId>|io\\.github\\.iree4j:([\\w-]+)");
    private static final Pattern PROJECT_VERSION = Pattern.compile("\\d+\\.\\d+\\.\\d+-SNAPSHOT");
    private static final Pattern BOOT_VERSION = Pattern.compile(
            "<artifactId>spring-boot-starter-parent</artifactId>\\s*<version>(.*?)<|\"org\\.springframework\\.boot\"\\) version \"(.*?)\"");

    /**
     * A container needs Docker, pods need Kubernetes (a test compares the manifests with the properties), a release a
     * key and an account ({@code bin/release} tries the rest); the page for operators shows commands for the sample
     * with a call in progress, with a profile started by other tests; a test of signatures runs the commands of the
     * page on trust; the library of a release, for a machine without a compiler, needs a release ({@code ScriptsTest}
     * builds with such a library).
     */
    private static final Set<String> NOT_AT_NIGHT = Set.of(
            "docs/containers.md",
            "docs/kubernetes.md",
            "docs/versions.md",
            "docs/operations.md",
            "docs/platforms.md",
            "docs/trust.md");

    @Test
    void eachPageWithCommandsOrFilesIsRunAtNight() throws IOException {
        Set<String> expected = new TreeSet<>();
        for (String page : pages()) {
            if (COMMANDS.matcher(text(page)).find()) {
                expected.add(page);
            }
        }
        expected.removeAll(NOT_AT_NIGHT);
        String nightly = text("bin/nightly");
        Set<String> run = matches(PAGE, nightly.substring(nightly.indexOf("<<PAGES\n"), nightly.indexOf("\nPAGES\n")));
        run.add("README.md"); // by the function demo
        assertThat(run).isEqualTo(expected);
    }

    /**
     * A block of commands in another language than sh would not be run; blocks of the language console are examples.
     */
    @Test
    void blocksWithCommandsAreRunOrShownAsExamples() throws IOException {
        Set<String> found = new TreeSet<>();
        for (String page : pages()) {
            for (MatchResult block : FENCE.matcher(text(page)).results().toList()) {
                Matcher command = COMMAND.matcher(block.group(2));
                if (!block.group(1).matches("sh|console") && command.find()) {
                    found.add(page + ": " + command.group());
                }
            }
        }
        assertThat(found).isEmpty();
    }

    /** Otherwise {@code bin/try-page} refuses the page, and the pages run together with it. */
    @Test
    void blocksOfTextFollowTheirCommands() throws IOException {
        Set<String> found = new TreeSet<>();
        for (String page : pages()) {
            String text = text(page);
            String before = "";
            for (MatchResult block : FENCE.matcher(text).results().toList()) {
                if (COMMANDS.matcher(text).find() && block.group(1).equals("text") && !before.equals("sh")) {
                    found.add(page + ": " + block.group(2).lines().findFirst().orElse(""));
                }
                before = block.group(1);
            }
        }
        assertThat(found).isEmpty();
    }

    private static List<String> pages() throws IOException {
        List<String> pages = new ArrayList<>(
                List.of("README.md", "sample-app/README.md", "sample-search/README.md", "sample-chat/README.md"));
        try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
            files.map(each -> "docs/" + each.getFileName())
                    .filter(each -> each.endsWith(".md"))
                    .forEach(pages::add);
        }
        return pages;
    }

    @Test
    void gradleBuildsWithTheArtifactsOfTheMavenBuild() throws IOException {
        for (Pattern each : List.of(ARTIFACT, PROJECT_VERSION, BOOT_VERSION)) {
            assertThat(found(each, "docs/gradle.md")).isNotEmpty().isEqualTo(found(each, "docs/getting-started.md"));
        }
    }

    private static Set<String> found(Pattern pattern, String file) throws IOException {
        return matches(pattern, text(file));
    }

    private static String text(String file) throws IOException {
        return Files.readString(ROOT.resolve(file));
    }

    /** The first group of each match, or else the whole match. */
    private static Set<String> matches(Pattern pattern, String text) {
        Set<String> found = new TreeSet<>();
        for (MatchResult match : pattern.matcher(text).results().toList()) {
            String value = match.group();
            for (int i = match.groupCount(); i > 0; i--) {
                value = match.group(i) != null ? match.group(i) : value;
            }
            found.add(value);
        }
        return found;
    }
}

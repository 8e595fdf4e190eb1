package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links between the pages of this project lead to existing files and headings. */
class PageLinksTests {
    private static final Path ROOT = Path.of("..");
    private static final Pattern CODE = Pattern.compile("(?ms)^ *```.*?^ *```");
    private static final Pattern SPAN = Pattern.compile("`[^`]*`");
    private static final Pattern LINK = Pattern.compile("]\\((?![a-z]+:)([^)#\\s]*)(?:#([^)\\s]+))?\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.*)$");

    @Test
    void everyLinkLeadsToAFileAndAHeading() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path page : pages()) {
            String text = SPAN.matcher(prose(page)).replaceAll("");
            for (MatchResult link : LINK.matcher(text).results().toList()) {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                if (!Files.exists(target)) {
                    broken.add(page + ": there is no file " + link.group(1));
                } else if (link.group(2) != null
                        && target.toString().endsWith(".md")
                        && !headings(target).contains(link.group(2))) {
                    broken.add(page + ": there is no heading " + link.group(1) + "#" + link.group(2));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")));
        try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
        }
        for (String module : List.of("benchmarks", "fixtures", "sample-app", "sample-chat", "sample-search")) {
            pages.add(ROOT.resolve(module, "README.md"));
        }
        return pages;
    }

    private static String prose(Path page) throws IOException {
        return CODE.matcher(Files.readString(page)).replaceAll("");
    }

    /**
     * The anchors of a page's headings, as made by GitHub; a further heading with the same name has a number behind.
     */
    private static List<String> headings(Path page) throws IOException {
        List<String> anchors = new ArrayList<>();
        for (MatchResult heading : HEADING.matcher(prose(page)).results().toList()) {
            String plain =
                    heading.group(1).replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1").toLowerCase(Locale.ROOT);
            String anchor = plain.replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
            String unique = anchor;
            for (int i = 1; anchors.contains(unique); i++) {
                unique = anchor + "-" + i;
            }
            anchors.add(unique);
        }
        return anchors;
    }
}

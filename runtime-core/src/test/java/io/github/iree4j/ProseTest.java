package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Counts pronouns in Javadoc, messages and pages: a sentence should name the subject, see CONTRIBUTING.md. */
class ProseTest {
    /** Groups are text blocks, strings and Javadoc; the rest of the pattern keeps other code out of these. */
    private static final Pattern TEXT = Pattern.compile(
            "\"\"\"(.*?)\"\"\"|\"([^\"\\\\\n]*+(?:\\\\.[^\"\\\\\n]*+)*+)\"|/\\*\\*(.*?)\\*/|/\\*.*?\\*/|//[^\n]*|'(?:\\\\.|[^'\\\\])'",
            Pattern.DOTALL);

    private static final Pattern TAGS = Pattern.compile("\\s@(param|return|throws|see)\\b.*", Pattern.DOTALL);
    private static final Pattern CODE = Pattern.compile("```.*?```", Pattern.DOTALL);
    private static final Pattern SENTENCE = Pattern.compile("(?<=[.;:])\\s+|\n\\s*\n|\n(?=[*|#-])");
    private static final Pattern WORD = Pattern.compile("[A-Za-z']+");
    private static final Set<String> PRONOUNS = Set.of(
            "that", "those", "one", "ones", "it", "its", "which", "what", "who", "whose", "whom", "they", "them",
            "their");

    /** Phrases whose subject the reader has to guess; a longer noun says the same. */
    private static final Pattern VAGUE =
            Pattern.compile("\\b(that of|those of|is told|in vain|of its own)\\b", Pattern.CASE_INSENSITIVE);

    /** The beginning of a line of code or of a comment, and the seam of a text over two lines. */
    private static final Pattern SEAM = Pattern.compile("\"\\s*\\+\\s*\"|\\s+(?:(?:\\*|//)\\s+)?");

    private static final int ENOUGH = 1_000;
    private static final int ENOUGH_OF_A_PAGE = 300;
    private static final double LIMIT_OF_A_PAGE = 4; // pronouns; a page has its habits, all pages together have fewer

    /** Modules of tests, absent from every application. */
    private static final Set<String> TESTS = Set.of("benchmarks", "concurrency-tests");

    /** Words of a kind per hundred words; java.util.concurrent has 2.8, 0.01 and 0.32. */
    private enum Kind {
        PRONOUN(3.5, PRONOUNS),
        WHAT(0.05, Set.of("what")),
        ONE(0.4, Set.of("one", "ones"));

        final double limit;
        final Set<String> words;

        Kind(double limit, Set<String> words) {
            this.limit = limit;
            this.words = words;
        }
    }

    @Test
    void javadocAndMessagesOfEachModuleNameTheirSubjects() {
        List<String> failures = new ArrayList<>();
        List<Path> modules = Modules.folders("src/main/java").stream()
                .filter(each -> !TESTS.contains(each.getName(1).toString()))
                .toList();
        long words = modules.stream()
                .mapToLong(module -> measure(module, ".java", ProseTest::java, failures))
                .sum();
        assertThat(words).as("words of all modules").isGreaterThan(150_000);
        assertThat(failures).isEmpty();
    }

    @Test
    void pagesNameTheirSubjects() {
        Path docs = Path.of("..", "docs");
        assumeTrue(Files.exists(docs), "docs is not beside this module");
        List<String> failures = new ArrayList<>();
        assertThat(measure(docs, ".md", ProseTest::markdown, failures))
                .as("words")
                .isGreaterThan(50_000);
        assertThat(failures).isEmpty();
    }

    @Test
    void noSentenceHasAVaguePhrase() throws IOException {
        Path root = Path.of("..");
        assumeTrue(Files.exists(root.resolve("docs")), "docs is not beside this module");
        List<String> found = new ArrayList<>();
        for (Path folder : Modules.folders("src/main/java")) {
            for (Path file : paths(folder, ".java")) {
                vague(file, text(file), found);
            }
        }
        for (Path page : pages(root)) {
            vague(page, text(page).replaceAll("`[^`]*`", "code"), found);
        }
        assertThat(found).isEmpty();
    }

    @Test
    void vaguePhrasesAreFoundOverLines() {
        for (String text :
                List.of("a name of\n     * its own.", "\"is in\"\n + \" vain\"", "// those\n  // of others")) {
            List<String> found = new ArrayList<>();
            vague(Path.of("A.java"), text, found);
            assertThat(found).as(text).hasSize(1);
        }
    }

    private static void vague(Path file, String text, List<String> found) {
        String joined = SEAM.matcher(text).replaceAll(" ").replaceAll(" +", " ");
        VAGUE.matcher(joined)
                .results()
                .map(each -> "%s: …%s…"
                        .formatted(
                                file,
                                joined.substring(
                                        Math.max(0, each.start() - 50), Math.min(joined.length(), each.end() + 30))))
                .forEach(found::add);
    }

    /** Returns the pages of the root, of docs, and of the modules. */
    private static List<Path> pages(Path root) throws IOException {
        List<Path> pages = new ArrayList<>(paths(root.resolve("docs"), ".md"));
        List<Path> folders = new ArrayList<>(Modules.with(Path.of("README.md")));
        folders.add(root);
        for (Path folder : folders) {
            try (Stream<Path> files = Files.list(folder)) {
                files.filter(each -> each.toString().endsWith(".md")).forEach(pages::add);
            }
        }
        return pages.stream().distinct().toList(); // docs has a README, too
    }

    @Test
    void eachPageNamesItsSubjects() throws IOException {
        Path root = Path.of("..");
        assumeTrue(Files.exists(root.resolve("docs")), "docs is not beside this module");
        List<Path> pages = pages(root);
        List<String> failures = new ArrayList<>();
        for (Path page : pages) {
            List<String> sentences =
                    markdown(text(page)).flatMap(SENTENCE::splitAsStream).toList();
            long words = count(sentences, word -> true);
            double found = 100.0 * count(sentences, PRONOUNS::contains) / words;
            if (words >= ENOUGH_OF_A_PAGE && found > LIMIT_OF_A_PAGE) {
                failures.add("%s: %.2f pronouns per 100 words, at most %.1f; begin with %s"
                        .formatted(page, found, LIMIT_OF_A_PAGE, worst(sentences, Kind.PRONOUN)));
            }
        }
        assertThat(pages).hasSizeGreaterThan(80);
        assertThat(failures).isEmpty();
    }

    /** Adds a failure for each kind of words too frequent in a large enough text. Returns the number of words. */
    private static long measure(
            Path folder, String suffix, Function<String, Stream<String>> prose, List<String> failures) {
        List<String> sentences = paths(folder, suffix).stream()
                .map(ProseTest::text)
                .flatMap(prose)
                .flatMap(SENTENCE::splitAsStream)
                .toList();
        long words = count(sentences, word -> true);
        for (Kind kind : Kind.values()) {
            long found = count(sentences, kind.words::contains);
            if (words >= ENOUGH && 100.0 * found > kind.limit * words) {
                failures.add("%s: %.2f of %s per 100 words, at most %.2f; begin with %s"
                        .formatted(folder, 100.0 * found / words, kind, kind.limit, worst(sentences, kind)));
            }
        }
        return words;
    }

    private static List<String> worst(List<String> sentences, Kind kind) {
        return sentences.stream()
                .sorted(Comparator.comparingLong((String each) -> -count(each, kind.words::contains)))
                .limit(10)
                .map(each -> each.strip().replaceAll("\\s+", " "))
                .toList();
    }

    private static long count(List<String> sentences, Predicate<String> kind) {
        return sentences.stream().mapToLong(each -> count(each, kind)).sum();
    }

    private static long count(String sentence, Predicate<String> kind) {
        return WORD.matcher(sentence)
                .results()
                .map(each -> each.group().toLowerCase(Locale.ROOT))
                .filter(kind)
                .count();
    }

    /** Javadoc without tags, and texts of five words or more. */
    private static Stream<String> java(String text) {
        return TEXT.matcher(text).results().flatMap(found -> {
            if (found.group(3) != null) {
                return Stream.of(javadoc(found.group(3)));
            }
            String message = found.group(1) != null ? found.group(1) : found.group(2);
            return message == null || message.chars().filter(c -> c == ' ').count() < 4
                    ? Stream.of()
                    : Stream.of(message);
        });
    }

    private static String javadoc(String text) {
        String plain = text.replaceAll("(?s)<pre>.*?</pre>", "")
                .replaceAll("\n\\s*\\*\\s?", " ")
                .replaceAll("\\{@\\w+ ([^}]*)}", "$1")
                .replaceAll("<[^>]+>", "");
        return TAGS.matcher(plain).replaceFirst("");
    }

    private static Stream<String> markdown(String text) {
        return Stream.of(CODE.matcher(text)
                .replaceAll("")
                .replaceAll("]\\([^)]*\\)", "]")
                .replaceAll("`[^`]*`", "code"));
    }

    private static List<Path> paths(Path folder, String suffix) {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(each -> each.toString().endsWith(suffix)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

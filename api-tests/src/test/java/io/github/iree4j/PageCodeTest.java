package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All Java code of pages compiles. A block of a page is a file, of the application of {@code docs/getting-started.md} unless
 * the page has a file of this name; or is compiled within the page's frame in {@code src/test/resources/pages}, in place of
 * the line {@code // fence N} with the number of the block; or is an excerpt of a source compiled by this project.
 */
class PageCodeTest {
    private static final Path ROOT = Path.of("..");
    private static final Path FRAMES = Path.of("src/test/resources/pages");
    private static final Path APPLICATION = ROOT.resolve("docs/getting-started.md");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```java\\n(.*?)^ *```$");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package \\w+;$");
    private static final Pattern TYPE =
            Pattern.compile("(?m)^(?:public )?(?:final )?(?:class|interface|record) (\\w+)");
    private static final Pattern PLACE = Pattern.compile("(?m)^ *// fence (\\d+)$");

    /** First lines of blocks not compiled by this test, with the reason. */
    private static final Map<String, String> NOT_COMPILED = Map.of(
            "OrtEnvironment environment = OrtEnvironment.getEnvironment();",
            "ONNX Runtime is a dependency of the profile 'onnxruntime' alone, of 139 MB; 1.22.0 compiles the block");

    @TempDir
    private Path classes;

    @Test
    void codeOfPagesCompiles() throws IOException {
        List<String> failures = new ArrayList<>();
        Set<String> exceptions = new TreeSet<>();
        Set<String> frames = new TreeSet<>();
        int blocks = 0;
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> excerpts = List.of();
        try (JavaFileManager files = compiler.getStandardFileManager(null, Locale.ROOT, null)) {
            for (Path page : pages()) {
                List<String> found = blocks(page);
                blocks += found.size();
                Map<String, String> sources = new LinkedHashMap<>(files(blocks(APPLICATION)));
                sources.putAll(files(found));
                Set<Integer> framed = new TreeSet<>();
                Path frame = FRAMES.resolve(page.getFileName().toString().replaceAll("\\.md$", ".java"));
                if (page.startsWith(ROOT.resolve("docs")) && Files.exists(frame)) {
                    frames.add(frame.getFileName().toString());
                    sources.put("Frame", framed(Files.readString(frame), found, framed));
                }
                for (int i = 0; i < found.size(); i++) {
                    String block = found.get(i);
                    String first = block.lines().findFirst().orElse("");
                    if (PACKAGE.matcher(block).find() || framed.contains(i + 1)) {
                        continue;
                    }
                    if (NOT_COMPILED.containsKey(first)) {
                        exceptions.add(first);
                        continue;
                    }
                    if (excerpts.isEmpty()) {
                        excerpts = compiledSources();
                    }
                    String stripped = unindented(block);
                    if (excerpts.stream().noneMatch(source -> source.contains(stripped))) {
                        failures.add("%s: the block %d, '%s', is neither a file, nor in a frame, nor an excerpt"
                                .formatted(page, i + 1, first));
                    }
                }
                if (!found.isEmpty()) {
                    String messages = compile(compiler, files, sources);
                    if (!messages.isEmpty()) {
                        failures.add(page + ":\n" + messages);
                    }
                }
            }
        }
        assertThat(blocks).as("blocks of Java in pages").isGreaterThan(30);
        assertThat(failures).isEmpty();
        assertThat(exceptions).as("exceptions in use").isEqualTo(NOT_COMPILED.keySet());
        try (Stream<Path> all = Files.list(FRAMES)) {
            assertThat(all.map(each -> each.getFileName().toString())).hasSameElementsAs(frames);
        }
    }

    /** The frame with the blocks for its places; the numbers are added to {@code framed}. */
    private static String framed(String frame, List<String> blocks, Set<Integer> framed) {
        return PLACE.matcher(frame).replaceAll(place -> {
            int number = Integer.parseInt(place.group(1));
            framed.add(number);
            return number > blocks.size() ? "no_such_block" : Matcher.quoteReplacement(blocks.get(number - 1));
        });
    }

    /** The blocks of whole files, by the names of their types. */
    private static Map<String, String> files(List<String> blocks) {
        Map<String, String> files = new LinkedHashMap<>();
        for (String block : blocks) {
            Matcher type = TYPE.matcher(block);
            if (PACKAGE.matcher(block).find() && type.find()) {
                files.put(type.group(1), block);
            }
        }
        return files;
    }

    /** Returns the compiler's messages about errors. */
    private String compile(JavaCompiler compiler, JavaFileManager files, Map<String, String> sources) {
        StringWriter messages = new StringWriter();
        List<JavaFileObject> units = new ArrayList<>();
        sources.forEach((name, text) -> units.add(new Source(name, text)));
        boolean isCompiled = compiler.getTask(
                        messages,
                        files,
                        null,
                        List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none"),
                        null,
                        units)
                .call();
        return isCompiled ? "" : messages.toString();
    }

    private static List<String> blocks(Path page) throws IOException {
        return BLOCK.matcher(Files.readString(page))
                .results()
                .map(MatchResult::group)
                .map(block -> block.substring(block.indexOf('\n') + 1, block.lastIndexOf("```")))
                .toList();
    }

    /** The pages for readers, the decisions and the pages of samples. */
    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")));
        for (Path module : Modules.with(Path.of("README.md"))) {
            pages.add(module.resolve("README.md"));
        }
        try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
            files.filter(each -> each.toString().endsWith(".md")).sorted().forEach(pages::add);
        }
        return pages;
    }

    private static List<String> compiledSources() throws IOException {
        List<String> sources = new ArrayList<>();
        List<Path> folders = new ArrayList<>(Modules.folders("src"));
        folders.add(ROOT.resolve("examples/thread-driver/src"));
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.filter(each -> each.toString().endsWith(".java"))
                        .map(PageCodeTest::text)
                        .map(PageCodeTest::unindented)
                        .forEach(sources::add);
            }
        }
        return sources;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Without indentation and empty lines, which pages omit. */
    private static String unindented(String text) {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).collect(Collectors.joining("\n"));
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + Kind.SOURCE.extension), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}

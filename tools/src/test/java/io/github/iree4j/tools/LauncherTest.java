package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The AOT cache kept by {@code bin/iree4j} beside its jar, here for a small program. */
@EnabledOnOs(OS.LINUX)
@Tag("nightly")
class LauncherTest {
    private static final String MAIN = """
            public final class Echo {
                public static void main(String[] arguments) {
                    System.out.println("%s " + String.join(" ", arguments));
                    System.exit(arguments.length == 0 ? 2 : 0);
                }
            }
            """;

    @TempDir
    private Path home;

    private Path cache;

    private record Run(int status, List<String> out, String err) {}

    @BeforeEach
    void install() throws Exception {
        for (String script : List.of("iree4j", "find-jdk")) {
            Path copy = home.resolve("bin").resolve(script);
            Files.createDirectories(copy.getParent());
            Files.copy(Path.of("../bin", script), copy);
        }
        cache = home.resolve("tools/target/iree4j-tools.aot");
        build("first");
    }

    @Test
    void firstCallRecordsTheCacheForLaterCalls() throws Exception {
        Run first = run("a", "b c");
        assertThat(first.out()).containsExactly("first a b c");
        assertThat(first.err()).contains("recording a faster start (once)");
        assertThat(cache).isNotEmptyFile();

        Run second = run("d");
        assertThat(second).isEqualTo(new Run(0, List.of("first d"), ""));
        assertThat(loadedFromCache()).isTrue();
        assertThat(run().status()).isEqualTo(2);
        try (var left = Files.list(cache.getParent())) {
            assertThat(left.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("iree4j-tools.jar", "iree4j-tools.aot", "iree4j-tools.aot.key");
        }
    }

    @Test
    void newJarIsRecordedAnew() throws Exception {
        run("a");
        build("second");
        Files.setLastModifiedTime(
                cache.resolveSibling("iree4j-tools.jar"),
                FileTime.from(Instant.now().plusSeconds(3600)));
        assertThat(run("b").out()).containsExactly("second b");
        Files.setLastModifiedTime(cache.resolveSibling("iree4j-tools.jar"), FileTime.from(Instant.EPOCH));
        // older than the key, but not the recorded one: the JVM leaves the cache aside
        assertThat(run("c")).isEqualTo(new Run(0, List.of("second c"), ""));
    }

    @Test
    void damagedCacheIsRecordedAnewWhereverTheDamageIs() throws Exception {
        run("a");
        long size = Files.size(cache);
        for (long at : new long[] {0, 100, size / 2, size - 100_000, size - 1}) {
            try (RandomAccessFile file = new RandomAccessFile(cache.toFile(), "rw")) {
                file.seek(at);
                int before = file.read();
                file.seek(at);
                file.write(before ^ 0xFF);
            }
            Run run = run("b");
            assertThat(run.out()).as("at %d of %d", at, size).containsExactly("first b");
            assertThat(run.err()).isEqualTo("iree4j: recording a faster start (once)\n");
        }
        Files.write(cache, new byte[0]);
        assertThat(run("c").out()).containsExactly("first c");
        Files.delete(cache);
        assertThat(run("d").out()).containsExactly("first d");
        assertThat(loadedFromCache()).isTrue();
    }

    @Test
    void cacheOfAnotherJdkOrPlaceIsRecordedAnew() throws Exception {
        run("a");
        Path key = cache.resolveSibling("iree4j-tools.aot.key");
        Files.writeString(key, Files.readString(key).replaceFirst("\"[^\"]*\"", "\"25.0.0+1\""));
        assertThat(run("b").err()).contains("recording");
        assertThat(run("c").err()).isEmpty();
    }

    @Test
    void optionsUnsuitableForTheCacheArePassed() throws Exception {
        run("a");
        assertThat(run(List.of("-XX:-UseCompressedOops"), "b")).isEqualTo(new Run(0, List.of("first b"), ""));
    }

    private boolean loadedFromCache() throws Exception {
        return run(List.of("-Xlog:class+load"), "x").out().stream()
                .anyMatch(line -> line.contains("Echo source: shared objects file"));
    }

    private Run run(String... arguments) throws Exception {
        return run(List.of(), arguments);
    }

    private Run run(List<String> options, String... arguments) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(home.resolve("bin/iree4j").toString());
        builder.command().addAll(List.of(arguments));
        builder.environment().put("IREE4J_JAVA_OPTS", String.join(" ", options));
        Path err = Files.createTempFile("launcher", ".err");
        try {
            Process process = builder.redirectError(err.toFile()).start();
            String out = new String(process.getInputStream().readAllBytes());
            return new Run(process.waitFor(), out.lines().toList(), Files.readString(err));
        } finally {
            Files.delete(err);
        }
    }

    /** A jar that prints a word and its arguments. */
    private void build(String word) throws IOException {
        Path source = home.resolve("Echo.java");
        Files.writeString(source, MAIN.formatted(word));
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, source.toString()))
                .isZero();
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "Echo");
        Path jar = home.resolve("tools/target/iree4j-tools.jar");
        Files.createDirectories(jar.getParent());
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.putNextEntry(new JarEntry("Echo.class"));
            out.write(Files.readAllBytes(home.resolve("Echo.class")));
        }
    }
}

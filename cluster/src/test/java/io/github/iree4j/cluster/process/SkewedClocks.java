package io.github.iree4j.cluster.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Clocks of the day of processes, perhaps off and perhaps jumping, by a library loaded at the start of the processes.
 */
public final class SkewedClocks {
    private final Path directory;
    private final Path library;

    private SkewedClocks(Path directory, Path library) {
        this.directory = directory;
        this.library = library;
    }

    /**
     * Makes the library.
     *
     * @param directory a folder readable by the processes
     * @return null where there is no C compiler, after printing so
     */
    public static @Nullable SkewedClocks make(Path directory) throws IOException {
        Path source = directory.resolve("skewed-clock.c");
        Path library = directory.resolve("skewed-clock.so");
        try (InputStream in = Objects.requireNonNull(SkewedClocks.class.getResourceAsStream("/skewed-clock.c"))) {
            Files.copy(in, source);
        }
        try {
            Process compiler = new ProcessBuilder(
                            "cc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source.toString(), "-ldl")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (compiler.waitFor() == 0) {
                return new SkewedClocks(directory, library);
            }
            System.out.println("skipped: no skewed clocks: " + output.strip());
        } catch (IOException e) {
            System.out.println("skipped: no skewed clocks: " + e.getMessage());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return null;
    }

    private Path file(String name) {
        return directory.resolve("clock-of-" + name);
    }

    /** Returns the variables of a process with a settable clock, right at first. */
    public Map<String, String> environment(String name) throws IOException {
        if (Files.notExists(file(name))) {
            set(name, 0);
        }
        return Map.of(
                "LD_PRELOAD",
                library.toString(),
                "IREE4J_TEST_CLOCK",
                file(name).toString());
    }

    /** Lets a clock be off by so many seconds from now on, also for a running process. */
    public void set(String name, long seconds) throws IOException {
        Files.write( // without truncating, since processes have mapped the file
                file(name),
                ByteBuffer.allocate(Long.BYTES)
                        .order(ByteOrder.nativeOrder())
                        .putLong(seconds)
                        .array(),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
    }
}

package io.github.iree4j.cluster.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Folders on small disks, perhaps full: file systems in memory, seen by processes started with {@link #prefix}. Need no
 * root on systems with user namespaces for everybody. The disks end with this process, in every way.
 */
public final class SmallDisks implements AutoCloseable {
    private static final String READY = "ready";

    private final Path directory;
    private final Process holder;

    private SmallDisks(Path directory, Process holder) {
        this.directory = directory;
        this.holder = holder;
    }

    /**
     * Makes disks.
     *
     * @return null where impossible, after printing the cause
     */
    public static @Nullable SmallDisks make(Path directory, int count) throws IOException {
        List<String> steps = new ArrayList<>();
        for (int disk : IntStream.range(0, count).toArray()) {
            Path folder = Files.createDirectory(folder(directory, disk));
            steps.add("mount -t tmpfs -o size=64k small " + folder);
        }
        steps.add("echo " + READY);
        steps.add("read end");
        String line;
        try {
            Process holder = new ProcessBuilder(
                            "unshare", "--user", "--map-root-user", "--mount", "sh", "-c", String.join(" && ", steps))
                    .redirectErrorStream(true)
                    .start();
            line = holder.inputReader(StandardCharsets.UTF_8).readLine();
            if (READY.equals(line)) {
                return new SmallDisks(directory, holder);
            }
            holder.destroyForcibly();
        } catch (IOException e) {
            line = e.getMessage();
        }
        System.out.println("skipped: no small disks: " + line);
        return null;
    }

    private static Path folder(Path directory, int disk) {
        return directory.resolve("disk" + disk);
    }

    /** Returns the folder of a disk, from 0. */
    public Path folder(int disk) {
        return folder(directory, disk);
    }

    /** Returns a command that runs another with a view of the disks, as the same process. */
    public List<String> prefix() {
        return List.of(
                "nsenter", "--target", String.valueOf(holder.pid()), "--user", "--mount", "--preserve-credentials");
    }

    /** Fills a disk: no further byte fits. */
    public void fill(int disk) throws IOException {
        run("cat /dev/zero > '%s'; true".formatted(folder(disk).resolve("fill")));
    }

    /** Frees the space taken by {@link #fill}. */
    public void free(int disk) throws IOException {
        run("rm -f '%s'".formatted(folder(disk).resolve("fill")));
    }

    private void run(String line) throws IOException {
        List<String> command = new ArrayList<>(prefix());
        command.addAll(List.of("sh", "-c", line));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (process.waitFor() != 0) {
                throw new IOException(line + " failed");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        holder.destroyForcibly();
    }
}

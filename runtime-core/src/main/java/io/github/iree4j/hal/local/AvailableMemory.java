package io.github.iree4j.hal.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Memory that Linux can give to this process. Reads files of the system each time; safe from any thread. */
final class AvailableMemory {
    /** Value without knowledge or without a limit. */
    static final long UNKNOWN = Long.MAX_VALUE;

    private final Path root;

    /** Creates a reader of the system files below a directory, usually {@code /}. */
    AvailableMemory(Path root) {
        this.root = root;
    }

    /** Returns the bytes available before the machine swaps, caches of files counted as free; {@link #UNKNOWN} elsewhere than on Linux. */
    long ofMachine() {
        return lines("proc/meminfo")
                .filter(line -> line.startsWith("MemAvailable:"))
                .mapToLong(line -> number(line.replaceAll("\\D", "")) << 10)
                .findFirst()
                .orElse(UNKNOWN);
    }

    /** Returns the bytes available before a control group of this process, or a containing group, is full; {@link #UNKNOWN} without a limit. */
    long ofControlGroups() {
        return lines("proc/self/cgroup").mapToLong(this::ofControlGroup).min().orElse(UNKNOWN);
    }

    /** Reads a line of the form {@code number:controllers:path}; version 2 has no controllers. */
    private long ofControlGroup(String line) {
        String[] fields = line.split(":", 3);
        if (fields.length < 3) {
            return UNKNOWN;
        }
        if (fields[1].isEmpty()) {
            return least("sys/fs/cgroup", fields[2], "memory.max", "memory.current", "inactive_file ");
        }
        return List.of(fields[1].split(",")).contains("memory")
                ? least(
                        "sys/fs/cgroup/memory",
                        fields[2],
                        "memory.limit_in_bytes",
                        "memory.usage_in_bytes",
                        "total_inactive_file ")
                : UNKNOWN;
    }

    /** Returns the room of a group and all containing groups. In a container, the path is often a path of the host, and only the top exists. */
    private long least(String top, String path, String limit, String usage, String cache) {
        long least = UNKNOWN;
        Path mounted = root.resolve(top);
        Path group = mounted.resolve(path.replaceFirst("^/+", "")).normalize();
        for (Path each = group; each != null && each.startsWith(mounted); each = each.getParent()) {
            long most = first(each.resolve(limit));
            long used = first(each.resolve(usage));
            if (most != UNKNOWN && used != UNKNOWN) {
                long reclaimable = lines(each.resolve("memory.stat"))
                        .filter(line -> line.startsWith(cache))
                        .mapToLong(line -> number(line.substring(cache.length())))
                        .findFirst()
                        .orElse(0);
                least = Math.min(least, Math.max(0, most - Math.max(0, used - reclaimable)));
            }
        }
        return least;
    }

    private long first(Path file) {
        return lines(file).mapToLong(AvailableMemory::number).findFirst().orElse(UNKNOWN);
    }

    /** Parses a limit. Both {@code max} and a number larger than any memory mean no limit, and are unknown. */
    private static long number(String text) {
        try {
            long number = Long.parseLong(text.strip());
            return number < 1L << 60 ? number : UNKNOWN;
        } catch (NumberFormatException e) {
            return UNKNOWN;
        }
    }

    private Stream<String> lines(String file) {
        return lines(root.resolve(file));
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            return Stream.empty(); // another system, or not for this process
        }
    }
}

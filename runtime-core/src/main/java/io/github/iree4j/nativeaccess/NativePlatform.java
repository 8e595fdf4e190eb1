package io.github.iree4j.nativeaccess;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The names of platforms in resource paths: operating system, architecture and, except for glibc, the C library. A
 * library linked against one C library does not load beside the other.
 */
final class NativePlatform {
    /** Those that a release has libraries for. */
    static final List<String> RELEASED = List.of(
            "linux-x86_64",
            "linux-x86_64-musl",
            "linux-aarch_64",
            "linux-aarch_64-musl",
            "windows-x86_64",
            "osx-aarch_64",
            "osx-x86_64");

    /** The files mapped into this process, the C library among them. */
    private static final Path MAPPINGS = Path.of("/proc/self/maps");

    private NativePlatform() {}

    /** The name of this process's platform. */
    static String name() {
        String platform = name(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
        return platform.startsWith("linux-") && usesMusl(MAPPINGS, Path.of("/")) ? platform + "-musl" : platform;
    }

    /** The name of the library's file on a platform. */
    static String fileName(String platform) {
        if (platform.startsWith("windows-")) {
            return "iree4j_shim.dll";
        }
        return platform.startsWith("osx-") ? "libiree4j_shim.dylib" : "libiree4j_shim.so";
    }

    static String name(String os, String arch) {
        String system = os.toLowerCase(Locale.ROOT);
        if (system.startsWith("mac")) {
            system = "osx";
        } else if (system.startsWith("windows")) {
            system = "windows";
        }
        String machine = switch (arch.toLowerCase(Locale.ROOT)) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> "aarch_64";
            default -> arch.toLowerCase(Locale.ROOT);
        };
        return system + "-" + machine;
    }

    /**
     * Whether this JVM runs on musl. The JVM's own mappings tell it, where files of the system would not: systems have
     * both C libraries installed. Where the mappings cannot be read, a system with the loader of musl alone is musl's.
     */
    static boolean usesMusl(Path mappings, Path root) {
        // A charset of all bytes: names of files need not be UTF-8.
        try (Stream<String> lines = Files.lines(mappings, StandardCharsets.ISO_8859_1)) {
            return lines.anyMatch(NativePlatform::isMusl);
        } catch (IOException | RuntimeException e) {
            return has(root, "ld-musl-") && !has(root, "ld-linux-");
        }
    }

    /** Whether a loader lies where programs name it. */
    private static boolean has(Path root, String prefix) {
        for (String folder : List.of("lib", "lib64")) {
            try (Stream<Path> files = Files.list(root.resolve(folder))) {
                if (files.anyMatch(each -> each.getFileName().toString().startsWith(prefix))) {
                    return true;
                }
            } catch (IOException | RuntimeException e) {
                continue; // not every system has both
            }
        }
        return false;
    }

    /** Whether a line of the mappings names musl, whose loader and C library are one file. glibc's are ld-linux and libc.so.6. */
    static boolean isMusl(String mapping) {
        String file = mapping.substring(mapping.lastIndexOf('/') + 1);
        return mapping.indexOf('/') >= 0 && (file.startsWith("ld-musl-") || file.equals("libc.so"));
    }
}

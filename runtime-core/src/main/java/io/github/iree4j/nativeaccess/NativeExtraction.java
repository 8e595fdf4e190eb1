package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The library as a resource, and file copies of the library, because operating systems load only files.
 *
 * <p>A resource beside the library has the checksum from the build, in the format of {@code sha256sum}. A library that
 * differs, for example since a build tool filtered it as text, is not loaded.
 *
 * <p>The copy's name contains the checksum of the contents, so the copy is written once per version and shared by all
 * processes of the user. An existing file is used only if the contents match; other files are replaced by renaming, so
 * processes still mapping the old file are not affected.
 */
final class NativeExtraction {
    /** System property naming the directory for copies. */
    static final String EXTRACT_DIR = "iree.native.extract-dir";

    private static final Logger LOG = LoggerFactory.getLogger(NativeExtraction.class);

    /** The name of a private copy, or of a file that was not written to the end. */
    private static final Pattern LEFTOVER =
            Pattern.compile("(lib)?iree4j_shim-[0-9a-f]{16}-[0-9]+-[0-9]+[.](so|dll|dylib)|extract-[0-9a-f]+[.]tmp");

    private final byte[] contents;
    private final String checksum;

    NativeExtraction(byte[] contents) {
        this.contents = contents;
        this.checksum = HexFormat.of().formatHex(CacheFile.sha256().digest(contents));
    }

    /**
     * Reads the resource for a platform.
     *
     * @throws IreeException UNAVAILABLE without a resource, with several different resources, or with a resource that
     *     differs from its checksum
     */
    static NativeExtraction find(String platform) {
        String resource = resource(platform);
        try {
            Set<URL> places = placesOf(resource);
            byte @Nullable [] found = null;
            for (URL place : places) {
                byte[] bytes;
                try (InputStream in = place.openStream()) {
                    bytes = in.readAllBytes();
                }
                if (found != null && !Arrays.equals(found, bytes)) {
                    throw IreeException.of(
                            StatusCode.UNAVAILABLE,
                            "the class path contains several different native libraries, keep one: " + places);
                }
                found = bytes;
            }
            if (found != null) {
                NativeExtraction extraction = new NativeExtraction(found);
                extraction.requireChecksum(resource);
                return extraction;
            }
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "resource '" + resource + "' cannot be read: " + e, e);
        }
        throw IreeException.of(
                StatusCode.UNAVAILABLE,
                ("no native library for platform '%s' on the class path (resource '%s'), which has %s; add"
                                + " iree4j-native-shim built for it, or name the file with %s")
                        .formatted(platform, resource, present(), NativeLibrary.LIBRARY_PATH));
    }

    /**
     * Reads the library in a file, for copies of it.
     *
     * @throws IreeException UNAVAILABLE when the file cannot be read
     */
    static NativeExtraction of(Path file) {
        try {
            return new NativeExtraction(Files.readAllBytes(file));
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE, "native library '%s' cannot be read: %s".formatted(file, e), e);
        }
    }

    private static String resource(String platform) {
        return "META-INF/native/" + platform + "/" + NativePlatform.fileName(platform);
    }

    /** The platforms with a library, as a phrase. */
    private static String present() {
        List<String> names = new ArrayList<>();
        for (String platform : NativePlatform.RELEASED) {
            try {
                if (!placesOf(resource(platform)).isEmpty()) {
                    names.add(platform);
                }
            } catch (IOException e) {
                // The message that this is a part of has the cause of interest.
            }
        }
        return names.isEmpty() ? "none for other platforms either" : "those for " + String.join(", ", names);
    }

    /** Builds of more than one kind may be in reach, so any of the checksums will do. */
    private void requireChecksum(String resource) throws IOException {
        Set<URL> places = placesOf(resource + ".sha256");
        for (URL place : places) {
            try (InputStream in = place.openStream()) {
                if (isIn(in)) {
                    return;
                }
            }
        }
        if (!places.isEmpty()) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    ("native library in resource '%s' differs from its checksum in '%s.sha256': its SHA-256 is %s; take the jar"
                                    + " as it was built, and exclude .so files from the filtering of resources")
                            .formatted(resource, resource, checksum));
        }
    }

    /**
     * Compares a library with the checksum in the file beside it, if there is one: the system's loader crashes the process
     * with a library that was cut off.
     *
     * @throws IreeException UNAVAILABLE when the library differs, or cannot be read
     */
    static void requireChecksumOf(Path file) {
        Path sum = file.resolveSibling(file.getFileName() + ".sha256");
        if (!Files.isRegularFile(sum)) {
            return;
        }
        NativeExtraction library = of(file);
        try (InputStream in = Files.newInputStream(sum)) {
            if (!library.isIn(in)) {
                throw IreeException.of(
                        StatusCode.UNAVAILABLE,
                        "native library '%s' differs from its checksum in '%s': its SHA-256 is %s; copy both again, or remove the checksum of a library of your own"
                                .formatted(file, sum, library.checksum));
            }
        } catch (IOException e) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "checksum '%s' of the native library cannot be read: %s".formatted(sum, e),
                    e);
        }
    }

    /** Whether a file of checksums begins with the library's checksum. */
    private boolean isIn(InputStream checksums) throws IOException {
        return new String(checksums.readNBytes(checksum.length()), StandardCharsets.US_ASCII)
                .equalsIgnoreCase(checksum);
    }

    private static Set<URL> placesOf(String resource) throws IOException {
        Set<URL> places = new LinkedHashSet<>();
        ClassLoader own = NativeExtraction.class.getClassLoader();
        addAll(places, own == null ? ClassLoader.getSystemClassLoader() : own, resource);
        if (places.isEmpty()) {
            addAll(places, Thread.currentThread().getContextClassLoader(), resource);
        }
        return places;
    }

    private static void addAll(Set<URL> places, @Nullable ClassLoader loader, String resource) throws IOException {
        if (loader != null) {
            places.addAll(Collections.list(loader.getResources(resource)));
        }
    }

    /**
     * Extracts a shared copy into a directory unless it exists.
     *
     * @throws IreeException UNAVAILABLE when the directory cannot be written, or other users could replace files in the
     *     directory
     */
    Path extractTo(Path directory) {
        return write(directory, fileName(""), true);
    }

    /** The library's name with the checksum, and a suffix, before its extension. */
    private String fileName(String suffix) {
        int dot = NativeLibrary.FILE_NAME.lastIndexOf('.');
        return NativeLibrary.FILE_NAME.substring(0, dot) + "-" + checksum.substring(0, 16) + suffix
                + NativeLibrary.FILE_NAME.substring(dot);
    }

    /**
     * A copy exclusive to this class loader, removed when the JVM exits, except on Windows, where a loaded file cannot be.
     * Copies that were left more than a day ago are removed now. Those in use stay loaded, and on Windows stay in place.
     */
    Path privateCopyIn(Path directory) {
        String suffix = "-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
        Path copy = write(directory, fileName(suffix), false);
        removeLeftovers(directory, Instant.now().minus(1, ChronoUnit.DAYS));
        copy.toFile().deleteOnExit();
        return copy;
    }

    /** Removes a private copy, loaded or refused, which a JVM that is killed would leave; on Linux nothing needs the name. */
    static void forget(Path copy) {
        if (NativePlatform.name().startsWith("linux-")) {
            delete(copy);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) { // loaded, on Windows, or removed by another process
            LOG.debug("'{}' stays", file, e);
        }
    }

    /** Private copies and files half written; one that cannot be removed stays. */
    static void removeLeftovers(Path directory, Instant before) {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (LEFTOVER.matcher(file.getFileName().toString()).matches()
                        && Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)
                                .toInstant()
                                .isBefore(before)) {
                    delete(file);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            LOG.debug("leftovers in '{}' stay", directory, e);
        }
    }

    private Path write(Path directory, String name, boolean reuse) {
        Path file = directory.resolve(name);
        try {
            Path temporary = CacheDirectory.createTemporary(directory, "extract-", EXTRACT_DIR);
            try {
                if (reuse && isGood(file, temporary)) {
                    return file;
                }
                Files.write(temporary, contents);
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                return file;
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException | UnsupportedOperationException e) {
            if (reuse && isGoodAsItIs(file)) {
                return file;
            }
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "cannot write to directory '%s' (%s); set %s to one that can be written"
                            .formatted(directory, e, EXTRACT_DIR),
                    e);
        }
    }

    private boolean isGood(Path file, Path ownFile) throws IOException {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                && Files.getOwner(file).equals(Files.getOwner(ownFile))
                && hasContents(file);
    }

    /** Whether there is a good copy in a directory where this user cannot write, as in an image. */
    private boolean isGoodAsItIs(Path file) {
        try {
            return CacheDirectory.isSafeToRead(file) && hasContents(file);
        } catch (IOException | IreeException e) {
            LOG.debug("'{}' is not used", file, e);
            return false;
        }
    }

    private boolean hasContents(Path file) throws IOException {
        return Files.size(file) == contents.length
                && MessageDigest.isEqual(
                        CacheFile.sha256().digest(Files.readAllBytes(file)),
                        CacheFile.sha256().digest(contents));
    }
}

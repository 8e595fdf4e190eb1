package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The library as a resource, and file copies of the library, because operating systems load only files.
 *
 * <p>The copy's name contains the checksum of the contents, so the copy is written once per version and shared by all
 * processes of the user. An existing file is used only if the contents match; other files are replaced by renaming, so
 * processes still mapping the old file are not affected.
 */
final class NativeExtraction {
    /** System property naming the directory for copies. */
    static final String EXTRACT_DIR = "iree.native.extract-dir";

    private final byte[] contents;
    private final String checksum;

    NativeExtraction(byte[] contents) {
        this.contents = contents;
        this.checksum = HexFormat.of().formatHex(CacheFile.sha256().digest(contents));
    }

    /**
     * Reads the resource for a platform.
     *
     * @throws IreeException UNAVAILABLE without a resource, or with several different resources
     */
    static NativeExtraction find(String platform) {
        String resource = "META-INF/native/" + platform + "/" + NativeLibrary.FILE_NAME;
        Set<URL> places = new LinkedHashSet<>();
        try {
            ClassLoader own = NativeExtraction.class.getClassLoader();
            addAll(places, own == null ? ClassLoader.getSystemClassLoader() : own, resource);
            if (places.isEmpty()) {
                addAll(places, Thread.currentThread().getContextClassLoader(), resource);
            }
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
                return new NativeExtraction(found);
            }
        } catch (IOException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "resource '" + resource + "' cannot be read: " + e, e);
        }
        throw IreeException.of(
                StatusCode.UNAVAILABLE,
                ("no native library for platform '%s' on the class path (resource '%s'); add iree4j-native-shim built for it,"
                                + " or name the file with %s")
                        .formatted(platform, resource, NativeLibrary.LIBRARY_PATH));
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
        String name = "libiree4j_shim-" + checksum.substring(0, 16) + ".so";
        return write(directory, name, true);
    }

    /** A copy exclusive to this class loader, removed when the JVM exits. */
    Path privateCopyIn(Path directory) {
        String name = "libiree4j_shim-%s-%d-%d.so"
                .formatted(checksum.substring(0, 16), ProcessHandle.current().pid(), System.nanoTime());
        Path copy = write(directory, name, false);
        copy.toFile().deleteOnExit();
        return copy;
    }

    private Path write(Path directory, String name, boolean reuse) {
        try {
            Path file = directory.resolve(name);
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
                && Files.size(file) == contents.length
                && MessageDigest.isEqual(
                        CacheFile.sha256().digest(Files.readAllBytes(file)),
                        CacheFile.sha256().digest(contents));
    }
}

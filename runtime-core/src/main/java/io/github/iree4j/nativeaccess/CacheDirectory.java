package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Directories for files that native code trusts, such as libraries and compiled code: other users must not be able to write there.
 */
public final class CacheDirectory {
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");

    private CacheDirectory() {}

    /**
     * Returns candidate directories.
     *
     * @param configured a directory to use; null or blank for the user's caches
     * @return the directories, in the order to try; includes a directory inside the configured one, in case others can write to that
     */
    public static List<Path> candidates(@Nullable String configured) {
        String own = "iree4j-" + System.getProperty("user.name", "user");
        if (configured != null && !configured.isBlank()) {
            Path directory = Path.of(configured).toAbsolutePath();
            return List.of(directory, directory.resolve(own));
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        Path home = Path.of(System.getProperty("user.home", "."));
        Path caches = cache != null && cache.startsWith("/") ? Path.of(cache) : home.resolve(".cache");
        Path temporary = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
        return List.of(
                caches.resolve("iree4j").toAbsolutePath(),
                temporary.resolve(own).toAbsolutePath());
    }

    /**
     * Creates a file that only this user can access, and the directory if it does not exist.
     *
     * @param directory the directory
     * @param prefix prefix of the file name
     * @param property names the setting that selects the directory, in messages
     * @return the file; the caller renames or deletes it
     * @throws IOException when it cannot be created
     * @throws IreeException UNAVAILABLE when other users could replace files in the directory
     */
    public static Path createTemporary(Path directory, String prefix, String property) throws IOException {
        createPrivately(directory);
        Path temporary = Files.createTempFile(directory, prefix, ".tmp", PosixFilePermissions.asFileAttribute(PRIVATE));
        try {
            requireOurs(directory, temporary, property);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
        return temporary;
    }

    private static void createPrivately(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Path parent = directory.getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            try {
                Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PRIVATE));
            } catch (FileAlreadyExistsException e) {
                if (!Files.isDirectory(directory)) {
                    throw e;
                }
                // another process created it first
            }
        }
    }

    /** Other users who can rename files in the directory could have their code loaded. */
    private static void requireOurs(Path directory, Path ownFile, String property) throws IOException {
        Set<PosixFilePermission> rights = Files.getPosixFilePermissions(directory);
        boolean othersWrite =
                rights.contains(PosixFilePermission.GROUP_WRITE) || rights.contains(PosixFilePermission.OTHERS_WRITE);
        if (othersWrite || !Files.getOwner(directory).equals(Files.getOwner(ownFile))) {
            throw new IreeException(
                    StatusCode.UNAVAILABLE,
                    ("directory '%s' belongs to someone else or can be written by others (%s); set %s to one that is"
                                    + " this user's alone")
                            .formatted(directory, PosixFilePermissions.toString(rights), property));
        }
    }
}

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
 * Directories for files that native code is going to trust, libraries and compiled code for example: others must not be able to put
 * theirs there.
 */
public final class CacheDirectory {
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");

    private CacheDirectory() {}

    /**
     * Returns where files may go.
     *
     * @param configured a directory to use; null or blank for the user's caches
     * @return in the order to try; a directory inside the configured one, should that be open to others
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
     * Creates a file for this user alone, and the directory if it is not there.
     *
     * @param directory where
     * @param prefix of the name
     * @param property names the setting that chooses the directory, in messages
     * @return the file, to be renamed or deleted
     * @throws IOException when it cannot be created
     * @throws IreeException UNAVAILABLE when others could replace what is in the directory
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
                // another process was faster
            }
        }
    }

    /** Others who can rename files in the directory could have their code loaded. */
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

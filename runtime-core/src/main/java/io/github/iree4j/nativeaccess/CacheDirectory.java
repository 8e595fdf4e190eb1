package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Directories for files trusted by native code, such as libraries and compiled code: other users must not be able to
 * write there, nor to replace the directory. Links are not followed, except for links of this user and of the superuser
 * in the ancestors.
 */
public final class CacheDirectory {
    private static final Logger LOG = LoggerFactory.getLogger(CacheDirectory.class);

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");

    /** Libraries need no right to be executed. */
    private static final Set<PosixFilePermission> PRIVATE_FILE = PosixFilePermissions.fromString("rw-------");

    /** The mode bit of a directory where users can rename and delete only their own files. */
    private static final int STICKY = 01000;

    private static final int OTHERS_WRITE = 022;

    /** Linux shows a process as a folder of its user. */
    private static final Path PROCESS = Path.of("/proc/self");

    /** The JVM's name of a user whom the system does not know, as in containers. */
    private static final String UNKNOWN_USER = "?";

    /** Directories already reported in a warning. */
    private static final Set<Path> WARNED = ConcurrentHashMap.newKeySet();

    private CacheDirectory() {}

    /**
     * Returns whether the system executes no file of the volume of a file. The file belongs to this user, and ends with the
     * rights that it had.
     */
    static boolean isOnNoexecVolume(Path file) {
        if (!hasModes(file)) {
            return false;
        }
        try {
            Set<PosixFilePermission> before = Files.getPosixFilePermissions(file);
            try {
                Files.setPosixFilePermissions(file, PRIVATE);
                return !Files.isExecutable(file);
            } finally {
                Files.setPosixFilePermissions(file, before);
            }
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns candidate directories.
     *
     * @param configured a directory to use; null or blank for the user's caches
     * @return the directories, in the order to try; includes a subdirectory of the configured directory, in case other
     *     users can write to the configured directory. Without a home, the temporary directory only
     */
    public static List<Path> candidates(@Nullable String configured) {
        String own = "iree4j-" + user();
        if (configured != null && !configured.isBlank()) {
            Path directory = Path.of(configured).toAbsolutePath();
            return List.of(directory, directory.resolve(own));
        }
        List<Path> directories = new ArrayList<>();
        try {
            Path caches = caches(NativePlatform.name(), System::getenv, Path.of(System.getProperty("user.home", "")));
            // A user whom the system does not know, as in containers, has the home "?".
            if (caches.isAbsolute()) {
                directories.add(caches.resolve("iree4j"));
            }
        } catch (InvalidPathException e) {
            LOG.debug("the folder for caches has letters that the locale lacks", e);
        }
        Path temporary = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
        directories.add(temporary.resolve(own).toAbsolutePath());
        return directories;
    }

    /** Returns the part of a folder's name for this user: the name, or the number of a user whom the system does not know. */
    private static String user() {
        String name = System.getProperty("user.name", UNKNOWN_USER);
        if (!name.equals(UNKNOWN_USER)) {
            return name;
        }
        try {
            return Files.getAttribute(PROCESS, "unix:uid").toString();
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return "user";
        }
    }

    /** The folder for caches on a platform; a variable of the environment counts if its value is absolute. */
    static Path caches(String platform, Function<String, @Nullable String> environment, Path home) {
        String named = environment.apply(platform.startsWith("windows-") ? "LOCALAPPDATA" : "XDG_CACHE_HOME");
        if (named != null && Path.of(named).isAbsolute()) {
            return Path.of(named);
        }
        return platform.startsWith("osx-") ? home.resolve("Library").resolve("Caches") : home.resolve(".cache");
    }

    /**
     * Creates a file readable and writable only by this user, and the directory if missing.
     *
     * @param directory the directory
     * @param prefix prefix of the file name
     * @param property names the setting of the directory, in messages
     * @return the file; the caller renames or deletes it
     * @throws IOException when the file cannot be created
     * @throws IreeException UNAVAILABLE when the directory is a link, or other users could replace the directory or the
     *     directory's files
     */
    public static Path createTemporary(Path directory, String prefix, String property) throws IOException {
        if (Files.isSymbolicLink(directory)) {
            throw unsafe(directory, "is a symbolic link", property);
        }
        createPrivately(directory);
        // Not createTempFile, which waits for secrets of the system: the name is no secret, as only a new file is
        // opened.
        String name = prefix + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ".tmp";
        Path temporary = Files.createFile(directory.resolve(name), rights(directory, PRIVATE_FILE));
        try {
            requireOurs(directory, temporary, property);
            if (hasModes(directory)) {
                requireSafeAncestors(directory, Files.getOwner(temporary), property);
            }
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
        return temporary;
    }

    /**
     * Returns whether a file is a regular one that nobody but this user and the superuser can change, without writing to
     * find out. False on systems without owners and modes. A folder around that others can write is only logged.
     */
    static boolean isSafeToRead(Path file) throws IOException {
        Path directory = file.getParent();
        if (directory == null || !hasModes(file) || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        UserPrincipal superuser = Files.getOwner(file.getRoot());
        // As Linux shows it; elsewhere only files of the superuser count.
        UserPrincipal us = Files.exists(PROCESS) ? Files.getOwner(PROCESS) : superuser;
        for (Path each : List.of(file, directory)) {
            UserPrincipal owner = Files.getOwner(each, LinkOption.NOFOLLOW_LINKS);
            int mode = (Integer) Files.getAttribute(each, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            if ((mode & OTHERS_WRITE) != 0 || !(owner.equals(us) || owner.equals(superuser))) {
                return false;
            }
        }
        requireSafeAncestors(directory, us, NativeExtraction.EXTRACT_DIR);
        return !Files.isSymbolicLink(directory);
    }

    /** Returns whether files have owner, group and modes. Files of Windows inherit the folder's list of rights. */
    private static boolean hasModes(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private static FileAttribute<?>[] rights(Path path, Set<PosixFilePermission> rights) {
        return hasModes(path)
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(rights)}
                : new FileAttribute<?>[0];
    }

    private static void createPrivately(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Path parent = directory.getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            try {
                Files.createDirectory(directory, rights(directory, PRIVATE));
            } catch (FileAlreadyExistsException e) {
                if (!Files.isDirectory(directory)) {
                    throw e;
                }
                // another process created the directory first
            }
        }
    }

    /** Other users able to rename files in the directory could have their code loaded. */
    private static void requireOurs(Path directory, Path ownFile, String property) throws IOException {
        Set<PosixFilePermission> rights = hasModes(directory) ? Files.getPosixFilePermissions(directory) : Set.of();
        boolean othersWrite =
                rights.contains(PosixFilePermission.GROUP_WRITE) || rights.contains(PosixFilePermission.OTHERS_WRITE);
        if (othersWrite || !Files.getOwner(directory).equals(Files.getOwner(ownFile))) {
            throw unsafe(
                    directory,
                    "belongs to another user or can be written by others (%s)"
                            .formatted(PosixFilePermissions.toString(rights)),
                    property);
        }
    }

    /** Other users owning an ancestor directory, or a link, could replace this directory. */
    private static void requireSafeAncestors(Path directory, UserPrincipal us, String property) throws IOException {
        Set<UserPrincipal> trusted = new HashSet<>(List.of(us, Files.getOwner(directory.getRoot())));
        for (Path each = directory.getParent(); each != null; each = each.getParent()) {
            if (Files.isSymbolicLink(each) && !trusted.contains(Files.getOwner(each, LinkOption.NOFOLLOW_LINKS))) {
                throw unsafe(directory, "is reached by a link of another user, '%s'".formatted(each), property);
            }
        }
        for (Path each = directory.toRealPath().getParent(); each != null; each = each.getParent()) {
            if (!trusted.contains(Files.getOwner(each))) {
                throw unsafe(directory, "is in a directory of another user, '%s'".formatted(each), property);
            }
            int mode = (Integer) Files.getAttribute(each, "unix:mode");
            // Common in containers, where there are no other users.
            if ((mode & OTHERS_WRITE) != 0 && (mode & STICKY) == 0 && WARNED.add(each)) {
                LOG.warn(
                        "'{}' is in '{}', where other users can rename it; take their right to write (chmod go-w), or set {} to another directory",
                        directory,
                        each,
                        property);
            }
        }
    }

    private static IreeException unsafe(Path directory, String why, String property) {
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "directory '%s' %s; set %s to one that is this user's alone".formatted(directory, why, property));
    }
}

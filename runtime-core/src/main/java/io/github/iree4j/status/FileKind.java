package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * The kind of the object at a path. Programs and parameters are in regular files: opening a pipe waits until another
 * process opens the other end, and no interrupt ends this wait; a device may have no end.
 */
@NotForApplications
public enum FileKind implements FailureDetail {
    /** A regular file. */
    REGULAR("a regular file"),
    /** A directory. */
    DIRECTORY("a directory"),
    /** A pipe with a name. */
    PIPE("a pipe (FIFO)"),
    /** A socket with a name. */
    SOCKET("a socket"),
    /** A device of characters or blocks. */
    DEVICE("a device"),
    /** None of these, or the file system does not report the kind. */
    OTHER("a special file");

    private static final String UNIX = "unix";
    private static final int FORMAT = 0xF000; // bits of a mode, like the next
    private static final int FORMAT_PIPE = 0x1000;
    private static final int FORMAT_CHARACTERS = 0x2000;
    private static final int FORMAT_BLOCKS = 0x6000;
    private static final int FORMAT_SOCKET = 0xC000;

    private final String text;

    FileKind(String text) {
        this.text = text;
    }

    /**
     * Returns the kind of the object at a path; symbolic links are followed. Opens nothing.
     *
     * @param path the path
     * @return the kind
     * @throws IOException when there is no object, or the kind cannot be determined
     */
    public static FileKind of(Path path) throws IOException {
        BasicFileAttributes basic = Files.readAttributes(path, BasicFileAttributes.class);
        if (basic.isRegularFile()) {
            return REGULAR;
        }
        if (basic.isDirectory()) {
            return DIRECTORY;
        }
        if (!path.getFileSystem().supportedFileAttributeViews().contains(UNIX)) {
            return OTHER;
        }
        int mode = (int) Files.getAttribute(path, UNIX + ":mode");
        return switch (mode & FORMAT) {
            case FORMAT_PIPE -> PIPE;
            case FORMAT_SOCKET -> SOCKET;
            case FORMAT_CHARACTERS, FORMAT_BLOCKS -> DEVICE;
            default -> OTHER;
        };
    }

    /**
     * Checks that a path leads to a regular file, before the file is opened.
     *
     * @param what the use of the file in messages, such as "module file"
     * @param path the path
     * @throws IOException when there is no object, or the kind cannot be determined
     * @throws IreeException INVALID_ARGUMENT for another kind, which is a {@linkplain IreeException#detail detail}
     */
    public static void requireRegular(String what, Path path) throws IOException {
        FileKind kind = of(path);
        if (kind != REGULAR) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s '%s' is %s and must be a regular file; %s"
                            .formatted(
                                    what,
                                    path,
                                    kind.text,
                                    kind == DIRECTORY
                                            ? "name a file in the directory"
                                            : "name the file itself, or write the contents into a regular file"),
                    null,
                    kind);
        }
    }
}

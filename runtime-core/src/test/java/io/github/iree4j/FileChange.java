package io.github.iree4j;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.UUID;

/** A change of a file in use in place, for tests. */
enum FileChange {
    TRUNCATED {
        @Override
        void to(Path file) throws IOException {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() / 2);
            }
        }
    },
    OVERWRITTEN {
        @Override
        void to(Path file) throws IOException {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.allocate((int) channel.size()));
            }
            afterATick(file);
        }
    },
    OVERWRITTEN_AND_TIME_RESTORED {
        @Override
        void to(Path file) throws IOException {
            FileTime before = Files.getLastModifiedTime(file);
            OVERWRITTEN.to(file);
            Files.setLastModifiedTime(file, before);
            afterATick(file);
        }
    },
    TOUCHED {
        @Override
        void to(Path file) throws IOException {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().plusSeconds(10)));
        }
    },
    PERMITTED {
        @Override
        void to(Path file) throws IOException {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
            afterATick(file);
        }
    },
    LINKED {
        @Override
        void to(Path file) throws IOException {
            Files.createLink(file.resolveSibling("link " + UUID.randomUUID()), file);
            afterATick(file);
        }
    },
    COPIED_OVER {
        @Override
        void to(Path file) throws IOException {
            Files.write(file, Files.readAllBytes(file), StandardOpenOption.TRUNCATE_EXISTING);
            afterATick(file);
        }
    },
    GROWN {
        @Override
        void to(Path file) throws IOException {
            Files.write(file, new byte[] {1}, StandardOpenOption.APPEND);
        }
    },
    REPLACED {
        @Override
        void to(Path file) throws IOException {
            Path other = Files.writeString(file.resolveSibling("other"), "something else");
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        }
    },
    DELETED {
        @Override
        void to(Path file) throws IOException {
            Files.delete(file);
        }
    };

    abstract void to(Path file) throws IOException;

    /**
     * Clocks of file systems are coarse, and tests are not: writes within a tick of the copy could not be told apart.
     */
    private static void afterATick(Path file) throws IOException {
        FileTime copied = (FileTime) Files.getAttribute(file, "unix:ctime");
        while (copied.equals(Files.getAttribute(file, "unix:ctime"))) {
            Files.setLastModifiedTime(file, Files.getLastModifiedTime(file));
        }
    }
}

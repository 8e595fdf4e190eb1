package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of code compiled by a driver, kept between runs. Drivers trust the given data, so a file is used only if owned
 * by this user, in a directory not writable by other users, and with a correct checksum; anything else is ignored and
 * logged. Replaced by renaming, so processes can share the file; links are not followed. Safe from any thread.
 *
 * <p>Format: 8 characters, version 1, length of the data (all 8 bytes, little-endian), SHA-256 of the data, the data.
 */
public final class CacheFile {
    private static final Logger LOG = LoggerFactory.getLogger(CacheFile.class);

    private static final long VERSION = 1;
    private static final int CHECKSUM_BYTES = 32;
    private static final int HEADER_BYTES = 3 * Long.BYTES + CHECKSUM_BYTES;

    /** Larger data is neither read nor written; such data would hold hundreds of programs. */
    public static final int SIZE_LIMIT = 128 << 20;

    private final String magic;
    private final String property;
    private final List<Path> directories;
    private final String name;

    /**
     * Names a file.
     *
     * @param magic 8 characters at the beginning of the file
     * @param configured the directory; empty for the user's cache directory
     * @param property names the setting of the directory, in messages
     * @param name the file's name, containing everything that determines the contents
     */
    public CacheFile(String magic, String configured, String property, String name) {
        this.magic = magic;
        this.property = property;
        this.directories = CacheDirectory.candidates(configured);
        this.name = name;
    }

    /**
     * Reads the data.
     *
     * @return the data; null when there is no usable file
     */
    public byte @Nullable [] read() {
        for (Path directory : directories) {
            Path file = directory.resolve(name);
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            try {
                Files.deleteIfExists(CacheDirectory.createTemporary(directory, "probe-", property)); // private
                return read(file);
            } catch (IOException | IreeException | UnsupportedOperationException e) {
                LOG.warn("compiled code in '{}' is not used: {}", file, e.getMessage());
            }
        }
        return null;
    }

    private byte[] read(Path file) throws IOException {
        try (SeekableByteChannel in = Files.newByteChannel(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            long size = in.size();
            if (size < HEADER_BYTES || size > HEADER_BYTES + (long) SIZE_LIMIT) {
                throw new IOException("it has " + size + " bytes");
            }
            ByteBuffer bytes = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
            while (bytes.hasRemaining()) {
                if (in.read(bytes) < 0) {
                    throw new IOException("it ends at " + bytes.position() + " of " + size + " bytes");
                }
            }
            bytes.flip();
            long begin = bytes.getLong();
            long version = bytes.getLong();
            long length = bytes.getLong();
            byte[] checksum = new byte[CHECKSUM_BYTES];
            bytes.get(checksum);
            if (begin != magic() || version != VERSION || length != bytes.remaining()) {
                throw new IOException("its header is not what this version writes");
            }
            byte[] data = new byte[bytes.remaining()];
            bytes.get(data);
            if (!MessageDigest.isEqual(checksum, sha256(data))) {
                throw new IOException("its checksum is wrong");
            }
            return data;
        }
    }

    /**
     * Writes the data; failures are only logged.
     *
     * @param data the data
     */
    public void write(byte[] data) {
        if (data.length > SIZE_LIMIT) {
            LOG.warn(
                    "compiled code '{}' of {} bytes is not kept, the limit is {}; delete the file to begin anew",
                    name,
                    data.length,
                    SIZE_LIMIT);
            return;
        }
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES + data.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(magic())
                .putLong(VERSION)
                .putLong(data.length)
                .put(sha256(data))
                .put(data);
        for (Path directory : directories) {
            try {
                Path temporary = CacheDirectory.createTemporary(directory, "code-", property);
                try {
                    Files.write(temporary, bytes.array());
                    Files.move(
                            temporary,
                            directory.resolve(name),
                            StandardCopyOption.ATOMIC_MOVE,
                            StandardCopyOption.REPLACE_EXISTING);
                } finally {
                    Files.deleteIfExists(temporary);
                }
                return;
            } catch (IOException | IreeException | UnsupportedOperationException e) {
                LOG.warn("compiled code cannot be kept in '{}': {}", directory, e.getMessage());
            }
        }
    }

    /**
     * Deletes the files written first, until the files with a common prefix are within the limit; failures are only
     * logged.
     *
     * @param prefix the common prefix of the file names
     * @param limit bytes of all these files together
     */
    public void keepNewest(String prefix, long limit) {
        record Known(Path file, long time, long size) {}
        for (Path directory : directories) {
            List<Known> all = new ArrayList<>();
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    if (file.getFileName().toString().startsWith(prefix)
                            && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                        all.add(new Known(file, Files.getLastModifiedTime(file).toMillis(), Files.size(file)));
                    }
                }
                all.sort(Comparator.comparingLong(Known::time).reversed());
                long sum = 0;
                for (Known each : all) {
                    sum += each.size;
                    if (sum > limit && !each.file.endsWith(name)) {
                        Files.deleteIfExists(each.file);
                    }
                }
            } catch (IOException | UncheckedIOException e) { // another process may delete the same
                LOG.debug("compiled code in '{}' is not looked through: {}", directory, e.getMessage());
            }
        }
    }

    private long magic() {
        return ByteBuffer.wrap(magic.getBytes(StandardCharsets.US_ASCII))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }

    private static byte[] sha256(byte[] bytes) {
        return sha256().digest(bytes);
    }

    /**
     * Returns a digest, for names.
     *
     * @return SHA-256
     */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}

package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.VulkanOptions;
import io.github.iree4j.nativeaccess.CacheDirectory;
import io.github.iree4j.nativeaccess.VulkanDeviceProperties;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
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
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A driver's compiled pipelines, kept in a file between runs: one for each device, driver and driver version, in the user's cache
 * directory. Drivers trust the data that they are given, so a file is used only if this user owns it, in a directory that others
 * cannot write, and its checksum is right; anything else is ignored and logged. Replaced by renaming, so that processes can share
 * it.
 *
 * <p>Format: {@value #MAGIC_TEXT}, version 1, length of the data (all 8 bytes, little-endian), SHA-256 of the data, the data.
 */
final class PipelineCacheFile {
    /** System property naming the directory, or {@value #OFF}. */
    static final String PROPERTY = "iree.vulkan.pipeline-cache";

    static final String OFF = "off";

    private static final Logger LOG = LoggerFactory.getLogger(PipelineCacheFile.class);

    private static final String MAGIC_TEXT = "IREE4JVK";
    private static final long VERSION = 1;
    private static final int CHECKSUM_BYTES = 32;
    private static final int HEADER_BYTES = 3 * Long.BYTES + CHECKSUM_BYTES;

    /** Larger data is neither read nor written; it would hold hundreds of programs. */
    static final int SIZE_LIMIT = 128 << 20;

    private final List<Path> directories;
    private final String name;

    /**
     * Names the file of a device.
     *
     * @param configured the directory; empty for the user's cache directory
     */
    PipelineCacheFile(VulkanDeviceProperties device, String configured) {
        this.directories = CacheDirectory.candidates(configured);
        this.name = name(device);
    }

    /** Returns the configured directory, {@link #OFF}, or an empty string. */
    static String configured(DeviceOptions options) {
        String chosen = options.driver(VulkanOptions.DEFAULT).compiledCode();
        return (chosen.isBlank() ? System.getProperty(PROPERTY, "") : chosen).strip();
    }

    /** The name contains everything that the contents depend on. */
    private static String name(VulkanDeviceProperties device) {
        return String.format(
                Locale.ROOT,
                "vulkan-%08x-%08x-%08x-%s.cache",
                device.vendorId(),
                device.deviceId(),
                device.driverVersion(),
                device.pipelineCacheUuid());
    }

    /** Reads the data; null when there is no usable file. */
    byte @Nullable [] read() {
        for (Path directory : directories) {
            Path file = directory.resolve(name);
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            try {
                Files.deleteIfExists(CacheDirectory.createTemporary(directory, "probe-", PROPERTY)); // private
                return read(file);
            } catch (IOException | IreeException | UnsupportedOperationException e) {
                LOG.warn("pipeline cache '{}' is not used: {}", file, e.getMessage());
            }
        }
        return null;
    }

    private static byte[] read(Path file) throws IOException {
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
            long magic = bytes.getLong();
            long version = bytes.getLong();
            long length = bytes.getLong();
            byte[] checksum = new byte[CHECKSUM_BYTES];
            bytes.get(checksum);
            if (magic != magic() || version != VERSION || length != bytes.remaining()) {
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

    /** Writes the data; failures are only logged. */
    void write(byte[] data) {
        if (data.length > SIZE_LIMIT) {
            LOG.warn(
                    "pipeline cache '{}' of {} bytes is not kept, the limit is {}; delete the file to begin anew",
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
                Path temporary = CacheDirectory.createTemporary(directory, "vulkan-", PROPERTY);
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
                LOG.warn("pipeline cache cannot be kept in '{}': {}", directory, e.getMessage());
            }
        }
    }

    private static long magic() {
        return ByteBuffer.wrap(MAGIC_TEXT.getBytes(StandardCharsets.US_ASCII))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}

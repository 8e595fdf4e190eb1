package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.GpuOptions;
import io.github.iree4j.nativeaccess.CacheFile;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Machine code compiled by the driver from PTX, kept in files: a file for each text, architecture and driver. Safe from any thread. */
final class GpuCodeCache {
    /** System property naming the directory, or {@value #OFF}. */
    static final String PROPERTY = "iree.cuda.compiled-code";

    private static final String OFF = "off";
    private static final String PREFIX = "cuda-";

    /** Total bytes of all files. A guess. */
    private static final long LIMIT = 512L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(GpuCodeCache.class);

    private final GpuDevice device;
    private final String directory;
    private final long limit;
    private final byte[] target; // dependencies of the code besides the text

    GpuCodeCache(GpuDevice device, DeviceOptions options, String architecture) {
        String chosen = options.driver(GpuOptions.DEFAULTS).compiledCode();
        this(device, chosen.isBlank() ? System.getProperty(PROPERTY, "") : chosen, architecture, LIMIT);
    }

    GpuCodeCache(GpuDevice device, String directory, String architecture, long limit) {
        this.device = device;
        this.directory = directory.strip();
        this.limit = limit;
        this.target = "%s %s %d %s\n"
                .formatted(
                        device.properties().name(), architecture, device.api().version(), build())
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the driver's build: the compiler may change without a change of the interface. */
    private static String build() {
        try {
            return Files.readString(Path.of("/sys/module/nvidia/version")).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Loads a module, given a copy of the image in the arena. */
    long load(GpuImage image, MemorySegment copy, Arena arena) {
        if (image.kind() != GpuImage.Kind.PTX || directory.equals(OFF)) {
            return device.loadModule(copy);
        }
        MessageDigest digest = CacheFile.sha256();
        digest.update(target);
        digest.update(copy.asByteBuffer());
        String name = PREFIX + HexFormat.of().formatHex(digest.digest()) + ".cache";
        CacheFile file = new CacheFile("IREE4JPT", directory, PROPERTY, name);
        try {
            byte[] known = file.read();
            if (known != null) {
                return load(known, arena);
            }
        } catch (IreeException e) {
            LOG.warn("compiled code '{}' is not used: {}", file, e.getMessage());
        }
        try {
            byte[] made = device.compile(copy);
            long module = load(made, arena);
            file.write(made);
            file.keepNewest(PREFIX, limit);
            return module;
        } catch (IreeException e) {
            LOG.debug("compiled code '{}' is not kept: {}", file, e.getMessage());
            return device.loadModule(copy); // reports the cause
        }
    }

    private long load(byte[] code, Arena arena) {
        return device.loadModule(
                GpuImage.of("compiled code", MemorySegment.ofArray(code)).copy(arena));
    }
}

package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.CacheFile;
import io.github.iree4j.nativeaccess.vulkan.VulkanAllocation;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;
import io.github.iree4j.nativeaccess.vulkan.VulkanLayout;
import io.github.iree4j.nativeaccess.vulkan.VulkanPipeline;
import io.github.iree4j.nativeaccess.vulkan.VulkanPipelineCache;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Compiles code for a device, and caches the result. Safe from any thread. */
final class VulkanCode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VulkanCode.class);

    private static final int NOTHING_BYTES = 256;

    private final VulkanHandle handle;
    private final @Nullable CacheFile file;
    private final VulkanPipelineCache cache;
    private final AtomicLong compiled = new AtomicLong(); // pipelines compiled since the file was read
    private final int restored;
    private final int restoredHash;
    private @Nullable VulkanAllocation nothing; // guarded by this

    /**
     * Starts from the pipeline cache of earlier runs.
     *
     * @param configured the directory of the cache; empty for the user's cache directory, {@link PipelineCacheFile#OFF}
     *     for none
     */
    VulkanCode(VulkanHandle handle, String configured) {
        this.handle = handle;
        this.file =
                configured.equals(PipelineCacheFile.OFF) ? null : PipelineCacheFile.of(handle.properties(), configured);
        byte @Nullable [] known = file == null ? null : file.read();
        VulkanPipelineCache opened = null;
        if (known != null) {
            try {
                opened = handle.createPipelineCache(known);
            } catch (IreeException e) {
                LOG.warn("pipeline cache '{}' is not used: {}", file, e.getMessage());
            }
        }
        this.restored = opened == null || known == null ? 0 : known.length;
        this.restoredHash = Arrays.hashCode(opened == null ? null : known);
        this.cache = opened != null ? opened : handle.createPipelineCache(null);
    }

    VulkanHandle handle() {
        return handle;
    }

    /** Returns the bytes of compiled code restored from the file. */
    int restoredBytes() {
        return restored;
    }

    VulkanPipeline compile(
            MemorySegment spirv, String entryPoint, VulkanLayout layout, int[] constants, int subgroupSize) {
        VulkanPipeline pipeline = handle.createPipeline(spirv, entryPoint, layout, constants, subgroupSize, cache);
        compiled.incrementAndGet();
        return pipeline;
    }

    /** Returns a dummy buffer to bind in place of an empty buffer; the contents are irrelevant. */
    synchronized long nothing() {
        VulkanAllocation made = nothing;
        if (made == null) {
            made = allocate();
            nothing = made;
        }
        return made.buffer();
    }

    private VulkanAllocation allocate() {
        IreeException refused = null;
        for (int type = 0; type < handle.properties().memoryTypes().size(); type++) {
            try {
                return handle.allocate(NOTHING_BYTES, type, 0);
            } catch (IreeException e) {
                refused = e; // the type does not suit buffers, or is exhausted
            }
        }
        throw refused != null ? refused : IreeException.of(StatusCode.UNAVAILABLE, "the device has no memory");
    }

    /** Writes the file, if compiled code is missing in the file; the device must still be open. */
    @Override
    public void close() {
        try {
            if (file != null && compiled.get() > 0) {
                byte[] data = cache.data();
                if (data.length != restored || Arrays.hashCode(data) != restoredHash) {
                    file.write(data);
                }
            }
        } catch (IreeException e) {
            LOG.warn("pipeline cache '{}' is not written: {}", file, e.getMessage());
        } finally {
            cache.close();
            synchronized (this) {
                if (nothing != null) {
                    nothing.close();
                }
            }
        }
    }
}

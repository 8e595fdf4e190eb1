package io.github.iree4j.hal.remote;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Code and constants sent by peers, by SHA-256, as long as there is room: the least recently used content goes first. Safe from any thread. */
final class ContentCache {
    private static final long LEAST_COST = 1 << 10;

    private final long limit;
    private final Map<ByteBuffer, MemorySegment> byDigest = new LinkedHashMap<>(16, 0.75f, true); // guarded by this
    private long bytes;

    ContentCache(long limit) {
        this.limit = limit;
    }

    long limit() {
        return limit;
    }

    synchronized @Nullable MemorySegment find(byte[] digest) {
        return byDigest.get(ByteBuffer.wrap(digest));
    }

    synchronized void add(byte[] digest, MemorySegment content) {
        if (content.byteSize() > limit || byDigest.putIfAbsent(ByteBuffer.wrap(digest), content) != null) {
            return;
        }
        bytes += cost(content);
        var oldest = byDigest.values().iterator();
        while (bytes > limit && oldest.hasNext()) {
            bytes -= cost(oldest.next());
            oldest.remove();
        }
    }

    /** Returns the memory of an entry: small content takes more than its bytes. */
    private static long cost(MemorySegment content) {
        return Math.max(LEAST_COST, content.byteSize());
    }
}

package io.github.iree4j.task;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The numbered nodes of an executor's lists. A live process owns a node; the process enters a list with this node and
 * leaves the list with another node.
 *
 * <p>Numbers rather than objects: a 64-bit word holds a number and a change counter, so that a stale compare-and-set
 * fails. Grows with the number of live processes and never shrinks.
 */
final class ListNodes {
    /*
     * A link:   63..32   31..0
     *           CHANGES  NODE, or NONE
     *
     * CHANGES increases with every write of the link, so all values within 2^32 writes are different. TASK-15
     */
    static final int NONE = -1;
    private static final int CHUNK_BITS = 10;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int MAX_CHUNKS = 1 << 14;

    private static final class Chunk {
        final AtomicLongArray next = new AtomicLongArray(CHUNK);
        final AtomicReferenceArray<@Nullable TaskProcess> process = new AtomicReferenceArray<>(CHUNK);
    }

    private final AtomicReferenceArray<@Nullable Chunk> chunks = new AtomicReferenceArray<>(MAX_CHUNKS);
    private final PaddedLong free = new PaddedLong(); // a link to the first free node
    private final PaddedLong used = new PaddedLong(); // number of nodes ever created

    ListNodes() {
        free.setVolatile(link(0, NONE));
    }

    static int node(long link) {
        return (int) link;
    }

    /** Returns a link to a node, different from the previous link. */
    static long link(long before, int node) {
        return ((before >>> 32) + 1) << 32 | node & 0xffffffffL;
    }

    /** Allocates a node for the caller. */
    int take() {
        for (; ; ) {
            long first = free.getVolatile();
            int node = node(first);
            if (node == NONE) {
                return create();
            }
            long next = nextVolatile(node);
            if (free.compareAndSetVolatile(first, link(first, node(next)))) {
                return node;
            }
        }
    }

    /** Frees a node that is in no list. */
    void give(int node) {
        setProcessRelease(node, null);
        for (; ; ) {
            long first = free.getVolatile();
            setNextRelease(node, node(first));
            if (free.compareAndSetVolatile(first, link(first, node))) {
                return;
            }
        }
    }

    private int create() {
        int node = (int) used.getAndAddVolatile(1);
        int chunk = node >>> CHUNK_BITS;
        if (chunks.getAcquire(chunk) == null) {
            chunks.compareAndSet(chunk, null, new Chunk());
        }
        return node;
    }

    private Chunk chunk(int node) {
        Chunk chunk = chunks.getAcquire(node >>> CHUNK_BITS);
        assert chunk != null;
        return chunk;
    }

    long nextVolatile(int node) {
        return chunk(node).next.get(node & CHUNK - 1);
    }

    /** Sets the link of a node owned by the caller. */
    void setNextRelease(int node, int next) {
        AtomicLongArray links = chunk(node).next;
        int index = node & CHUNK - 1;
        links.setRelease(index, link(links.getPlain(index), next));
    }

    boolean compareAndSetNext(int node, long before, int next) {
        return chunk(node).next.compareAndSet(node & CHUNK - 1, before, link(before, next));
    }

    @Nullable
    TaskProcess processAcquire(int node) {
        return chunk(node).process.getAcquire(node & CHUNK - 1);
    }

    void setProcessRelease(int node, @Nullable TaskProcess process) {
        chunk(node).process.setRelease(node & CHUNK - 1, process);
    }
}

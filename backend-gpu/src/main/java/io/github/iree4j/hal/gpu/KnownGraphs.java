package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.nativeaccess.gpu.GpuWords;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Graphs of commands recorded anew for every execution, as compiled programs do: commands with the same words as
 * earlier commands are launched as a single graph. On an H200 a launch takes a command of a graph a third of the time
 * of a single command. Safe from any thread.
 *
 * <p>Of commands seen first only a hash is kept. The next commands with the same hash are copied and make the graph, for
 * later commands equal to the copy. There are at most {@value #MOST} hashes and {@value #MOST_BYTES} bytes of copies; the
 * entry used longest ago goes first.
 */
final class KnownGraphs implements AutoCloseable {
    /*
     * GPU-7: a graph refers to memory and code by address. Words are equal while the addresses are equal. But after
     * memory was freed, or code unloaded, the same address may be other memory or code, with another graph of the
     * driver. So a graph is taken only while nothing was freed since the commands were first seen: `freed` is counted
     * before the driver frees, and is read before the list is looked up.
     * GPU-8: a graph is released once no execution holds the graph, without the lock.
     */
    /** The most entries. A guess: a program has some command buffers, each with a few sets of addresses. */
    static final int MOST = 64;

    /** The most bytes of copied words. */
    static final long MOST_BYTES = 8 << 20;

    /** Number of launches repaying the making of a graph. A guess: a graph is made in the time of some executions. */
    private static final int WORTH = 8;

    private static final int PATIENCE_LIMIT = 1024;

    private static final AtomicLong FREED = new AtomicLong(); // of the process: devices use each other's memory

    private final GpuDevice device;
    private final GpuGraphs graphs;
    private final boolean overlaps; // whether a graph may be launched again before the last launch has ended

    // Guarded by this.
    private final LinkedHashMap<Long, Known> lists = new LinkedHashMap<>(16, 0.75f, true); // by hash; last use last
    private long bytes;
    private int patience = 1; // number of repetitions before a graph is made
    private boolean closed;

    /** Commands seen before. */
    static final class Known {
        private final long hash;
        private final long freed;
        private MemorySegment words = MemorySegment.NULL; // copied words of the graph
        private int repetitions;
        private int launches;
        private long graph; // 0 for none
        private int holders; // executions, and the maker
        private boolean making;
        private boolean gone; // no longer in the table

        private Known(long hash, long freed) {
            this.hash = hash;
            this.freed = freed;
        }

        /** Returns the graph, while held. */
        long graph() {
            return graph;
        }
    }

    KnownGraphs(GpuDevice device, GpuGraphs graphs) {
        this.device = device;
        this.graphs = graphs;
        // CUDA orders launches of the same graph. HIP's documentation is silent about launches on several streams.
        this.overlaps = device.api().kind() == GpuKind.CUDA;
    }

    /** Counts memory about to be freed, or code about to be unloaded: GPU-7. */
    static void freeing() {
        FREED.incrementAndGet();
    }

    /**
     * Returns a graph of the same commands, made now if the commands repeat; held until {@link #end}.
     *
     * @param words commands without waits and records
     * @return null if the commands are new, or the driver makes no graph
     */
    @Nullable
    Known use(GpuWords words) {
        long freed = FREED.get(); // GPU-7: first
        MemorySegment now = words.segment();
        long hash = hash(now);
        List<Known> dropped = new ArrayList<>(0);
        Known found;
        Known made = null; // entry of the graph made now
        synchronized (this) {
            found = closed ? null : lists.get(hash);
            if (found != null && (found.freed != freed || found.graph != 0 && found.words.mismatch(now) != -1)) {
                drop(found, dropped);
                found = null;
            }
            if (found == null) {
                remember(new Known(hash, freed), dropped);
            } else if (found.graph != 0 && found.holders > 0 && !overlaps) {
                found = null;
            } else if (found.graph != 0) {
                found.holders++;
                launched(found);
            } else if (found.making || now.byteSize() > MOST_BYTES || ++found.repetitions < patience) {
                found = null;
            } else {
                found.making = true;
                found.holders++;
                made = found;
            }
        }
        dropped.forEach(this::release);
        if (made == null) {
            return found;
        }
        MemorySegment copy = MemorySegment.NULL;
        long graph = 0;
        try {
            copy = MemorySegment.ofArray(now.toArray(ValueLayout.JAVA_LONG));
            graph = graphs.make(words, 0);
        } finally {
            found = made(made, copy, graph);
        }
        return found;
    }

    private @Nullable Known made(Known known, MemorySegment copy, long graph) {
        List<Known> dropped = new ArrayList<>(0);
        synchronized (this) {
            known.making = false;
            if (graph == 0) {
                known.repetitions = 0;
                known.holders--;
                losePatience();
                return null;
            }
            known.graph = graph;
            known.words = copy;
            launched(known);
            if (!known.gone) {
                bytes += copy.byteSize();
                trim(dropped);
            }
        }
        dropped.forEach(this::release);
        return known;
    }

    private void launched(Known known) {
        if (++known.launches == WORTH) {
            patience = 1;
        }
    }

    /** Doubles the repetitions before later graphs: a graph was not made, was refused, or had few launches. */
    private void losePatience() {
        patience = Math.min(2 * patience, PATIENCE_LIMIT);
    }

    /** Ends the use of a graph by an execution. */
    void end(Known known, boolean refused) {
        List<Known> dropped = new ArrayList<>(0);
        synchronized (this) {
            known.holders--;
            if (refused && !known.gone) {
                losePatience();
                drop(known, dropped);
            } else if (known.gone && known.holders == 0) {
                dropped.add(known);
            }
        }
        dropped.forEach(this::release);
    }

    private void remember(Known known, List<Known> dropped) {
        if (!closed) {
            lists.put(known.hash, known);
            trim(dropped);
        }
    }

    private void trim(List<Known> dropped) {
        for (Iterator<Known> each = lists.values().iterator(); lists.size() > MOST || bytes > MOST_BYTES; ) {
            Known oldest = each.next();
            each.remove();
            gone(oldest, dropped);
        }
    }

    private void drop(Known known, List<Known> dropped) {
        lists.remove(known.hash, known);
        gone(known, dropped);
    }

    private void gone(Known known, List<Known> dropped) {
        known.gone = true;
        bytes -= known.words.byteSize();
        if (known.graph != 0 && known.launches < WORTH) {
            losePatience();
        }
        if (known.holders == 0) {
            dropped.add(known); // GPU-8
        }
    }

    private void release(Known known) {
        if (known.graph != 0) {
            device.releaseGraph(known.graph);
        }
    }

    private static long hash(MemorySegment words) {
        long hash = 1;
        for (long at = 0; at < words.byteSize(); at += Long.BYTES) {
            hash = hash * 0x9E3779B97F4A7C15L + words.get(ValueLayout.JAVA_LONG, at);
        }
        return hash;
    }

    /** Keeps nothing from now on; graphs in use are released after their last execution. */
    @Override
    public void close() {
        List<Known> dropped = new ArrayList<>();
        synchronized (this) {
            closed = true;
            lists.values().forEach(each -> gone(each, dropped));
            lists.clear();
        }
        dropped.forEach(this::release);
    }
}

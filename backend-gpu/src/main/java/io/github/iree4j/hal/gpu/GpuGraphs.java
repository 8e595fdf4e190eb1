package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuWords;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes graphs of repeatedly executed commands, launched by the driver with a single call. Graphs are captured on
 * dedicated streams; the commands of a region become branches of the graph. Safe from any thread.
 *
 * <p>GPU-6: each maker has exclusive capturing streams, and makes the graph under no lock: a driver may first wait for
 * all work of the device.
 */
final class GpuGraphs implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GpuGraphs.class);

    /** Maximum number of a region's commands running at once. A guess: no device was available for a measurement. */
    private static final int BRANCHES = 4;

    private final GpuDevice device;
    private final AtomicLong launches = new AtomicLong();
    private volatile boolean unsupported; // whether the driver has no graphs
    private final AtomicBoolean told = new AtomicBoolean(); // whether a missing graph has been logged
    private final ArrayDeque<Branches> idle = new ArrayDeque<>(); // guarded by its own monitor, like `closed`
    private boolean closed;

    /** Capturing streams and events, for a single graph at a time. */
    private static final class Branches {
        final MemorySegment handles = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2 * BRANCHES);
        int count; // number of handles, streams and events alternately
    }

    GpuGraphs(GpuDevice device) {
        this.device = device;
    }

    /**
     * Makes a graph, or updates a graph to the same commands with other parameters.
     *
     * @param words commands without waits and records
     * @param graph 0 for a new graph
     * @return the graph; 0 if the driver has no graphs, or does not make this graph now; the given graph is then
     *     released
     */
    long make(GpuWords words, long graph) {
        Branches branches = unsupported ? null : take();
        if (branches == null) {
            return graph == 0 ? 0 : dropped(graph);
        }
        try {
            return make(words, graph, branches);
        } finally {
            giveBack(branches);
        }
    }

    private long make(GpuWords words, long graph, Branches branches) { // GPU-6
        try {
            int branching = words.hasBranches() ? BRANCHES : 1;
            for (; branches.count < 2 * branching; branches.count++) {
                branches.handles.setAtIndex(
                        ValueLayout.JAVA_LONG,
                        branches.count,
                        branches.count % 2 == 0 ? device.createStream() : device.createEvent());
            }
            return device.makeGraph(branches.handles.asSlice(0, 2L * branching * Long.BYTES), words.segment(), graph);
        } catch (IreeException e) {
            if (graph != 0) { // the graph cannot be updated to these commands
                dropped(graph);
                return make(words, 0, branches);
            }
            unsupported = e.code() == StatusCode.UNIMPLEMENTED;
            if (!unsupported && !device.isLost() && told.compareAndSet(false, true)) {
                LOG.warn("commands are given one by one, since the driver made no graph of them: {}", e.getMessage());
            }
            return 0;
        }
    }

    /** Takes branches not used by another maker; null when closed. */
    private @Nullable Branches take() {
        synchronized (idle) {
            if (closed) {
                return null;
            }
            Branches found = idle.pollLast();
            return found == null ? new Branches() : found;
        }
    }

    private void giveBack(Branches branches) {
        synchronized (idle) {
            if (!closed) {
                idle.addLast(branches);
                return;
            }
        }
        release(branches);
    }

    private void release(Branches branches) {
        for (; branches.count > 0; branches.count--) {
            long handle = branches.handles.getAtIndex(ValueLayout.JAVA_LONG, branches.count - 1);
            if (branches.count % 2 == 0) {
                device.releaseEvent(handle);
            } else {
                device.releaseStream(handle);
            }
        }
    }

    private long dropped(long graph) {
        device.releaseGraph(graph);
        return 0;
    }

    /** Counts a launch. */
    void countLaunch() {
        launches.incrementAndGet();
    }

    /** Returns the number of launches. */
    long launches() {
        return launches.get();
    }

    /** Makes no more graphs; existing graphs remain until released. */
    @Override
    public void close() {
        List<Branches> unused;
        synchronized (idle) {
            closed = true;
            unused = List.copyOf(idle);
            idle.clear();
        }
        unused.forEach(this::release);
    }
}

package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.GpuDevice;
import io.github.iree4j.nativeaccess.GpuWords;
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
 * Makes graphs of commands that are executed repeatedly, which the driver launches with one call. They are captured on dedicated streams; the
 * commands of a region become branches of the graph. Safe from any thread.
 *
 * <p>GPU-6: each maker has capturing streams for itself, and makes the graph under no lock: a driver may first wait for all work of the
 * device.
 */
final class GpuGraphs implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GpuGraphs.class);

    /** How many commands of a region can run at once. A guess: no device was available to measure it. */
    private static final int BRANCHES = 4;

    private final GpuDevice device;
    private final AtomicLong launches = new AtomicLong();
    private volatile boolean unsupported; // the driver has no graphs
    private final AtomicBoolean told = new AtomicBoolean(); // that one was not made
    private final ArrayDeque<Branches> idle = new ArrayDeque<>(); // guarded by itself, like the next
    private boolean closed;

    /** What one graph at a time is captured on. */
    private static final class Branches {
        final MemorySegment handles = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2 * BRANCHES);
        int count; // of handles, streams and events alternately
    }

    GpuGraphs(GpuDevice device) {
        this.device = device;
    }

    /**
     * Makes a graph, or updates one to the same commands with other parameters.
     *
     * @param words commands that neither wait nor record
     * @param graph 0 for a new one
     * @return the graph; 0 if the driver has none, or does not make this one now; the given one is then released
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
            if (graph != 0) { // it cannot be updated to these commands
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

    /** Takes branches that no other maker has; null when this is closed. */
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

    /** The number of launches. */
    long launches() {
        return launches.get();
    }

    /** Makes no more graphs; existing ones remain until they are released. */
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

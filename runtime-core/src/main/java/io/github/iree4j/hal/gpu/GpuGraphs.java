package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.GpuDevice;
import io.github.iree4j.nativeaccess.GpuWords;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes graphs of commands that are executed repeatedly, which the driver launches with one call. They are captured on dedicated streams; the
 * commands of a region become branches of the graph. Safe from any thread.
 */
final class GpuGraphs implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GpuGraphs.class);

    /** How many commands of a region can run at once. A guess: no device was available to measure it. */
    private static final int BRANCHES = 4;

    private final GpuDevice device;
    private final AtomicLong launches = new AtomicLong();
    private volatile boolean unsupported; // the driver has no graphs
    private final AtomicBoolean told = new AtomicBoolean(); // that one was not made
    private final MemorySegment branches = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2 * BRANCHES);
    private int
            handles; // number of handles in `branches`, streams and events alternately; guarded by this, like the next
    private boolean closed;

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
    synchronized long make(GpuWords words, long graph) {
        if (unsupported || closed) {
            return graph == 0 ? 0 : dropped(graph);
        }
        try {
            int branching = words.hasBranches() ? BRANCHES : 1;
            for (; handles < 2 * branching; handles++) {
                branches.setAtIndex(
                        ValueLayout.JAVA_LONG,
                        handles,
                        handles % 2 == 0 ? device.createStream() : device.createEvent());
            }
            return device.makeGraph(branches.asSlice(0, 2L * branching * Long.BYTES), words.segment(), graph);
        } catch (IreeException e) {
            if (graph != 0) { // it cannot be updated to these commands
                dropped(graph);
                return make(words, 0);
            }
            unsupported = e.code() == StatusCode.UNIMPLEMENTED;
            if (!unsupported && !device.isLost() && told.compareAndSet(false, true)) {
                LOG.warn("commands are given one by one, since the driver made no graph of them: {}", e.getMessage());
            }
            return 0;
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
    public synchronized void close() {
        closed = true;
        for (; handles > 0; handles--) {
            long handle = branches.getAtIndex(ValueLayout.JAVA_LONG, handles - 1);
            if (handles % 2 == 0) {
                device.releaseEvent(handle);
            } else {
                device.releaseStream(handle);
            }
        }
    }
}

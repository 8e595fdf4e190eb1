package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.nativeaccess.gpu.GpuWords;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Commands of an execution, as words. A stream runs commands in order, so no barriers are encoded. Confined to one
 * thread at a time.
 *
 * <p>Host steps divide the commands: the commands after a step are given after the preceding commands have completed
 * and the step has run.
 */
final class GpuCommands implements TransferCommands, DriverCommands {
    private static final int SEED = 8; // bytes of a pattern written before doubling

    /** A step of the host between commands. */
    interface Step {
        /**
         * Runs the step: preceding commands have ended, subsequent commands have not been given yet.
         *
         * @throws io.github.iree4j.status.IreeException if the subsequent commands cannot run
         */
        void run();
    }

    /** A step, the commands made by the step, and the commands after the step. */
    private record Part(Step step, GpuWords made, GpuWords words) {}

    private final GpuEncoder encoder;
    private final GpuWords words = new GpuWords();
    private final List<Part> parts = new ArrayList<>(0);
    private GpuWords current = words;
    private boolean blocks;
    private @Nullable GpuWords launch; // launch of the graph, once made
    private long graph; // graph of the same commands; 0 for none
    private volatile boolean graphRefused; // written by the giving thread

    GpuCommands(GpuEncoder encoder) {
        this.encoder = encoder;
    }

    /** Removes all commands. */
    void clear() {
        words.clear();
        parts.clear();
        current = words;
        blocks = false;
        dropGraph();
    }

    /** Returns the commands before the first step. */
    GpuWords words() {
        return words;
    }

    /** Returns the words given to the stream for {@link #words}: a graph, if there is a graph. */
    GpuWords given() {
        return graph == 0 || launch == null ? words : launch;
    }

    /** Returns whether a graph is given. */
    boolean isGraph() {
        return graph != 0;
    }

    /** Gives a graph instead of the commands, until the commands are removed. */
    void useGraph(long same) {
        graph = same;
        GpuWords own = launch == null ? new GpuWords() : launch;
        own.clear();
        own.graph(same);
        launch = own;
    }

    /** Records that the driver has not launched the graph. */
    void refuseGraph() {
        graphRefused = isGraph();
    }

    boolean isGraphRefused() {
        return graphRefused;
    }

    /** Gives the commands again. */
    void dropGraph() {
        graph = 0;
        graphRefused = false;
    }

    /** Returns the words receiving new commands. */
    GpuWords current() {
        return current;
    }

    /** Returns the number of commands given to the stream. */
    int count() {
        int count = given().commands();
        for (Part part : parts) {
            count += 1 + part.words.commands();
        }
        return count;
    }

    /** Returns whether a thread giving the commands may have to wait for the end of preceding commands. */
    boolean needsHost() {
        return blocks || !parts.isEmpty();
    }

    /** Adds a step: commands added from now on come after the step, and after the commands made by the step. */
    void step(Step step, GpuWords made) {
        current = new GpuWords();
        parts.add(new Part(step, made, current));
    }

    /** On the lane's thread: gives the commands and runs the steps. */
    void giveInSteps(GpuLane lane) {
        GpuWords last = words;
        for (Part part : parts) {
            lane.runToEnd(last);
            part.step.run();
            lane.run(part.made);
            last = part.words;
        }
        lane.run(last);
    }

    @Override
    public void fill(StreamStorage target, long offset, long length, long pattern, int patternLength) {
        if (length == 0) {
            return;
        }
        long address = target.deviceAddress() + offset;
        boolean ofHost = target.host() != null;
        int unit = unit(pattern, patternLength);
        if (unit <= Integer.BYTES && address % unit == 0) {
            for (long done = 0, next; done < length; done += next) {
                next = ofHost ? encoder.together(address + done, length - done) : length; // whole pages
                current.fill(address + done, next, (int) pattern, unit);
            }
            return;
        }
        // The driver supports neither fills of eight bytes at a time nor fills at odd addresses.
        blocks |= ofHost && length > SEED;
        int seed = (int) Math.min(SEED, length);
        for (int i = 0; i < seed; i++) {
            current.fill(address + i, 1, (int) (pattern >>> Byte.SIZE * (i % patternLength)) & 0xFF, 1);
        }
        for (long done = seed; done < length; ) {
            long next = Math.min(done, length - done);
            copy(address, ofHost, address + done, ofHost, next);
            done += next;
        }
    }

    /** Returns the length of the shortest pattern with the same bytes. */
    private static int unit(long pattern, int patternLength) {
        int unit = patternLength;
        while (unit > 1) {
            int half = unit / 2;
            long mask = (1L << half * Byte.SIZE) - 1;
            if ((pattern & mask) != (pattern >>> half * Byte.SIZE & mask)) {
                return unit;
            }
            unit = half;
        }
        return unit;
    }

    @Override
    public void copy(StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length) {
        if (length == 0) {
            return;
        }
        // Copies from host to host block the driver's caller until the end of the copy.
        blocks |= source.host() != null && target.host() != null;
        copy(
                source.deviceAddress() + sourceOffset,
                source.host() != null,
                target.deviceAddress() + targetOffset,
                target.host() != null,
                length);
    }

    /** Copies from memory of any kind to memory of the host; the caller gives the copy in steps. */
    void copyToHost(long source, long target, long length) {
        copy(source, true, target, true, length);
    }

    private void copy(long source, boolean fromHost, long target, boolean toHost, long length) {
        for (long done = 0, next; done < length; done += next) {
            next = length - done;
            next = fromHost ? encoder.together(source + done, next) : next;
            next = toHost ? encoder.together(target + done, next) : next;
            current.copy(target + done, source + done, next);
        }
    }

    @Override
    public DriverCommands finish(String operation) {
        return this;
    }

    @Override
    public void release() {
        encoder.giveBack(this);
    }
}

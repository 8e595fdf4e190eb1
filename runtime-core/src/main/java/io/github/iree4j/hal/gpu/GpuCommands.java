package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.nativeaccess.GpuWords;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands of one execution, as words. A stream runs its commands in order, so no barriers are encoded. Confined to one thread at a time.
 *
 * <p>Host steps divide them: the commands after a step are given once those before it have completed and the step has run.
 */
final class GpuCommands implements TransferCommands, DriverCommands {
    private static final int SEED = 8; // bytes of a pattern that is written before it is doubled

    /** A step of the host between commands. */
    interface Step {
        /**
         * Takes the step: what comes before is over, what comes after was not given yet.
         *
         * @throws io.github.iree4j.status.IreeException if what comes after cannot run
         */
        void run();
    }

    /** A step, the commands that it makes, and those after it. */
    private record Part(Step step, GpuWords made, GpuWords words) {}

    private final GpuEncoder encoder;
    private final GpuWords words = new GpuWords();
    private final List<Part> parts = new ArrayList<>(0);
    private GpuWords current = words;
    private boolean blocks;
    private final GpuWords launch = new GpuWords(); // of the graph
    private long graph; // that does the same; 0 for none
    private volatile boolean graphRefused; // written by the thread that gives it

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

    /** The commands, those before the first step. */
    GpuWords words() {
        return words;
    }

    /** What the stream is given for {@link #words}: a graph where there is one. */
    GpuWords given() {
        return graph == 0 ? words : launch;
    }

    /** Whether a graph is given. */
    boolean isGraph() {
        return graph != 0;
    }

    /** Has a graph given instead of the commands, until they are removed. */
    void useGraph(long same) {
        graph = same;
        launch.clear();
        launch.graph(same);
    }

    /** The driver has not launched the graph. */
    void refuseGraph() {
        graphRefused = isGraph();
    }

    boolean isGraphRefused() {
        return graphRefused;
    }

    /** Has the commands given again. */
    void dropGraph() {
        graph = 0;
        graphRefused = false;
    }

    /** Where commands are added. */
    GpuWords current() {
        return current;
    }

    /** How many the stream is given. */
    int count() {
        int count = given().commands();
        for (Part part : parts) {
            count += 1 + part.words.commands();
        }
        return count;
    }

    /** Whether a thread that gives them may have to wait until what is before them is over. */
    boolean needsHost() {
        return blocks || !parts.isEmpty();
    }

    /** Adds a step: what is added from now on comes after it, and after the commands that it makes. */
    void step(Step step, GpuWords made) {
        current = new GpuWords();
        parts.add(new Part(step, made, current));
    }

    /** On the lane's thread: gives the commands and takes the steps. */
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
        // The driver fills neither eight bytes at a time nor at odd addresses.
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

    /** The length of the shortest pattern that gives the same bytes. */
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
        // From the host to the host the driver has its caller wait until it has copied.
        blocks |= source.host() != null && target.host() != null;
        copy(
                source.deviceAddress() + sourceOffset,
                source.host() != null,
                target.deviceAddress() + targetOffset,
                target.host() != null,
                length);
    }

    /** Copies from memory of any kind to memory of the host; the caller gives it in steps. */
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

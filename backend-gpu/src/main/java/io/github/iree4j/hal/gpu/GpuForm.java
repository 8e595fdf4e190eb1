package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamMemory;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuWords;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Commands of a {@link Recording}, written again after a buffer has moved. */
final class GpuForm implements CommandForm {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /**
     * Minimum number of commands for a graph. On an H200 a graph of a single command costs as much as the launch, and a
     * graph of two commands less than two launches; {@code run.sh threshold} measures the best value for other devices.
     */
    private static final int GRAPH_COMMANDS = Integer.getInteger("iree.gpu.graph-commands", 2);

    /** Maximum number of executions between attempts to make a graph: an attempt costs as much as some executions. */
    private static final int PATIENCE_LIMIT = 1024;

    private static final int COUNTS_BYTES = 3 * Integer.BYTES;

    private final GpuEncoder encoder;
    private final Recording recording;
    private final ResolvedBindings bindings;
    private final @Nullable StreamStorage updates;
    private final GpuCommands commands;
    private final StreamMemory.@Nullable Block counts; // staging for the counts of indirect dispatches
    private boolean written;
    private int repeats; // unchanged preparations since the last change or attempt to make a graph
    private int patience =
            1; // number of repeats that make a graph; doubled when the driver makes none, or does not launch the graph
    private long graph; // 0 for none
    private final boolean oneShot; // executed once: a repetition is another form
    private KnownGraphs.@Nullable Known known; // graph shared with earlier forms of the same commands

    GpuForm(
            GpuEncoder encoder,
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            boolean oneShot) {
        this.oneShot = oneShot;
        this.encoder = encoder;
        this.recording = recording;
        this.bindings = bindings;
        this.updates = updates;
        this.commands = encoder.take();
        long bytes = 0;
        for (int at : recording.commands()) {
            bytes += recording.opcode(at) == Recording.INDIRECT ? COUNTS_BYTES : 0;
        }
        this.counts = bytes == 0 ? null : encoder.takeCounts(bytes);
        encoder.hardware().device().retain(); // until closed, possibly after the driver
    }

    @Override
    public DriverCommands prepare(String operation) {
        if (commands.isGraphRefused()) {
            commands.dropGraph();
            encoder.hardware().device().releaseGraph(graph);
            graph = 0;
            postpone();
        }
        if (written && !bindings.anyChanged()) {
            repeat();
        } else {
            written = false;
            repeats = 0;
            commands.clear();
            write();
            written = true;
            if (oneShot) {
                useKnown();
            }
        }
        if (commands.isGraph()) {
            encoder.hardware().graphs().countLaunch();
        }
        return commands;
    }

    private void write() {
        int[] positions = recording.commands();
        long countsAt = 0;
        boolean isSpread = false; // whether the preceding region has branches
        for (int region = 0; region < recording.regionCount(); region++) {
            int first = recording.firstCommand(region);
            int end = recording.firstCommand(region + 1);
            if (isSpread || end - first > 1) {
                commands.current().region();
            }
            isSpread = end - first > 1;
            for (int i = first; i < end; i++) {
                int at = positions[i];
                if (i > first) {
                    commands.current().branch();
                }
                if (!recording.isDispatch(at)) {
                    bindings.transfer(at, updates, commands);
                } else if (recording.opcode(at) == Recording.INDIRECT) {
                    indirect(at, countsAt);
                    countsAt += COUNTS_BYTES;
                } else {
                    launch(
                            at,
                            commands.current(),
                            recording.workgroupCount(at, 0),
                            recording.workgroupCount(at, 1),
                            recording.workgroupCount(at, 2));
                }
            }
        }
    }

    /** Launches a graph, if an earlier form had the same commands. */
    private void useKnown() {
        if (commands.needsHost() || commands.count() < GRAPH_COMMANDS) {
            return;
        }
        KnownGraphs.Known found = encoder.hardware().knownGraphs().use(commands.words());
        if (found != null) {
            known = found;
            commands.useGraph(found.graph());
        }
    }

    private void endKnown() {
        KnownGraphs.Known used = known;
        if (used != null) {
            known = null;
            encoder.hardware().knownGraphs().end(used, commands.isGraphRefused());
        }
    }

    /** Makes a graph of commands executed again unchanged, since such commands are likely to be executed more often. */
    private void repeat() {
        if (commands.isGraph() || commands.needsHost() || commands.count() < GRAPH_COMMANDS || ++repeats < patience) {
            return;
        }
        graph = encoder.hardware().graphs().make(commands.words(), graph);
        if (graph == 0) {
            postpone();
        } else {
            commands.useGraph(graph);
        }
    }

    /** Doubles the patience: a driver lacking resources now may have resources later. */
    private void postpone() {
        repeats = 0;
        patience = Math.min(2 * patience, PATIENCE_LIMIT);
    }

    /** Adds a launch, unless there are no workgroups: the driver refuses empty launches. */
    private void launch(int at, GpuWords words, int x, int y, int z) {
        if (x == 0 || y == 0 || z == 0) {
            return;
        }
        GpuKernel kernel = GpuKernel.of(recording, at);
        ExecutableExport export = kernel.export();
        int buffers = recording.bindingCount(at);
        int constants = recording.constantCount(at);
        int parameter = words.launch(
                kernel.handle(),
                x,
                y,
                z,
                export.workgroupSizeX(),
                export.workgroupSizeY(),
                export.workgroupSizeZ(),
                kernel.dynamicSharedBytes(),
                buffers + constants);
        int range = recording.bindings(at);
        for (int i = 0; i < buffers; i++, range += Recording.RANGE_WORDS) {
            words.parameter(parameter++, bindings.address(range));
        }
        for (int i = 0; i < constants; i++) {
            words.parameter(parameter++, recording.constant(at, i));
        }
    }

    /**
     * Encodes an indirect dispatch. The driver takes counts from the host only: the counts are copied to the host, and
     * later commands are given once the counts are known.
     */
    private void indirect(int at, long countsAt) {
        StreamStorage storage = Objects.requireNonNull(counts).storage();
        int range = recording.counts(at);
        if (bindings.length(range) < COUNTS_BYTES) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup counts of dispatch '%s' are %d bytes, the buffer has %d there"
                            .formatted(
                                    GpuKernel.of(recording, at).export().name(), COUNTS_BYTES, bindings.length(range)));
        }
        commands.copyToHost(bindings.address(range), storage.deviceAddress() + countsAt, COUNTS_BYTES);
        GpuWords launch = new GpuWords();
        commands.step(
                () -> {
                    MemorySegment known = storage.mapped();
                    int x = known.get(INT, countsAt);
                    int y = known.get(INT, countsAt + Integer.BYTES);
                    int z = known.get(INT, countsAt + 2 * Integer.BYTES);
                    encoder.limits().checkCounts(GpuKernel.of(recording, at).export(), x, y, z);
                    launch.clear();
                    launch(at, launch, x, y, z);
                },
                launch);
    }

    @Override
    public void invalidate() {
        written = false;
    }

    @Override
    public void close() {
        GpuDevice device = encoder.hardware().device();
        endKnown();
        if (graph != 0) {
            device.releaseGraph(graph);
        }
        encoder.giveBack(commands);
        device.release();
        if (counts != null) {
            encoder.giveBackCounts(counts);
        }
    }
}

package io.github.iree4j.hal.programs;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A program of queue operations and work of the host: made by {@link ProgramGenerator}, foretold by {@link
 * SequentialOracle} and executed by {@link ProgramRun}. A value: nothing inside changes, and everything follows from
 * the seed.
 *
 * @param seed the seed of the generation
 * @param setup the devices, and the way of opening
 * @param lines how many timelines there are
 * @param blocks memory allocated by nodes
 * @param recordings command buffers, shared by executing nodes
 * @param nodes the nodes, in an order permitted by the waits
 * @param submission the order of submitting operations, dealt to the submitting threads in turn
 */
record QueueProgram(
        long seed,
        Setup setup,
        int lines,
        List<Block> blocks,
        List<Recording> recordings,
        List<Node> nodes,
        List<Integer> submission) {

    /** The driver's owner. */
    enum Backend {
        CPU,
        CUDA,
        HIP,
        VULKAN
    }

    /**
     * A device.
     *
     * @param workers of a CPU
     * @param budget most bytes of memory; 0 for the device's amount
     */
    record DeviceSetup(Backend backend, int queues, int workers, long budget) {}

    /**
     * How the program is run.
     *
     * @param capacity of frontiers
     * @param history of timelines
     * @param threads how many submit
     */
    record Setup(int capacity, int history, int threads, List<DeviceSetup> devices) {}

    /**
     * Memory allocated by a queue.
     *
     * @param shown whether visible to the host
     * @param closed whether the handle is closed as soon as the last use is submitted; else when all is over
     * @param consumer the account of the bytes
     */
    record Block(int device, int size, boolean shown, boolean closed, String consumer) {}

    /** A part of a block; of a binding, in a recording. */
    record Range(int block, int offset, int length) {
        int end() {
            return offset + length;
        }

        boolean overlaps(Range other) {
            return block == other.block && offset < other.end() && other.offset < end();
        }
    }

    /** The effect of a node on bytes. */
    sealed interface Effect {
        /** The bytes read; null for nothing. */
        default @Nullable Range read() {
            return null;
        }

        /** The bytes written; null for nothing. */
        default @Nullable Range written() {
            return null;
        }
    }

    /** A pattern of so many bytes, repeated. */
    record Fill(Range written, long pattern, int width) implements Effect {}

    /** Bytes derived from a number, each different from the neighbours. */
    record Update(Range written, long salt) implements Effect {
        byte at(int index) {
            long mixed = (salt + index) * 0x9E3779B97F4A7C15L;
            return (byte) (mixed >>> 56);
        }
    }

    /** Bytes from elsewhere. */
    record Copy(Range read, Range written) implements Effect {}

    /** Ints from elsewhere, multiplied and added to. */
    record Scale(Range read, Range written, int factor, int addend) implements Effect {}

    /** Bytes checked by the host. */
    record Look(Range read) implements Effect {}

    /** A command buffer with ranges inside the bindings, each of {@link #BINDING} bytes. */
    record Recording(int device, int bindings, List<Effect> effects) {
        static final int BINDING = 512;
    }

    /** A value of a timeline. */
    record Point(int line, long value) {}

    /** The kind of a node. */
    enum Kind {
        ALLOCA,
        DEALLOCA,
        COMMAND,
        EXECUTE,
        BARRIER,
        HOST_CALL,
        DEFERRED_CALL,
        /** No operation of a queue: the host waits, if at all, and signals. */
        BY_HAND
    }

    /** Why a node fails by itself. */
    enum Fault {
        /** The host call throws. */
        THROWS,
        /** A deferred call is failed after the begin. */
        FAILED_LATER,
        /** The host fails the timelines instead of signalling. */
        BY_HAND,
        /** The range is outside of the buffer, as found by the submission. */
        OUT_OF_RANGE,
        /** The memory has been deallocated. */
        AFTER_DEALLOCA
    }

    /**
     * A node of the program.
     *
     * @param device where; -1 for the host
     * @param block the block allocated or deallocated; else -1
     * @param recording the recording executed; else -1
     * @param bindings of the recording
     * @param effects the effects on bytes, one after the other
     * @param pause microseconds between begin and end, for deferred calls; from the start, for the host
     * @param racing whether signals may come too late, which then is no error
     * @param external whether signals come as from foreign code
     */
    record Node(
            int index,
            Kind kind,
            int device,
            int queue,
            List<Point> waits,
            List<Point> signals,
            int block,
            int recording,
            List<Range> bindings,
            List<Effect> effects,
            @Nullable Fault fault,
            int pause,
            boolean racing,
            boolean external) {

        private Node as(Kind other, int number, List<Point> waiting, List<Point> signalling, List<Effect> doing) {
            return new Node(
                    number,
                    other,
                    device,
                    queue,
                    waiting,
                    signalling,
                    block,
                    recording,
                    bindings,
                    doing,
                    fault,
                    pause,
                    racing,
                    external);
        }

        /** The message of the node's own failure. */
        String token() {
            return "fault of node " + index + ";";
        }

        /** The blocks with needed handles. */
        List<Integer> handles() {
            List<Integer> handles = new ArrayList<>();
            if (kind == Kind.DEALLOCA) {
                handles.add(block);
            }
            bindings.forEach(r -> handles.add(r.block));
            for (Effect effect : effects) {
                if (effect.read() instanceof Range range) {
                    handles.add(range.block);
                }
                if (effect.written() instanceof Range range) {
                    handles.add(range.block);
                }
            }
            return handles.stream().distinct().toList();
        }
    }

    /** The same on other devices. */
    QueueProgram with(List<DeviceSetup> devices) {
        Setup other = new Setup(setup.capacity, setup.history, setup.threads, devices);
        return new QueueProgram(seed, other, lines, blocks, recordings, nodes, submission);
    }

    /** The same, but commands begin as soon as memory is there, and only the signals wait. */
    QueueProgram withEarlyCommands() {
        List<Node> all = new ArrayList<>(nodes);
        List<Integer> submitted = new ArrayList<>();
        int more = lines;
        for (int index : submission) {
            Node node = nodes.get(index);
            if (node.kind == Kind.COMMAND && node.fault == null) {
                Point end = new Point(more++, 1);
                submitted.add(all.size());
                List<Point> there = node.handles().stream().map(this::allocated).toList();
                all.add(node.as(Kind.COMMAND, all.size(), there, List.of(end), node.effects));
                List<Point> waits = new ArrayList<>(node.waits);
                waits.add(end);
                all.set(index, node.as(Kind.BARRIER, index, waits, node.signals, List.of()));
            }
            submitted.add(index);
        }
        return new QueueProgram(seed, setup, more, blocks, recordings, all, submitted);
    }

    private Point allocated(int block) {
        return nodes.stream()
                .filter(n -> n.kind == Kind.ALLOCA && n.block == block)
                .findFirst()
                .orElseThrow()
                .signals
                .getFirst();
    }

    /** The whole program, for a report. */
    String dump() {
        StringBuilder text = new StringBuilder("program " + seed + ", " + setup + "\n");
        for (int i = 0; i < blocks.size(); i++) {
            text.append("  block %d: %s%n".formatted(i, blocks.get(i)));
        }
        for (int i = 0; i < recordings.size(); i++) {
            text.append("  recording %d: %s%n".formatted(i, recordings.get(i)));
        }
        for (Node node : nodes) {
            text.append("  %d %s on %d.%d, waits %s, signals %s"
                    .formatted(node.index, node.kind, node.device, node.queue, brief(node.waits), brief(node.signals)));
            text.append(node.block >= 0 ? ", block " + node.block : "");
            text.append(node.recording >= 0 ? ", recording " + node.recording : "");
            text.append(node.effects.isEmpty() ? "" : ", " + node.effects);
            text.append(node.fault == null ? "" : ", " + node.fault);
            text.append(node.racing ? ", racing" : "").append(node.external ? ", external" : "");
            text.append(node.pause > 0 ? ", after " + node.pause + " us" : "").append('\n');
        }
        return text.append("  submitted ").append(submission).append('\n').toString();
    }

    private static String brief(List<Point> points) {
        return points.stream().map(p -> "t" + p.line + ":" + p.value).toList().toString();
    }
}

package io.github.iree4j.hal.programs;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HostCallCompletion;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.programs.QueueProgram.Block;
import io.github.iree4j.hal.programs.QueueProgram.Copy;
import io.github.iree4j.hal.programs.QueueProgram.Effect;
import io.github.iree4j.hal.programs.QueueProgram.Fault;
import io.github.iree4j.hal.programs.QueueProgram.Fill;
import io.github.iree4j.hal.programs.QueueProgram.Kind;
import io.github.iree4j.hal.programs.QueueProgram.Look;
import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Range;
import io.github.iree4j.hal.programs.QueueProgram.Recording;
import io.github.iree4j.hal.programs.QueueProgram.Scale;
import io.github.iree4j.hal.programs.QueueProgram.Update;
import io.github.iree4j.hal.stream.MixedDevices;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Turns nodes into operations of queues. Safe from any thread; an operation is submitted once all needed handles are
 * there.
 */
final class NodeSubmitter implements AutoCloseable {
    private static final BufferParams SHOWN = new BufferParams(
            MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
    private static final BufferParams HIDDEN = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    /** Runs work of the host on separate threads. */
    interface Host {
        /** Runs the work so many microseconds later. */
        void later(int micros, Runnable what);
    }

    private final QueueProgram program;
    private final List<Device> devices;
    private final Host host;
    private final List<CompletableFuture<Buffer>> handles = new ArrayList<>();
    private final AtomicIntegerArray uses; // of handles, still to be submitted
    private final Map<Integer, Executable> kernels = new HashMap<>();
    private final List<CommandBuffer> recordings = new ArrayList<>();
    private final Map<List<Integer>, byte[]> seen = new ConcurrentHashMap<>();

    NodeSubmitter(QueueProgram program, List<Device> devices, Host host) {
        this.program = program;
        this.devices = devices;
        this.host = host;
        this.uses = new AtomicIntegerArray(program.blocks().size());
        program.blocks().forEach(b -> handles.add(new CompletableFuture<>()));
        for (Node node : program.nodes()) {
            node.handles().forEach(uses::incrementAndGet);
            if (node.kind() == Kind.COMMAND && node.effects().getFirst() instanceof Scale) {
                kernels(node.device());
            }
        }
        program.recordings().forEach(r -> recordings.add(record(r)));
    }

    private Executable kernels(int device) {
        return kernels.computeIfAbsent(device, d -> MixedDevices.kernels(devices.get(d)));
    }

    private CommandBuffer record(Recording recording) {
        CommandBuffer commands = devices.get(recording.device())
                .createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, recording.bindings());
        for (Effect effect : recording.effects()) {
            switch (effect) {
                case Fill fill -> commands.fillBuffer(slot(fill.written()), fill.pattern(), fill.width(), 0);
                case Update update -> commands.updateBuffer(bytes(update), slot(update.written()), 0);
                case Copy copy -> commands.copyBuffer(slot(copy.read()), slot(copy.written()), 0);
                case Scale scale ->
                    commands.dispatch(
                            kernels(recording.device()),
                            JavaKernels.SCALE,
                            grid(scale),
                            constants(scale),
                            List.of(slot(scale.read()), slot(scale.written())),
                            0);
                case Look look -> throw new IllegalStateException("commands do not look: " + look);
            }
            commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        }
        commands.finish();
        return commands;
    }

    private static BufferRef slot(Range range) {
        return BufferRef.slot(range.block(), range.offset(), range.length());
    }

    private static DispatchConfig grid(Scale scale) {
        return DispatchConfig.of(scale.written().length() / 4, 1, 1);
    }

    private static int[] constants(Scale scale) {
        return new int[] {scale.factor(), scale.addend()};
    }

    private static MemorySegment bytes(Update update) {
        byte[] bytes = new byte[update.written().length()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = update.at(i);
        }
        return MemorySegment.ofArray(bytes);
    }

    /** The handle of a block; waits until present. */
    Buffer handle(int block) {
        return handles.get(block).join();
    }

    /** The bytes seen by an effect of a node; null when not run. */
    byte @Nullable [] seen(int node, int effect) {
        return seen.get(List.of(node, effect));
    }

    /** The failure of a node by itself. */
    static IreeException fault(Node node) {
        return IreeException.of(StatusCode.DATA_LOSS, node.token());
    }

    /** Submits an operation. */
    void submit(Node node, @Nullable Fence wait, @Nullable Fence signal) {
        DeviceQueue queue = devices.get(node.device()).queue(node.queue());
        switch (node.kind()) {
            case ALLOCA -> {
                Block block = program.blocks().get(node.block());
                BufferParams params = (block.shown() ? SHOWN : HIDDEN).withConsumer(block.consumer());
                long flags = node.index() % 3 == 0 ? DeviceQueue.ALLOCA_ALLOW_POOL_WAIT_FRONTIER : 0; // any of them
                handles.get(node.block()).complete(queue.alloca(wait, signal, params, block.size(), flags));
            }
            case DEALLOCA -> {
                long flags = node.index() % 2 == 0 ? DeviceQueue.DEALLOCA_PREFER_ORIGIN : 0; // any of them
                queue.dealloca(wait, signal, handle(node.block()), flags);
            }
            case COMMAND -> command(node, queue, wait, signal);
            case EXECUTE -> queue.execute(wait, signal, recordings.get(node.recording()), table(node.bindings()), 0);
            case BARRIER -> queue.barrier(wait, signal, 0);
            case HOST_CALL -> queue.hostCall(wait, signal, () -> call(node), 0);
            case DEFERRED_CALL -> queue.deferredHostCall(wait, signal, completion -> begin(node, completion));
            case BY_HAND -> throw new IllegalStateException("not an operation: " + node);
        }
        for (int block : node.handles()) {
            if (uses.decrementAndGet(block) == 0 && program.blocks().get(block).closed()) {
                handle(block).close();
            }
        }
    }

    private BindingTable table(List<Range> ranges) {
        BindingTable table = new BindingTable();
        ranges.forEach(r -> table.add(handle(r.block()), r.offset(), r.length()));
        return table;
    }

    private void command(Node node, DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal) {
        Effect effect = node.effects().getFirst();
        Range from = effect.read() instanceof Range read ? read : new Range(0, 0, 0);
        Range into = effect.written() instanceof Range written ? written : new Range(0, 0, 0);
        Buffer target = handle(into.block());
        switch (effect) {
            case Fill fill ->
                queue.fill(wait, signal, target, into.offset(), into.length(), fill.pattern(), fill.width(), 0);
            case Update update -> queue.update(wait, signal, bytes(update), target, into.offset(), 0);
            case Copy copy ->
                queue.copy(
                        wait,
                        signal,
                        handle(copy.read().block()),
                        from.offset(),
                        target,
                        into.offset(),
                        into.length(),
                        0);
            case Scale scale ->
                queue.dispatch(
                        wait,
                        signal,
                        kernels(node.device()),
                        JavaKernels.SCALE,
                        grid(scale),
                        constants(scale),
                        table(List.of(from, into)),
                        0);
            case Look look -> throw new IllegalStateException("queues do not look: " + look);
        }
    }

    private void call(Node node) {
        if (node.fault() != null) {
            throw fault(node);
        }
        act(node);
    }

    private void begin(Node node, HostCallCompletion completion) {
        if (node.fault() == Fault.THROWS) {
            throw fault(node);
        }
        if (node.pause() == 0) {
            end(node, completion);
        } else {
            host.later(node.pause(), () -> end(node, completion));
        }
    }

    private void end(Node node, HostCallCompletion completion) {
        try {
            call(node);
            completion.complete();
        } catch (IreeException e) {
            completion.fail(e);
        }
    }

    /** The host's part. */
    private void act(Node node) {
        for (int i = 0; i < node.effects().size(); i++) {
            switch (node.effects().get(i)) {
                case Update update -> map(update.written(), MemoryAccess.WRITE).copyFrom(bytes(update));
                case Copy copy -> map(copy.written(), MemoryAccess.WRITE).copyFrom(map(copy.read(), MemoryAccess.READ));
                case Look look ->
                    seen.put(
                            List.of(node.index(), i),
                            map(look.read(), MemoryAccess.READ).toArray(ValueLayout.JAVA_BYTE));
                case Fill fill -> throw new IllegalStateException("hosts do not fill: " + fill);
                case Scale scale -> throw new IllegalStateException("hosts do not scale: " + scale);
            }
        }
    }

    private MemorySegment map(Range range, int access) {
        return handle(range.block()).map(access, range.offset(), range.length());
    }

    @Override
    public void close() {
        recordings.forEach(CommandBuffer::close);
        kernels.values().forEach(Executable::close);
    }
}

package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Recorded commands sent by a peer, to be recorded again by a device of this node. The device checks the commands like
 * the commands of any program. All ranges are slots. Confined to one thread at a time.
 */
final class RecordedCommands {
    static final int BARRIER = 0;
    static final int FILL = 1;
    static final int UPDATE = 2;
    static final int COPY = 3;
    static final int DISPATCH = 4;
    static final int INDIRECT = 5;

    private static final int COMMANDS_LIMIT = 1 << 16;

    /** Bytes taken by a command here, besides the bytes of the frame. */
    static final int COMMAND_BYTES = 128;

    private final int slots;
    private final List<Consumer<CommandBuffer>> commands = new ArrayList<>();
    private final List<ServerObject> used = new ArrayList<>(0); // retained until release()

    private final int bytes;

    private RecordedCommands(int slots, int bytes) {
        this.slots = slots;
        this.bytes = bytes;
    }

    /**
     * Reads commands. The caller releases the result; when this method throws, the objects found so far have been
     * released.
     *
     * @param objects finds the object of a handle, retained
     */
    static RecordedCommands read(FrameReader in, LongFunction<ServerObject> objects) {
        RecordedCommands read = new RecordedCommands(in.u16("slots"), in.remaining());
        try {
            int count = in.count("commands", in.u32("commands"), 1);
            if (count > COMMANDS_LIMIT) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: %d commands, the limit is %d".formatted(in.type, count, COMMANDS_LIMIT));
            }
            for (int i = 0; i < count; i++) {
                read.commands.add(read.command(in, objects));
            }
            return read;
        } catch (RuntimeException | Error e) {
            read.release();
            throw e;
        }
    }

    /** Returns the approximate memory of the commands, in bytes. */
    long weight() {
        return bytes + (long) COMMAND_BYTES * commands.size();
    }

    private BufferRef slot(FrameReader in) {
        int slot = in.u16("slot");
        if (slot >= slots) {
            throw in.corrupt("slot %d of %d".formatted(slot, slots));
        }
        return BufferRef.slot(slot, 0, Buffer.WHOLE);
    }

    private Consumer<CommandBuffer> command(FrameReader in, LongFunction<ServerObject> objects) {
        int opcode = in.u8("command");
        switch (opcode) {
            case BARRIER -> {
                int stages = CommandBuffer.STAGE_DISPATCH | CommandBuffer.STAGE_TRANSFER;
                return own -> own.executionBarrier(stages, stages, 0);
            }
            case FILL -> {
                BufferRef target = slot(in);
                long pattern = in.u64("pattern");
                int width = in.u8("width");
                return own -> own.fillBuffer(target, pattern, width, 0);
            }
            case UPDATE -> {
                BufferRef target = slot(in);
                MemorySegment bytes = MemorySegment.ofArray(in.bytes("bytes", in.u32("length")));
                BufferRef part = BufferRef.slot(target.slot(), 0, bytes.byteSize());
                return own -> own.updateBuffer(bytes, part, 0);
            }
            case COPY -> {
                BufferRef source = slot(in);
                BufferRef target = slot(in);
                return own -> own.copyBuffer(source, target, 0);
            }
            case DISPATCH, INDIRECT -> {
                return dispatch(in, objects, opcode == INDIRECT);
            }
            default -> throw in.corrupt("unknown command " + opcode);
        }
    }

    private Consumer<CommandBuffer> dispatch(FrameReader in, LongFunction<ServerObject> objects, boolean indirect) {
        ServerObject code = objects.apply(in.u64("executable"));
        used.add(code);
        int export = in.u32("export");
        BufferRef counts = indirect ? slot(in) : null;
        DispatchConfig config = indirect
                ? DispatchConfig.of(0, 0, 0)
                : new DispatchConfig(
                        in.u32("x"),
                        in.u32("y"),
                        in.u32("z"),
                        in.u32("size x"),
                        in.u32("size y"),
                        in.u32("size z"),
                        in.u32("local memory"));
        int[] constants = new int[in.count("constants", in.u8("constants"), 4)];
        for (int i = 0; i < constants.length; i++) {
            constants[i] = in.u32("constant");
        }
        int count = in.count("bindings", in.u8("bindings"), 2);
        List<BufferRef> bindings = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            bindings.add(slot(in));
        }
        return own -> {
            Executable executable = code.get(Executable.class);
            if (counts == null) {
                own.dispatch(executable, export, config, constants, bindings, 0);
            } else {
                own.dispatchIndirect(executable, export, counts, constants, bindings, 0);
            }
        };
    }

    /**
     * Records the commands on a device.
     *
     * @throws IreeException the device's failure
     */
    CommandBuffer record(Device device, boolean oneShot) {
        CommandBuffer own = device.createCommandBuffer(
                oneShot ? CommandBuffer.ONE_SHOT : 0,
                CommandBuffer.TRANSFER | CommandBuffer.DISPATCH,
                QueueAffinity.ANY,
                slots);
        try {
            commands.forEach(each -> each.accept(own));
            own.finish();
            return own;
        } catch (RuntimeException | Error e) {
            own.close();
            throw e;
        }
    }

    void release() {
        used.forEach(ServerObject::release);
        used.clear();
    }
}

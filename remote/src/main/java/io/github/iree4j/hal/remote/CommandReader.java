package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Reads the steps of a COMMAND. Invalid arguments fail the command; a malformed frame fails the session. */
final class CommandReader {
    private static final int STEP_BYTES = 11; // bytes of the shortest step

    private final RemoteServer server;
    private final Device device;
    private final FrameReader in;
    private final ServerCommand command;

    CommandReader(RemoteServer server, Device device, FrameReader in, ServerCommand command) {
        this.server = server;
        this.device = device;
        this.in = in;
        this.command = command;
    }

    void read() {
        int count = in.count("steps", in.u16("steps"), STEP_BYTES);
        for (int i = 0; i < count; i++) {
            step();
        }
    }

    private @Nullable ServerObject object(String field) {
        return object(in.u64(field));
    }

    private @Nullable ServerObject object(long handle) {
        try {
            return server.use(command, handle);
        } catch (IreeException e) {
            command.refuse(e);
            return null;
        }
    }

    private void step() {
        int kind = in.u8("step");
        switch (kind) {
            case Step.FILL -> {
                ServerObject target = object("target");
                long offset = in.size("offset");
                long length = in.size("length");
                long pattern = in.u64("pattern");
                int width = in.u8("width");
                if (target != null) {
                    command.add(
                            "fill",
                            (queue, wait, signal) -> queue.fill(
                                    wait, signal, RemoteServer.buffer(target), offset, length, pattern, width, 0));
                }
            }
            case Step.COPY -> {
                ServerObject source = object("source");
                long from = in.size("source offset");
                ServerObject target = object("target");
                long to = in.size("target offset");
                long length = in.size("length");
                if (source != null && target != null) {
                    command.add(
                            "copy",
                            (queue, wait, signal) -> queue.copy(
                                    wait,
                                    signal,
                                    RemoteServer.buffer(source),
                                    from,
                                    RemoteServer.buffer(target),
                                    to,
                                    length,
                                    0));
                }
            }
            case Step.UPLOAD -> {
                long transfer = server.session().transfers().ofPeer(in, in.u64("transfer"));
                ServerObject target = object("target");
                long offset = in.size("offset");
                long length = in.size("length");
                if (target != null) {
                    TransferFile file =
                            command.own(new TransferFile(server.session().transfers(), transfer, length, true));
                    command.add(
                            "upload",
                            (queue, wait, signal) ->
                                    queue.read(wait, signal, file, 0, RemoteServer.buffer(target), offset, length, 0));
                }
            }
            case Step.CONTENT -> {
                long transfer = server.session().transfers().ofPeer(in, in.u64("transfer"));
                ServerObject target = object("target");
                long offset = in.size("offset");
                long length = in.size("length");
                byte[] digest = in.bytes("digest", 32);
                if (length > Step.Content.MOST) {
                    throw in.corrupt("content of %d bytes, the limit is %d".formatted(length, Step.Content.MOST));
                }
                if (target != null) {
                    ContentFile file = command.own(new ContentFile(server.session(), transfer, length, digest));
                    command.add(
                            "upload",
                            (queue, wait, signal) ->
                                    queue.read(wait, signal, file, 0, RemoteServer.buffer(target), offset, length, 0));
                }
            }
            case Step.FETCH -> {
                long holder = in.u64("holder");
                FetchedRange range = FetchedRange.read(in, server.session().peerIncarnation(), holder);
                ServerObject target = object("target");
                long offset = in.size("offset");
                if (target != null) {
                    FetchFile file =
                            command.fetch(new FetchFile(server.session().node(), range));
                    command.add(
                            "copy",
                            (queue, wait, signal) -> queue.read(
                                    wait, signal, file, 0, RemoteServer.buffer(target), offset, range.length(), 0));
                }
            }
            case Step.DOWNLOAD -> {
                long transfer = server.session().transfers().ofPeer(in, in.u64("transfer"));
                ServerObject source = object("source");
                long offset = in.size("offset");
                long length = in.size("length");
                if (source != null) {
                    TransferFile file =
                            command.own(new TransferFile(server.session().transfers(), transfer, length, false));
                    command.add(
                            Step.DOWNLOAD_NAME,
                            (queue, wait, signal) ->
                                    queue.write(wait, signal, RemoteServer.buffer(source), offset, file, 0, length, 0));
                }
            }
            case Step.UPDATE -> {
                ServerObject target = object("target");
                long offset = in.size("offset");
                MemorySegment bytes = MemorySegment.ofArray(in.bytes("bytes", in.u32("length")));
                if (target != null) {
                    command.add(
                            "update",
                            (queue, wait, signal) ->
                                    queue.update(wait, signal, bytes, RemoteServer.buffer(target), offset, 0));
                }
            }
            case Step.EXECUTE -> execute();
            default -> throw in.corrupt("unknown step " + kind);
        }
    }

    private void execute() {
        long handle = in.u64("recording");
        ServerObject recording = handle == 0 ? inline() : object(handle);
        int count = in.count("bindings", in.u16("bindings"), 24);
        @Nullable ServerObject[] buffers = new @Nullable ServerObject[count];
        long[] places = new long[2 * count];
        for (int i = 0; i < count; i++) {
            long bound = in.u64("binding");
            buffers[i] = bound == 0 ? null : object(bound);
            places[2 * i] = in.size("offset");
            places[2 * i + 1] = in.size("length");
        }
        if (recording == null) {
            return;
        }
        command.add(Step.EXECUTE_NAME, (queue, wait, signal) -> {
            BindingTable table = new BindingTable(count);
            for (int i = 0; i < count; i++) {
                ServerObject bound = buffers[i];
                Buffer buffer = bound == null ? null : RemoteServer.buffer(bound);
                table.add(buffer, places[2 * i], places[2 * i + 1]);
            }
            queue.execute(wait, signal, recording.get(CommandBuffer.class), table, 0);
        });
    }

    /** Reads commands in the frame, and records the commands now. */
    private @Nullable ServerObject inline() {
        int length = in.u32("length");
        int before = in.remaining();
        RecordedCommands commands;
        try {
            commands = RecordedCommands.read(in, server.objects()::find);
        } catch (IreeException e) {
            if (e.code() != StatusCode.NOT_FOUND) {
                throw e;
            }
            command.refuse(e);
            int left = length - (before - in.remaining());
            in.slice("commands", Math.max(0, left));
            return null;
        }
        if (before - in.remaining() != length) {
            commands.release();
            throw in.corrupt("commands of %d bytes have %d".formatted(length, before - in.remaining()));
        }
        command.weigh(commands.weight());
        ServerObject recorded = command.own(new ServerObject("commands", null, () -> {}));
        recorded.make(Runnable::run, () -> {
            try {
                return commands.record(device, true);
            } finally {
                commands.release();
            }
        });
        IreeException failure = recorded.failure();
        if (failure != null) {
            command.refuse(failure);
        }
        return recorded;
    }
}

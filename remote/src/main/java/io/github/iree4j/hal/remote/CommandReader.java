package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads the steps of a COMMAND, as commands of a queue. Invalid arguments fail the command; a malformed frame fails the session. */
final class CommandReader {
    private static final int STEP_BYTES = 11; // bytes of the shortest step

    private final RemoteServer server;
    private final Device device;
    private final FrameReader in;
    private final ServerCommand command;
    private final Transfers transfers;

    CommandReader(RemoteServer server, Device device, FrameReader in, ServerCommand command) {
        this.server = server;
        this.device = device;
        this.in = in;
        this.command = command;
        this.transfers = server.session().transfers();
    }

    void read() {
        int count = in.count("steps", in.u16("steps"), STEP_BYTES);
        for (int i = 0; i < count; i++) {
            int kind = in.u8("step");
            command.add(kind, step(kind));
        }
    }

    /** Returns the object of the handle read next; null after refusing the command, which never makes its steps. */
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

    /** Reads a step; the objects are made when the step is submitted. */
    private Supplier<QueueCommand> step(int kind) {
        switch (kind) {
            case Step.FILL -> {
                ServerObject target = object("target");
                long offset = in.size("offset");
                long length = in.size("length");
                long pattern = in.u64("pattern");
                int width = in.u8("width");
                // The alignment counts from the offset: at the client the buffer may be a part that begins anywhere.
                return () -> new QueueCommand.Fill(
                        command.own(buffer(target).subspan(offset, length)), 0, length, pattern, width);
            }
            case Step.COPY -> {
                ServerObject source = object("source");
                long from = in.size("source offset");
                ServerObject target = object("target");
                long to = in.size("target offset");
                long length = in.size("length");
                return () -> new QueueCommand.Copy(buffer(source), from, buffer(target), to, length);
            }
            case Step.UPLOAD, Step.CONTENT -> {
                long transfer = transfers.ofPeer(in, in.u64("transfer"));
                ServerObject target = object("target");
                long offset = in.size("offset");
                long length = in.size("length");
                HalFile file = command.own(
                        kind == Step.UPLOAD
                                ? new TransferFile(transfers, transfer, length, true)
                                : content(transfer, length));
                return () -> new QueueCommand.Read(file, 0, buffer(target), offset, length);
            }
            case Step.FETCH -> {
                long holder = in.u64("holder");
                FetchedRange range = FetchedRange.read(in, server.session().peerIncarnation(), holder);
                ServerObject target = object("target");
                long offset = in.size("offset");
                FetchFile file = command.fetch(new FetchFile(server.session().node(), range));
                return () -> new QueueCommand.Read(file, 0, buffer(target), offset, range.length());
            }
            case Step.DOWNLOAD -> {
                long transfer = transfers.ofPeer(in, in.u64("transfer"));
                ServerObject source = object("source");
                long offset = in.size("offset");
                long length = in.size("length");
                HalFile file = command.own(new TransferFile(transfers, transfer, length, false));
                return () -> new QueueCommand.Write(buffer(source), offset, file, 0, length);
            }
            case Step.UPDATE -> {
                ServerObject target = object("target");
                long offset = in.size("offset");
                MemorySegment bytes = MemorySegment.ofArray(in.bytes("bytes", in.u32("length")));
                return () -> new QueueCommand.Update(bytes, buffer(target), offset);
            }
            case Step.EXECUTE -> {
                return execute();
            }
            default -> throw in.corrupt("unknown step " + kind);
        }
    }

    private static Buffer buffer(@Nullable ServerObject object) {
        return Objects.requireNonNull(object).buffer();
    }

    private ContentFile content(long transfer, long length) {
        byte[] digest = in.bytes("digest", 32);
        if (length > Step.MOST_CONTENT) {
            throw in.corrupt("content of %d bytes, the limit is %d".formatted(length, Step.MOST_CONTENT));
        }
        return new ContentFile(server.session(), transfer, length, digest);
    }

    private Supplier<QueueCommand> execute() {
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
        return () -> {
            BindingTable table = new BindingTable(count);
            for (int i = 0; i < count; i++) {
                ServerObject bound = buffers[i];
                table.add(bound == null ? null : bound.buffer(), places[2 * i], places[2 * i + 1]);
            }
            return new QueueCommand.Execute(Objects.requireNonNull(recording).get(CommandBuffer.class), table, 0);
        };
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

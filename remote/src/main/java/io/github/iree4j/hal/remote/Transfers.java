package io.github.iree4j.hal.remote;

import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a session under way. A sender has credit for the memory provided by the receiver, and sends chunks
 * from its memory while BULK has room; the receiver copies each arriving chunk to its place. No chunk is kept on either
 * side. Safe from any thread.
 *
 * <p>The client of a transfer chooses the number: odd at the dialer, even at the other side, upwards.
 */
final class Transfers {
    /*
     * REMOTE-3: nothing touches the memory of a transfer once its end was reported: chunks are sent and copied under
     * the lock of the transfer, and the end of the transfer takes the same lock.
     */
    private final RemoteSession session;
    private final int chunk;
    private final Map<Long, Outgoing> outgoing = new HashMap<>(); // guarded by this, like the rest
    private final Map<Long, Incoming> incoming = new HashMap<>();
    private long lastOwn; // number of the last transfer of this side
    private @Nullable IreeException closed;

    Transfers(RemoteSession session, int chunk) {
        this.session = session;
        this.chunk = chunk;
    }

    /** The part of a side in a transfer. */
    private abstract static class Part {
        final long number;
        final long base; // start of this part in the whole transfer
        final long length;
        final Consumer<@Nullable IreeException> done;
        private final Supplier<@Nullable IreeException> stop;
        boolean over; // guarded by this

        Part(
                long number,
                long base,
                long length,
                Supplier<@Nullable IreeException> stop,
                Consumer<@Nullable IreeException> done) {
            this.number = number;
            this.base = base;
            this.length = length;
            this.stop = stop;
            this.done = done;
        }

        @Nullable
        IreeException stopCause() {
            return stop.get();
        }

        /** Ends the part; returns false when ended before. */
        synchronized boolean end() { // REMOTE-3
            boolean was = over;
            over = true;
            return !was;
        }
    }

    private static final class Outgoing extends Part {
        private final MemorySegment source;
        private final boolean mayFault; // whether the source may be a mapped file
        private long credit; // guarded by this
        private long sent; // guarded by this

        Outgoing(
                long number,
                long base,
                MemorySegment source,
                boolean mayFault,
                long credit,
                Supplier<@Nullable IreeException> stop,
                Consumer<@Nullable IreeException> done) {
            super(number, base, source.byteSize(), stop, done);
            this.source = source;
            this.mayFault = mayFault;
            this.credit = credit;
        }

        /** Returns the next bytes: a copy if reading the source may fail, since a frame must not fail halfway. */
        ByteBuffer next(int size) {
            MemorySegment part = source.asSlice(sent, size);
            return mayFault ? ByteBuffer.wrap(part.toArray(ValueLayout.JAVA_BYTE)) : part.asByteBuffer();
        }

        /** Whether the receiver has made room for bytes not yet sent. */
        synchronized boolean isAwaited() {
            return credit > sent;
        }
    }

    private static final class Incoming extends Part {
        private final MemorySegment target;
        private long received; // guarded by this

        Incoming(
                long number,
                long base,
                MemorySegment target,
                Supplier<@Nullable IreeException> stop,
                Consumer<@Nullable IreeException> done) {
            super(number, base, target.byteSize(), stop, done);
            this.target = target;
        }
    }

    /** Returns the number of the next transfer with this side as the client. */
    synchronized long next() {
        lastOwn += lastOwn == 0 ? session.isDialer() ? 1 : 2 : 2;
        return lastOwn;
    }

    /**
     * Announces bytes to send: all of a transfer, or its next part.
     *
     * @param base bytes of the transfer before this part
     * @param credit bytes that may be sent at once; the receiver gives more
     * @param stop called before each chunk: returns the cause for stopping, or null
     * @param done called once, when nothing reads the bytes any more: with ALREADY_EXISTS when the number is in use
     */
    void send(
            long number,
            long base,
            MemorySegment source,
            long credit,
            Supplier<@Nullable IreeException> stop,
            Consumer<@Nullable IreeException> done) {
        send(new Outgoing(number, base, source, false, credit, stop, done));
    }

    /**
     * Announces a constant to send, on request, and possibly from a mapped file: a file that has become shorter ends
     * only the transfer.
     */
    void sendConstant(long number, MemorySegment source) {
        send(new Outgoing(number, 0, source, true, 0, () -> null, _ -> {}));
    }

    private void send(Outgoing transfer) {
        IreeException cause;
        synchronized (this) {
            cause = obstacle(transfer.number);
            if (cause == null) {
                outgoing.put(transfer.number, transfer);
            }
        }
        if (cause != null) {
            transfer.end();
            transfer.done.accept(cause);
        } else if (transfer.isAwaited() || transfer.length == 0) {
            pump(transfer);
        }
    }

    /**
     * Makes room for bytes: all of a transfer, or its next part.
     *
     * @param base bytes of the transfer before this part
     * @param ask whether the sender waits for credit
     * @param stop called before each chunk: returns the cause for stopping, or null
     * @param done called once, when the last byte has arrived or nothing writes any more: with ALREADY_EXISTS when the
     *     number is in use
     */
    void receive(
            long number,
            long base,
            MemorySegment target,
            boolean ask,
            Supplier<@Nullable IreeException> stop,
            Consumer<@Nullable IreeException> done) {
        Incoming transfer = new Incoming(number, base, target, stop, done);
        IreeException cause;
        synchronized (this) {
            cause = obstacle(number);
            if (cause == null && transfer.length > 0) {
                incoming.put(number, transfer);
            }
        }
        if (cause != null || transfer.length == 0) {
            transfer.end();
            done.accept(cause);
        } else if (ask) {
            session.post(new FrameWriter(FrameType.CREDIT).u64(number).u64(base + transfer.length));
        }
    }

    /** Returns the reason against a transfer with a number: a second transfer would take the bytes of the first. Under the lock. */
    private @Nullable IreeException obstacle(long number) {
        if (closed == null && (outgoing.containsKey(number) || incoming.containsKey(number))) {
            return IreeException.of(
                    StatusCode.ALREADY_EXISTS,
                    "transfer %d of %s is in use; a client gives each transfer an unused number"
                            .formatted(number, session));
        }
        return closed;
    }

    /**
     * Checks a number chosen by the peer, as the client of the transfer.
     *
     * @throws IreeException DATA_LOSS when the number is reserved for this side
     */
    long ofPeer(FrameReader in, long number) {
        boolean odd = (number & 1) == 1;
        if (number <= 0 || odd == session.isDialer()) {
            throw in.corrupt("transfer %d is not one that %s may choose".formatted(number, session));
        }
        return number;
    }

    /** Forgets bytes to send; a peer waiting for the bytes is notified. Nothing reads the bytes afterwards. */
    void withdraw(long number) {
        Outgoing transfer;
        synchronized (this) {
            transfer = outgoing.get(number);
        }
        if (transfer != null) {
            boolean awaited = transfer.isAwaited();
            end(transfer, null, false);
            if (awaited) {
                session.post(withdrawn(number));
            }
        }
    }

    /** Forgets bytes to receive. Nothing writes to their memory afterwards. */
    void cancel(long number) {
        cancel(number, null);
    }

    /** Ends the receipt of bytes with a cause. Nothing writes to their memory afterwards. Returns false if the transfer had ended. */
    boolean cancel(long number, @Nullable IreeException cause) {
        Incoming transfer;
        synchronized (this) {
            transfer = incoming.get(number);
        }
        if (transfer != null) {
            end(transfer, cause, false);
        }
        return transfer != null;
    }

    private static FrameWriter withdrawn(long number) {
        return new FrameWriter(FrameType.ABORT)
                .u64(number)
                .status(IreeException.of(
                        StatusCode.CANCELLED, "the bytes of transfer %d were withdrawn".formatted(number)));
    }

    void credit(FrameReader in) {
        long number = in.u64("transfer");
        long limit = in.size("limit");
        in.end();
        Outgoing transfer;
        boolean own;
        synchronized (this) {
            transfer = outgoing.get(number);
            own = number <= lastOwn && (number & 1) == (lastOwn & 1);
        }
        if (transfer == null) { // ended here; the side that chose the number may have withdrawn the transfer
            if (own) {
                session.post(withdrawn(number));
            }
            return;
        }
        long end = transfer.base + transfer.length;
        if (limit > end) {
            throw in.corrupt("limit %d of transfer %d, which has %d bytes".formatted(limit, number, end));
        }
        synchronized (transfer) {
            transfer.credit = Math.max(transfer.credit, limit - transfer.base);
        }
        pump(transfer);
    }

    /** Sends chunks while there is credit and room. */
    private void pump(Outgoing transfer) {
        IreeException fault;
        while (true) {
            IreeException cause = transfer.stopCause();
            if (cause != null) {
                end(transfer, cause, true);
                return;
            }
            boolean complete;
            synchronized (transfer) {
                if (transfer.over) {
                    return;
                }
                long left = Math.min(transfer.credit, transfer.length) - transfer.sent;
                complete = transfer.sent == transfer.length;
                if (!complete) {
                    if (left <= 0) {
                        return;
                    }
                    int size = (int)
                            Math.min(left, Math.min(chunk, session.peerLimits().chunkBytes()));
                    FrameWriter head =
                            new FrameWriter(FrameType.DATA).u64(transfer.number).u64(transfer.base + transfer.sent);
                    ByteBuffer body;
                    try {
                        body = transfer.next(size);
                    } catch (InternalError e) {
                        fault = FileFault.of("transfer %d of %s".formatted(transfer.number, session), e);
                        break;
                    }
                    if (!session.outbox(PeerStream.BULK).tryPost(head, body)) {
                        return; // resume() continues
                    }
                    transfer.sent += size;
                    complete = transfer.sent == transfer.length;
                }
            }
            if (complete) {
                end(transfer, null, false);
                return;
            }
        }
        end(transfer, fault, true);
    }

    /** Continues when BULK has room again. */
    void resume() {
        List<Outgoing> all;
        synchronized (this) {
            all = new ArrayList<>(outgoing.values());
        }
        all.forEach(this::pump);
    }

    void data(FrameReader in) {
        long number = in.u64("transfer");
        long offset = in.size("offset");
        Incoming transfer;
        synchronized (this) {
            transfer = incoming.get(number);
        }
        if (transfer == null) {
            return; // the transfer has ended here
        }
        IreeException cause = transfer.stopCause();
        if (cause != null) {
            end(transfer, cause, true);
            return;
        }
        boolean complete;
        synchronized (transfer) {
            if (transfer.over) {
                return;
            }
            int size = in.toEnd();
            if (offset != transfer.base + transfer.received || size > transfer.length - transfer.received) {
                throw in.corrupt("%d bytes at %d of transfer %d, which expects %d bytes from %d on"
                        .formatted(
                                size,
                                offset,
                                number,
                                transfer.length - transfer.received,
                                transfer.base + transfer.received));
            }
            in.readToEnd(transfer.target.asSlice(transfer.received, size));
            transfer.received += size;
            complete = transfer.received == transfer.length;
        }
        if (complete) {
            end(transfer, null, false);
        }
    }

    void abort(FrameReader in) {
        long number = in.u64("transfer");
        IreeException cause = in.status(session + ": ");
        in.end();
        if (cause == null) {
            throw in.corrupt("transfer %d is aborted with status OK".formatted(number));
        }
        Part transfer;
        synchronized (this) {
            transfer = incoming.get(number);
            if (transfer == null) {
                transfer = outgoing.get(number);
            }
        }
        if (transfer != null) {
            end(transfer, cause, false);
        }
    }

    private void end(Part transfer, @Nullable IreeException cause, boolean tell) {
        synchronized (this) {
            if (transfer instanceof Incoming) {
                incoming.remove(transfer.number, transfer); // the next part may have come
            } else {
                outgoing.remove(transfer.number, transfer);
            }
        }
        if (!transfer.end()) {
            return;
        }
        if (tell && cause != null) {
            session.post(new FrameWriter(FrameType.ABORT).u64(transfer.number).status(cause));
        }
        transfer.done.accept(cause);
    }

    synchronized int count() {
        return outgoing.size() + incoming.size();
    }

    /** Fails all transfers after the failure of the session: nothing touches their memory afterwards. */
    void failAll(IreeException cause) {
        List<Part> all;
        synchronized (this) {
            closed = cause;
            all = new ArrayList<>(outgoing.values());
            all.addAll(incoming.values());
            outgoing.clear();
            incoming.clear();
        }
        session.notifyEach(all, each -> {
            if (each.end()) {
                each.done.accept(cause);
            }
        });
    }
}

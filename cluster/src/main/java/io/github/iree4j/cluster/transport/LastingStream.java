package io.github.iree4j.cluster.transport;

import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A stream of a {@link LastingConnection}: the frames sent and not acknowledged, and the number of frames received.
 *
 * <p>The lock of this guards the sending side, a second lock the receiving side. The session is called under the second
 * lock, so that a frame of a former carrier never arrives beside a frame of the next; no other call of the session takes
 * the second lock, and neither does sending.
 */
final class LastingStream {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final byte FRAME = 0;
    private static final byte COUNTS = 1;
    private static final long[] FORMER = {}; // a message of a former carrier

    private static final int LARGE = 16 << 10; // bytes of a message whose memory is used again
    private static final int SPARE = 16; // messages
    private static final int ACKNOWLEDGE_BYTES = 1 << 20;

    private final PeerStream stream;
    private final int window; // bytes kept before frames are refused
    private final int heads; // bytes before a frame in a message

    // The sending side, guarded by this.
    private final ArrayDeque<Message> sent = new ArrayDeque<>(); // messages sent by the present carrier, oldest first
    private final ArrayDeque<Message> again = new ArrayDeque<>(); // messages to send again, behind sent
    private final ArrayDeque<byte[]> spare = new ArrayDeque<>(0); // memory of large acknowledged messages, latest first
    private long acknowledged; // frames before the first of sent
    private long kept; // bytes of both
    private boolean refused;
    private long interruptedAt = -1; // acknowledged at the last interruption with frames kept
    private @Nullable GrpcConnection carrier; // null while interrupted

    private final Object receiving = new Object();
    private @Nullable GrpcConnection source; // guarded by receiving; null while nothing is received
    private volatile long received; // frames; written under receiving
    private volatile long unacknowledged; // bytes received since the last acknowledgement; approximate

    /** A message kept until the peer acknowledges it: the first bytes of the array. */
    private record Message(byte[] array, int length) {
        ByteBuffer bytes() {
            return ByteBuffer.wrap(array, 0, length);
        }
    }

    LastingStream(PeerStream stream) {
        this.stream = stream;
        this.window = stream == PeerStream.BULK ? 16 << 20 : 4 << 20;
        this.heads = stream == PeerStream.CONTROL ? 1 : 0;
    }

    // ---- Sending.

    /** Sends a frame, or refuses the frame while there is no carrier or no room. */
    synchronized boolean trySend(ByteBuffer head, ByteBuffer body) {
        GrpcConnection by = carrier;
        if (by == null || !again.isEmpty() || kept >= window || !by.isReady(stream)) {
            refused = true;
            return false;
        }
        int length = head.remaining();
        Message message = memory(heads + length + body.remaining());
        if (heads > 0) {
            message.array[0] = FRAME;
        }
        head.get(head.position(), message.array, heads, length);
        body.get(body.position(), message.array, heads + length, body.remaining());
        if (!by.trySend(stream, message.bytes(), NOTHING)) {
            spare(message);
            refused = true;
            return false;
        }
        sent.add(message);
        kept += message.array.length;
        return true;
    }

    /**
     * Returns memory for a message: of an acknowledged message of about the size, if the latest is one. Other memory is
     * dropped, so that memory for the present sizes comes in its place. Under the lock.
     */
    private Message memory(int length) {
        byte[] last = length < LARGE ? null : spare.poll();
        if (last == null || last.length < length || last.length - length > length / 2) {
            last = new byte[length];
        }
        return new Message(last, length);
    }

    /** Keeps the memory of a message for another: the memory used last is still in the caches. Under the lock. */
    private void spare(Message message) {
        if (message.length >= LARGE) {
            spare.push(message.array);
            if (spare.size() > SPARE) {
                spare.removeLast();
            }
        }
    }

    /** Forgets the oldest message. Under the lock. */
    private void forget(ArrayDeque<Message> of) {
        Message oldest = of.remove();
        kept -= oldest.array.length;
        spare(oldest);
    }

    /** Returns the number of arrays for further messages. */
    synchronized int spareArrays() {
        return spare.size();
    }

    /** Sends the counts of received frames, on CONTROL. Returns false without room. */
    synchronized boolean trySendCounts(long[] counts) {
        GrpcConnection by = carrier;
        ByteBuffer message = ByteBuffer.allocate(1 + Long.BYTES * counts.length).put(COUNTS);
        for (long each : counts) {
            message.putLong(each);
        }
        return by != null && by.trySend(stream, message.flip(), NOTHING);
    }

    synchronized boolean hasCarrier() {
        return carrier != null;
    }

    /** Returns whether nothing was acknowledged since the interruption before, although frames were kept then, too. */
    synchronized boolean isStuck() {
        boolean isKept = !sent.isEmpty() || !again.isEmpty();
        boolean isStuck = isKept && interruptedAt == acknowledged;
        interruptedAt = isKept ? acknowledged : -1;
        return isStuck;
    }

    /** Sends kept frames again, as far as there is room. */
    synchronized void sendAgain() {
        GrpcConnection by = carrier;
        while (by != null && !again.isEmpty()) {
            if (!by.trySend(stream, again.element().bytes(), NOTHING)) {
                return;
            }
            sent.add(again.remove());
        }
    }

    /** Forgets frames received by the peer. Returns false if so many were not sent. */
    boolean acknowledged(GrpcConnection from, long count) {
        synchronized (this) {
            return from != carrier || forget(count); // a former carrier's counts do not matter any more
        }
    }

    private boolean forget(long count) { // under the lock
        if (count - acknowledged > sent.size()) {
            return false;
        }
        for (; acknowledged < count; acknowledged++) {
            forget(sent);
        }
        return true;
    }

    /** Returns whether a frame was refused and there is room now. The next call returns false unless another frame is refused. */
    synchronized boolean takeRefusal() {
        if (!refused || carrier == null || !again.isEmpty() || kept >= window) {
            return false;
        }
        refused = false;
        return true;
    }

    // ---- Carriers.

    /** Ends sending by a carrier. */
    synchronized void detach(GrpcConnection lost) {
        if (carrier == lost) {
            carrier = null;
        }
    }

    /**
     * Continues with a carrier.
     *
     * @param count the frames received by the peer
     * @return false if the peer cannot have received so many, or lacks frames that are not kept any more
     */
    boolean attach(GrpcConnection next, long count) {
        synchronized (receiving) {
            source = next;
        }
        synchronized (this) {
            ArrayDeque<Message> later = new ArrayDeque<>(again);
            again.clear();
            again.addAll(sent);
            again.addAll(later);
            sent.clear();
            if (count < acknowledged || count - acknowledged > again.size()) {
                return false;
            }
            for (; acknowledged < count; acknowledged++) {
                forget(again);
            }
            carrier = next;
            return true;
        }
    }

    /** Forgets everything. */
    synchronized void close() {
        carrier = null;
        sent.clear();
        again.clear();
        spare.clear();
        kept = 0;
    }

    // ---- Receiving.

    /** Receives nothing until the next carrier is attached. Returns the number of frames received. */
    long stopReceiving() {
        synchronized (receiving) {
            source = null;
            return received;
        }
    }

    /**
     * Passes a frame on to the session, unless the carrier is a former one.
     *
     * @return the counts in the message, if the message has counts instead of a frame; empty for a former carrier
     * @throws IreeException DATA_LOSS for a message of no known kind
     */
    long @Nullable [] receive(GrpcConnection from, ByteBuffer message, ByteBuffer[] rest, PeerListener session) {
        synchronized (receiving) {
            if (source != from) {
                return FORMER;
            }
            if (heads > 0) {
                byte kind = message.hasRemaining() ? message.get() : -1;
                int counts = PeerStream.values().length;
                if (kind == COUNTS && message.remaining() == Long.BYTES * counts) {
                    long[] read = new long[counts];
                    for (int i = 0; i < counts; i++) {
                        read[i] = message.getLong();
                    }
                    return read;
                }
                if (kind != FRAME) {
                    throw IreeException.of(
                            StatusCode.DATA_LOSS,
                            "message of kind %d with %d bytes on %s".formatted(kind, message.remaining(), stream));
                }
            }
            received++;
            unacknowledged += message.remaining();
            for (ByteBuffer each : rest) {
                unacknowledged += each.remaining();
            }
            session.received(stream, message.slice(), rest);
            return null;
        }
    }

    long received() {
        return received;
    }

    /** Returns the number of frames received, of which the peer hears now. */
    long acknowledge() {
        unacknowledged = 0;
        return received;
    }

    /** Returns whether the peer should soon hear what was received, to have room. */
    boolean isAcknowledgementDue() {
        return unacknowledged >= Math.min(ACKNOWLEDGE_BYTES, window / 4);
    }
}

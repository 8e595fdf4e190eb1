package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Frames on their way to one stream of a connection: numbered in the order of {@link #post}, sent while the stream has room, kept while it has
 * not. Producers that can wait ask {@link #hasRoom} first and continue when they are called again; the rest is limited by the objects it speaks
 * of, and by {@link #HARD_LIMIT}. Safe from any thread.
 */
final class Outbox {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Bytes of memory that frames may take which a peer leaves unread, before its session ends. */
    static final long HARD_LIMIT = 64L << 20;

    private static final int FRAME_BYTES = 64; // of the objects that a frame is

    private final PeerConnection connection;
    private final PeerStream stream;
    private final int softLimit;
    private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>(); // guarded by this, like the rest
    private long waitingBytes;
    private long held; // memory of what waits
    private int number;
    private long frames;
    private long bytes;
    private boolean starved; // a producer was told that there is no room
    private boolean closed;

    Outbox(PeerConnection connection, PeerStream stream, int softLimit) {
        this.connection = connection;
        this.stream = stream;
        this.softLimit = softLimit;
    }

    /**
     * Sends a frame, or keeps it for later.
     *
     * @throws IreeException RESOURCE_EXHAUSTED when the peer has left too much unread
     */
    synchronized void post(FrameWriter frame) {
        if (closed) {
            return;
        }
        ByteBuffer whole = number(frame);
        if (!waiting.isEmpty() || !connection.trySend(stream, whole.duplicate(), NOTHING)) {
            if (held + memory(whole) > HARD_LIMIT) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s holds %d bytes for %d frames that %s does not read, the limit is %d"
                                .formatted(stream, held, waiting.size(), connection.describe(), HARD_LIMIT));
            }
            waiting.add(whole);
            waitingBytes += whole.remaining();
            held += memory(whole);
        }
    }

    /** What a frame takes, which for short ones is more than its bytes. */
    private static int memory(ByteBuffer whole) {
        return whole.capacity() + FRAME_BYTES;
    }

    /** Sends a frame with a body if there is room at once; else nothing happens, and {@link #drain} will be true. */
    synchronized boolean tryPost(FrameWriter frame, ByteBuffer body) {
        if (closed) {
            return true;
        }
        if (waiting.isEmpty()) {
            number++;
            ByteBuffer whole = frame.finish();
            whole.putInt(FrameWriter.NUMBER, number);
            int size = whole.remaining() + body.remaining();
            if (connection.trySend(stream, whole, body)) {
                frames++;
                bytes += size;
                return true;
            }
            number--;
        }
        starved = true;
        return false;
    }

    private ByteBuffer number(FrameWriter frame) {
        ByteBuffer whole = frame.finish();
        whole.putInt(FrameWriter.NUMBER, ++number);
        frames++;
        bytes += whole.remaining();
        return whole;
    }

    /** Whether producers that can wait should continue; if not, {@link #drain} will be true once they should. */
    synchronized boolean hasRoom() {
        boolean room = waitingBytes < softLimit;
        starved |= !room;
        return room;
    }

    /** The stream has room: sends what waits. Returns whether producers that were told to wait should continue. */
    synchronized boolean drain() {
        for (ByteBuffer next; (next = waiting.peek()) != null; ) {
            int size = next.remaining();
            if (!connection.trySend(stream, next.duplicate(), NOTHING)) {
                break;
            }
            waiting.remove();
            waitingBytes -= size;
            held -= memory(next);
        }
        boolean again = starved && waitingBytes <= softLimit / 2;
        if (again) {
            starved = false;
        }
        return again;
    }

    /** Discards what waits, and whatever comes. */
    synchronized void close() {
        closed = true;
        waiting.clear();
        waitingBytes = 0;
        held = 0;
    }

    synchronized long frames() {
        return frames;
    }

    synchronized long bytes() {
        return bytes;
    }

    synchronized long waitingBytes() {
        return waitingBytes;
    }
}

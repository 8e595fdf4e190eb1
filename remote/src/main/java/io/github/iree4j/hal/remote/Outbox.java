package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Frames on their way to a stream of a connection: numbered in the order of {@link #post}, sent while the stream has
 * room, and kept while the stream is full. Producers that can wait call {@link #hasRoom} first and continue when called
 * again. Other frames are limited by the objects named in the frames, and by {@link #HARD_LIMIT}. Safe from any thread.
 */
final class Outbox {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Limit on the memory of frames left unread by a peer; beyond the limit the session ends. */
    static final long HARD_LIMIT = 64L << 20;

    private static final int FRAME_BYTES = 64; // bytes of the objects of a frame

    private final PeerConnection connection;
    private final PeerStream stream;
    private final int softLimit;
    private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>(); // guarded by this, like the rest
    private long waitingBytes;
    private long held; // memory of the waiting frames
    private int number;
    private long frames;
    private long bytes;
    private boolean starved; // whether a producer was refused for lack of room
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
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s holds %d bytes for %d frames that %s does not read, the limit is %d"
                                .formatted(stream, held, waiting.size(), connection.describe(), HARD_LIMIT));
            }
            waiting.add(whole);
            waitingBytes += whole.remaining();
            held += memory(whole);
        }
    }

    /** Returns the memory of a frame, for short frames more than the bytes. */
    private static int memory(ByteBuffer whole) {
        return whole.capacity() + FRAME_BYTES;
    }

    /** Sends a frame with a body if there is room at once; otherwise nothing is sent, and {@link #drain} will return true. */
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

    /** Returns whether producers that can wait should continue; if not, {@link #drain} will return true when producers should continue. */
    synchronized boolean hasRoom() {
        boolean room = waitingBytes < softLimit;
        starved |= !room;
        return room;
    }

    /** Sends waiting frames when the stream has room. Returns whether refused producers should continue. */
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

    /** Discards all waiting and future frames. */
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

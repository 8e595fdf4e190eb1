package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.LimitedBody;
import java.util.concurrent.Semaphore;

/**
 * The place of an answered request. The place is passed on before the client reads the answer, since the client decides
 * how long reading takes: slow readers must not hold up computation. The number of unread answers without a place is
 * limited; an answer beyond the number keeps the place until the client has read the answer, or the answer has given way.
 * Thread-safe.
 */
final class KeptPlace implements AutoCloseable {

    private final RequestLine.Turn turn;
    private final LimitedBody body;
    private final Semaphore unread;
    private boolean passedOn; // guarded by this, as is the next field
    private boolean closed;

    /**
     * Keeps a place.
     *
     * @param body the limits of the request, which know when the answer gives way
     * @param unread the number of further answers that may be unread without a place
     */
    KeptPlace(RequestLine.Turn turn, LimitedBody body, Semaphore unread) {
        this.turn = turn;
        this.body = body;
        this.unread = unread;
        body.keeping(turn::leave);
    }

    /** Passes the place on, unless too many answers are unread. For answers whose writing blocks no thread of a pool. */
    void passOn() {
        synchronized (this) {
            if (closed || passedOn || !unread.tryAcquire()) {
                return;
            }
            passedOn = true;
        }
        body.keeping(null);
        turn.leave();
    }

    /** Ends the request, whose answer has been read or never will be. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (passedOn) {
                unread.release();
            }
        }
        turn.leave();
    }
}

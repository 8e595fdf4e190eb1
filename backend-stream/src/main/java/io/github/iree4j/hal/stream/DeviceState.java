package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The life of a device, and the loss of the device. Each proceeds without the other; neither goes back.
 *
 * <pre>
 *   life   OPEN -- close --> CLOSED -- abandon --> ABANDONED
 *   loss   NONE -- lose --> STREAMS (nothing is accepted) -- loseHardware --> HARDWARE (nothing runs either)
 * </pre>
 *
 * Both are in one reference: a reader sees life and loss of the same moment. Each step is made by one thread, which then
 * does the work of the step.
 */
final class DeviceState {
    /** How far the end of the device has come. */
    private enum Life {
        OPEN,
        CLOSED,
        ABANDONED
    }

    /** How much of the device is lost. */
    enum Loss {
        NONE,
        STREAMS,
        HARDWARE
    }

    private record Pair(
            Life life,
            Loss loss,
            @Nullable IreeException lost, // the first cause of the loss
            @Nullable IreeException abandoned) {} // the failure of work in flight at the end

    private final AtomicReference<Pair> state = new AtomicReference<>(new Pair(Life.OPEN, Loss.NONE, null, null));

    /** Closes the device; returns whether the device was open. */
    boolean close() {
        return change(now -> now.life == Life.OPEN ? new Pair(Life.CLOSED, now.loss, now.lost, null) : now).life
                == Life.OPEN;
    }

    /** Abandons the device; returns false for an abandoned device, whose cause stays. */
    boolean abandon(IreeException cause) {
        return change(now -> now.life == Life.ABANDONED ? now : new Pair(Life.ABANDONED, now.loss, now.lost, cause))
                        .life
                != Life.ABANDONED;
    }

    /** Loses the streams, unless lost already; the first cause stays. Returns the loss before. */
    Loss lose(IreeException cause) {
        return change(now -> now.loss == Loss.NONE ? new Pair(now.life, Loss.STREAMS, cause, now.abandoned) : now).loss;
    }

    /** Loses the hardware and the streams; the first cause stays. Returns the loss before. */
    Loss loseHardware(IreeException cause) {
        return change(now -> new Pair(now.life, Loss.HARDWARE, now.lost == null ? cause : now.lost, now.abandoned))
                .loss;
    }

    private Pair change(UnaryOperator<Pair> step) {
        return state.getAndUpdate(step);
    }

    boolean isClosed() {
        return state.get().life != Life.OPEN;
    }

    boolean isHardwareLost() {
        return state.get().loss == Loss.HARDWARE;
    }

    /** Returns the first cause of the loss; null without a loss. */
    @Nullable
    IreeException lost() {
        return state.get().lost;
    }

    /** Returns the cause given to {@link #abandon}; null before. */
    @Nullable
    IreeException abandoned() {
        return state.get().abandoned;
    }

    /** Returns the failure of all work: the cause of the abandonment, or else of the loss; null for neither. */
    @Nullable
    IreeException failure() {
        Pair now = state.get();
        return now.abandoned == null ? now.lost : now.abandoned;
    }
}

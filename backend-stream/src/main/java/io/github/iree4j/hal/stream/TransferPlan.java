package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.schedule.OperationParts;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A plan of an operation, or of several sequential parts of an operation, with the shared staging memory. */
final class TransferPlan {
    private final List<Supplier<StreamOperation>> parts = new ArrayList<>(1);
    private final List<StagingPiece> pieces = new ArrayList<>(1);

    static TransferPlan of(Supplier<StreamOperation> only) {
        TransferPlan plan = new TransferPlan();
        plan.add(only);
        return plan;
    }

    void add(Supplier<StreamOperation> part) {
        parts.add(part);
    }

    /** Takes over staging memory for the next part, held until all parts are submitted. */
    StagingPiece piece(StagingPiece piece) {
        pieces.add(piece);
        return piece;
    }

    /**
     * Submits the planned operations.
     *
     * @param make checks the arguments and creates the plan
     */
    static void submit(StreamQueue queue, @Nullable Fence wait, @Nullable Fence signal, Supplier<TransferPlan> make) {
        TransferPlan plan;
        try {
            plan = make.get();
        } catch (IreeException e) {
            queue.scheduler().submit(wait, signal, () -> {
                throw e;
            });
            return;
        }
        try {
            if (plan.parts.size() == 1) {
                queue.scheduler().submit(wait, signal, plan.parts.getFirst());
            } else {
                submitParts(queue, wait, signal, plan.parts);
            }
        } finally {
            plan.pieces.forEach(StagingPiece::end);
        }
    }

    private static void submitParts(
            StreamQueue queue, @Nullable Fence wait, @Nullable Fence signal, List<Supplier<StreamOperation>> makers) {
        if (signal != null && !signal.isLive()) {
            queue.scheduler().submit(wait, signal, makers.getFirst()); // throws
            return;
        }
        OperationParts parts;
        try {
            parts = queue.scheduler().beginParts(signal);
        } catch (IreeException e) {
            if (signal == null) {
                throw e;
            }
            signal.fail(e);
            return;
        }
        SemaphoreOptions order = SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.DEVICE_LOCAL);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(order)) {
            int count = makers.size();
            timeline.whenReached(count, (value, failure) -> parts.end(failure != null));
            for (int i = 0; i < count; i++) {
                Supplier<StreamOperation> make = makers.get(i);
                try (Fence done = Fence.at(timeline, i + 1);
                        Fence before = i == 0 ? null : Fence.at(timeline, i);
                        Fence last = i == count - 1 && signal != null ? Fence.join(done, signal) : null) {
                    parts.submit(i == 0 ? wait : before, last != null ? last : done, make);
                }
            }
        }
    }
}

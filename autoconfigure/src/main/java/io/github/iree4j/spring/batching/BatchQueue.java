package io.github.iree4j.spring.batching;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.WaitTime;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Calls of one kind waiting for a batch. The lock is held only while entries are inserted and removed. */
final class BatchQueue {
    /** Alignment of host memory used in place by devices. */
    private static final long ALIGNMENT = 64;

    private final BatchingOptions options;
    private final RowSizes sizes;
    private final BatchBound bound;
    private final InvocationChain chain;
    private final BatchTimer timer;
    private final BatchListener listener;
    private final Consumer<BatchQueue> idle;

    // Guarded by this.
    private final List<BatchEntry> waiting = new ArrayList<>(); // by descending priority, then arrival
    private int waitingRows;
    private int inFlight;
    private int announced;
    private boolean due;
    private @Nullable Alarm alarm; // null unless a wake-up is scheduled

    /** A scheduled wake-up. Guarded by the queue. */
    private static final class Alarm {
        final long at;
        Runnable cancellation = () -> {};

        Alarm(long at) {
            this.at = at;
        }
    }

    BatchQueue(
            BatchingOptions options,
            RowSizes sizes,
            BatchBound bound,
            InvocationChain chain,
            BatchTimer timer,
            BatchListener listener,
            Consumer<BatchQueue> idle) {
        this.options = options;
        this.sizes = sizes;
        this.bound = bound;
        this.chain = chain;
        this.timer = timer;
        this.listener = listener;
        this.idle = idle;
    }

    /** Announces an entry, to keep the queue from being discarded before the entry arrives. */
    synchronized void announce() {
        announced++;
    }

    synchronized boolean isUnused() {
        return announced == 0 && waiting.isEmpty() && inFlight == 0;
    }

    /** Adds an announced entry. */
    void add(BatchEntry entry) {
        boolean refused = false;
        synchronized (this) {
            announced--;
            refused = waitingRows + entry.rows > options.maxWaiting();
            if (!refused) {
                insert(entry);
            }
        }
        if (refused) {
            entry.fail(IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%d rows wait for a batch of '%s', and the limit is %d; try again later, or raise 'max-size', which the limit is a multiple of"
                            .formatted(waitingRows(), entry.request.function().fullName(), options.maxWaiting())));
            idle.accept(this);
            return;
        }
        entry.whenComplete((_, _) -> giveUp(entry));
        pump();
    }

    /** Calls an announced entry without batching, on this thread if the entry's caller blocks. */
    void callByItself(BatchEntry entry) {
        synchronized (this) {
            announced--;
        }
        try {
            callUnbatched(entry, entry.request);
        } catch (RuntimeException | Error e) {
            entry.fail(e);
        }
        idle.accept(this);
    }

    private synchronized int waitingRows() {
        return waitingRows;
    }

    /** Inserts an entry by priority. Under the lock. */
    private void insert(BatchEntry entry) {
        int at = waiting.size();
        while (at > 0 && priority(waiting.get(at - 1)) < priority(entry)) {
            at--;
        }
        waiting.add(at, entry);
        waitingRows += entry.rows;
    }

    private static int priority(BatchEntry entry) {
        return entry.request.options().priority();
    }

    /** Removes an entry abandoned during the wait. */
    private void giveUp(BatchEntry entry) {
        boolean removed;
        synchronized (this) {
            removed = waiting.remove(entry);
            if (removed) {
                waitingRows -= entry.rows;
            }
        }
        if (removed) {
            idle.accept(this);
        }
    }

    /** Calls all waiting entries without further delay. */
    void flush() {
        synchronized (this) {
            due = true;
        }
        pump();
    }

    /** Calls all batches that are due. */
    private void pump() {
        for (List<BatchEntry> batch; !(batch = next()).isEmpty(); ) {
            try {
                call(batch);
            } catch (RuntimeException | Error e) { // an exception of an interceptor, the listener or a context
                batch.forEach(entry -> entry.fail(e));
                ended();
            }
        }
    }

    /** Takes the entries of the next batch if due; otherwise schedules a wake-up for the due time. */
    private synchronized List<BatchEntry> next() {
        if (waiting.isEmpty()) {
            due = false;
            silence();
            return List.of();
        }
        long now = timer.nanoTime();
        long first = Long.MAX_VALUE;
        for (BatchEntry entry : waiting) {
            long left = Math.min(WaitTime.nanos(options.maxDelay()), entry.patience) - (now - entry.since);
            first = Math.min(first, left);
        }
        if (inFlight >= options.maxInFlight()) {
            return List.of(); // the completion of a batch pumps again
        }
        if (!due && first > 0 && waitingRows < most()) {
            wakeAt(now, first);
            return List.of();
        }
        // Regardless of the first entry's size: others must not pass the first entry forever.
        List<BatchEntry> batch = take(Math.max(sizes.next(Math.min(waitingRows, most())), waiting.getFirst().rows));
        inFlight++;
        silence();
        return batch;
    }

    /** Takes the first entries that fit the limit together. Under the lock. */
    private List<BatchEntry> take(int most) {
        List<BatchEntry> batch = new ArrayList<>();
        int rows = 0;
        for (int i = 0; i < waiting.size(); ) {
            BatchEntry entry = waiting.get(i);
            if (rows + entry.rows <= most) {
                waiting.remove(i);
                waitingRows -= entry.rows;
                rows += entry.rows;
                batch.add(entry);
            } else {
                i++;
            }
        }
        return batch;
    }

    /** Schedules a wake-up. Under the lock; a clock that advances by itself calls {@link #wake} before the return. */
    private void wakeAt(long now, long left) {
        if (alarm != null && alarm.at - (now + left) <= 0) {
            return;
        }
        silence();
        Alarm next = new Alarm(now + left);
        alarm = next;
        next.cancellation = timer.schedule(left, () -> wake(next));
    }

    private void wake(Alarm rung) {
        synchronized (this) {
            if (rung.equals(alarm)) { // otherwise a later wake-up stays scheduled
                alarm = null;
            }
        }
        pump();
    }

    /** Cancels the wake-up. Under the lock. */
    private void silence() {
        if (alarm != null) {
            alarm.cancellation.run();
            alarm = null;
        }
    }

    // Outside the lock.

    /**
     * Calls a batch. The batch's place is given up by {@link #ended} exactly once: when all calls made for the batch
     * have ended, and not if this method throws.
     */
    private void call(List<BatchEntry> batch) {
        List<BatchEntry> live = batch.stream().filter(entry -> !entry.isDone()).toList();
        if (live.isEmpty()) {
            ended();
            return;
        }
        if (live.size() == 1 && options.padded(live.getFirst().rows) == live.getFirst().rows) {
            callAlone(live.getFirst());
            return;
        }
        BatchEntry first = live.getFirst();
        List<Tensor> merged;
        int rows = live.stream().mapToInt(entry -> entry.rows).sum();
        int padded = options.padded(rows);
        try {
            merged = first.within(() -> merge(live, padded));
        } catch (IreeException e) {
            // The program was unloaded meanwhile: called individually, each entry finds the successor or fails. Or
            // memory does not suffice for all entries at once.
            callInTurn(live, 0);
            return;
        }
        listener.batched(
                first.request.model(),
                first.request.function().name(),
                live.size(),
                rows,
                padded,
                timer.nanoTime() - live.stream().mapToLong(e -> e.since).min().orElse(0));
        InvocationRequest request = withoutDeadline(first, List.copyOf(merged));
        CompletableFuture<Results> call = first.within(() -> chain.proceed(request));
        cancelWithTheLast(live, call);
        call.whenComplete((results, failure) -> {
            merged.forEach(Tensor::close);
            // each entry may fit, though not all together
            if (results == null && live.size() > 1 && isShortage(failure)) {
                bound.tooMany(rows);
                callInTurn(live, 0);
                return;
            }
            if (results == null) {
                ended();
                live.forEach(entry -> entry.fail(failure));
                return;
            }
            bound.succeeded(rows);
            Runnable delivery = divide(live, results);
            ended(); // the next batch may request the memory of the results
            delivery.run();
        });
    }

    private static boolean isShortage(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof IreeException status && status.code() == StatusCode.RESOURCE_EXHAUSTED;
    }

    private int most() {
        return Math.min(options.maxSize(), bound.most());
    }

    private void callAlone(BatchEntry entry) {
        listener.batched(
                entry.request.model(),
                entry.request.function().name(),
                1,
                entry.rows,
                entry.rows,
                timer.nanoTime() - entry.since);
        callUnbatched(entry).whenComplete((_, _) -> ended());
    }

    /** Calls the entries from an index on, each after the end of the previous call: in the batch's single place. */
    private void callInTurn(List<BatchEntry> live, int from) {
        for (int i = from; i < live.size(); i++) {
            BatchEntry entry = live.get(i);
            if (entry.isDone()) {
                continue;
            }
            CompletableFuture<Results> call;
            try {
                call = callUnbatched(entry);
            } catch (RuntimeException | Error e) {
                entry.fail(e);
                continue;
            }
            if (!call.isDone()) {
                int next = i + 1;
                call.whenComplete((_, _) -> callInTurn(live, next));
                return;
            }
        }
        ended();
    }

    /** Calls an entry without a deadline. */
    private CompletableFuture<Results> callUnbatched(BatchEntry entry) {
        return callUnbatched(entry, withoutDeadline(entry, entry.request.inputs()));
    }

    /** Returns the request of a call made for an entry, or also for others. Each entry itself continues to enforce its deadline. */
    private static InvocationRequest withoutDeadline(BatchEntry entry, List<@Nullable Object> inputs) {
        InvocationRequest request = entry.request;
        CallOptions options = CallOptions.DEFAULTS.priority(priority(entry));
        return new InvocationRequest(request.program(), request.function(), inputs, options, false);
    }

    private CompletableFuture<Results> callUnbatched(BatchEntry entry, InvocationRequest request) {
        // a function of fixed rows takes no other number of rows
        boolean isPadded = options.padded(entry.rows) > entry.rows;
        CompletableFuture<Results> call =
                entry.within(() -> chain.proceed(isPadded ? request.withInputs(padded(entry)) : request));
        cancelWithTheLast(List.of(entry), call);
        return call.whenComplete((results, failure) -> {
            if (results == null) {
                entry.fail(failure);
            } else if (isPadded) {
                divide(List.of(entry), results).run();
            } else {
                entry.deliver(results);
            }
        });
    }

    /** Returns the entry's inputs with further rows, in host memory: the program may have been unloaded. */
    private List<@Nullable Object> padded(BatchEntry entry) {
        List<@Nullable Object> padded = new ArrayList<>();
        for (int i = 0; i < entry.inputs.size(); i++) {
            Tensor tensor = entry.inputs.get(i);
            long[] shape = tensor.shape().dimensions();
            shape[0] = options.padded(entry.rows);
            MemorySegment memory = Arena.ofAuto().allocate(tensor.byteSize() / entry.rows * shape[0], ALIGNMENT);
            concatenate(List.of(entry), i, memory);
            padded.add(Tensor.wrap(memory, tensor.elementType(), shape));
        }
        return padded;
    }

    private void ended() {
        synchronized (this) {
            inFlight--;
        }
        pump();
        idle.accept(this);
    }

    private static void cancelWithTheLast(List<BatchEntry> live, CompletableFuture<Results> call) {
        AtomicInteger left = new AtomicInteger(live.size());
        for (BatchEntry entry : live) {
            entry.whenComplete((_, _) -> {
                if (left.decrementAndGet() == 0) {
                    call.cancel(true); // no effect on a completed call
                }
            });
        }
    }

    private static List<Tensor> merge(List<BatchEntry> live, int padded) {
        Program program = live.getFirst().request.function().program();
        List<Tensor> merged = new ArrayList<>();
        try {
            for (int i = 0; i < live.getFirst().inputs.size(); i++) {
                int input = i;
                Tensor like = live.getFirst().inputs.get(i);
                long[] shape = like.shape().dimensions();
                shape[0] = padded;
                merged.add(program.receive(
                        like.elementType(), Shape.of(shape), memory -> concatenate(live, input, memory)));
            }
            return merged;
        } catch (IOException e) {
            throw new AssertionError("there is no file", e);
        } catch (RuntimeException | Error e) {
            merged.forEach(Tensor::close);
            throw e;
        }
    }

    private static void concatenate(List<BatchEntry> live, int input, MemorySegment memory) {
        long at = 0;
        for (BatchEntry entry : live) {
            Tensor tensor = entry.inputs.get(input);
            MemorySegment rows = memory.asSlice(at, tensor.byteSize());
            at += tensor.byteSize();
            try {
                tensor.copyTo(rows);
            } catch (IreeException e) { // closed by the caller: misuse, or the caller has abandoned the call
                entry.fail(e);
                rows.fill((byte) 0);
            }
        }
        memory.asSlice(at).fill((byte) 0);
    }

    /**
     * Copies to each entry the entry's rows of the results, which are closed.
     *
     * @return completes the entries, which may run arbitrary code
     */
    private static Runnable divide(List<BatchEntry> live, Results results) {
        List<Results> parts;
        try {
            parts = results.divide(live.stream().mapToLong(entry -> entry.rows).toArray());
        } catch (RuntimeException | Error e) {
            results.close();
            return () -> live.forEach(entry -> entry.fail(e));
        }
        return () -> {
            for (int i = 0; i < live.size(); i++) {
                live.get(i).deliverPart(parts.get(i));
            }
        };
    }
}

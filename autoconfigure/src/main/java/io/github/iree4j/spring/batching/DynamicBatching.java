package io.github.iree4j.spring.batching;

import io.github.iree4j.AlignedInputs;
import io.github.iree4j.FunctionVariants;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Makes calls of one function together, which come at about the same time: their rows, the first dimension of every argument, become those
 * of one call, and each caller gets its own of the results.
 *
 * <p><b>When.</b> A batch is called when it has {@link BatchingOptions#maxSize} rows, or when the first in it has waited for {@link
 * BatchingOptions#maxDelay} or half of its deadline, whichever is less; while as many batches as may be are in work, the next one goes on
 * gathering. Calls of higher priority are taken first.
 *
 * <p><b>What.</b> Calls of one function of one loaded program whose shapes are the same but for the first dimension. A call with fences or
 * with inputs that are given away, and one of more rows than a batch may have, goes its own way. The results of calls that were made
 * together are copies of their rows.
 *
 * <p><b>Giving up.</b> A call that is cancelled or late while it waits is not made; later its rows are computed and dropped, and when all
 * callers of a batch have given up the batch is cancelled.
 *
 * <p><b>Failures</b> of a batch are those of each call in it.
 */
public final class DynamicBatching implements InvocationInterceptor, Ordered, AutoCloseable {

    private final Map<String, BatchingOptions> options;
    private final BatchTimer timer;
    private final BatchListener listener;
    private final Map<Key, BatchQueue> queues = new HashMap<>(); // guarded by itself
    private volatile boolean closed;

    /** What calls must have in common; the most rows as well, which variants for other numbers of rows may say otherwise. */
    private record Key(LoadedProgram program, String function, List<Kind> inputs, int maxSize) {}

    /** An input without its rows. */
    private record Kind(ElementType type, List<Long> row) {}

    /**
     * Batches calls of some programs.
     *
     * @param options by the program's name; calls of others are not touched
     * @param timer the time to wait by
     * @param listener hears of each batch
     */
    public DynamicBatching(Map<String, BatchingOptions> options, BatchTimer timer, BatchListener listener) {
        this.options = Map.copyOf(options);
        this.timer = timer;
        this.listener = listener;
    }

    @Override
    public int getOrder() {
        return BATCHING_ORDER;
    }

    @Override
    public CompletableFuture<Results> intercept(InvocationRequest request, InvocationChain chain) {
        BatchingOptions wanted = options.get(request.model());
        if (wanted == null
                || closed
                || request.options().after() != null
                || request.options().signal() != null) {
            return chain.proceed(request);
        }
        try {
            FunctionVariants variants = request.function().variants();
            if (variants != null) {
                return intercept(request, chain, wanted, variants);
            }
            int fixed = Batchable.rows(request.function());
            List<Tensor> inputs = tensors(request);
            int rows = inputs == null ? -1 : rows(request.function(), inputs);
            int most = fixed == 0 ? wanted.maxSize() : fixed;
            if (inputs == null || rows < 1 || rows > most) {
                return chain.proceed(request);
            }
            BatchingOptions effective = fixed == 0 ? wanted : fixed(wanted, fixed);
            BatchEntry entry = new BatchEntry(request, inputs, rows, null, timer);
            join(request, kinds(inputs), effective, RowSizes.ANY, chain, entry);
            return entry;
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Calls whose shapes differ go together when they would be padded to the same one, up to as many rows as a variant of it has. */
    private CompletableFuture<Results> intercept(
            InvocationRequest request, InvocationChain chain, BatchingOptions wanted, FunctionVariants variants) {
        if (request.inputs().stream()
                .anyMatch(input -> input != null
                        && !(input instanceof Tensor)
                        && !input.getClass().isArray())) {
            return chain.proceed(request);
        }
        AlignedInputs aligned = variants.align(request.inputs().toArray());
        int most = (int) Math.min(wanted.maxSize(), aligned.rowSizes().getLast());
        if (aligned.rows() < 1 || aligned.rows() > most) {
            return chain.proceed(request);
        }
        BatchingOptions effective = new BatchingOptions(
                most,
                wanted.maxDelay(),
                wanted.buckets().stream().filter(bucket -> bucket <= most).toList(),
                wanted.maxWaiting(),
                wanted.maxInFlight());
        BatchEntry entry = new BatchEntry(request, aligned.inputs(), (int) aligned.rows(), aligned, timer);
        join(request, kinds(aligned.inputs()), effective, RowSizes.of(aligned.rowSizes()), chain, entry);
        return entry;
    }

    /** A function with a number of rows of its own has one bucket. */
    private static BatchingOptions fixed(BatchingOptions wanted, int rows) {
        return new BatchingOptions(rows, wanted.maxDelay(), List.of(rows), wanted.maxWaiting(), wanted.maxInFlight());
    }

    private void join(
            InvocationRequest request,
            List<Kind> kinds,
            BatchingOptions effective,
            RowSizes sizes,
            InvocationChain chain,
            BatchEntry entry) {
        Key key = new Key(request.program(), request.function().fullName(), kinds, effective.maxSize());
        BatchQueue queue;
        synchronized (queues) {
            queue = queues.computeIfAbsent(
                    key, _ -> new BatchQueue(effective, sizes, chain, timer, listener, idle -> forget(key, idle)));
            queue.announce();
        }
        queue.add(entry);
    }

    /** Queues are as many as there are shapes with callers now. */
    private void forget(Key key, BatchQueue idle) {
        synchronized (queues) {
            if (idle.isUnused()) {
                queues.remove(key, idle);
            }
        }
    }

    /** How many kinds of calls wait or are in work. */
    int queueCount() {
        synchronized (queues) {
            return queues.size();
        }
    }

    /** The inputs as tensors; null when one is not to be batched. */
    private static @Nullable List<Tensor> tensors(InvocationRequest request) {
        List<@Nullable Object> inputs = request.inputs();
        if (inputs.size() != request.function().arguments().size()) {
            return null; // the call itself will say so
        }
        List<Tensor> tensors = new ArrayList<>(inputs.size());
        for (int i = 0; i < inputs.size(); i++) {
            Object input = inputs.get(i);
            if (input instanceof Tensor tensor) {
                tensors.add(tensor);
            } else if (input != null && input.getClass().isArray()) {
                tensors.add(request.function().tensor(i, input));
            } else {
                return null;
            }
        }
        return tensors;
    }

    /** How many rows all inputs have; -1 when they differ or a shape does not fit, which the call itself will say. */
    private static int rows(ProgramFunction function, List<Tensor> inputs) {
        long rows = -1;
        for (int i = 0; i < inputs.size(); i++) {
            long[] shape = inputs.get(i).shape();
            List<Long> declared = function.arguments().get(i).shape();
            if (declared == null || shape.length != declared.size() || (rows >= 0 && shape[0] != rows)) {
                return -1;
            }
            for (int d = 1; d < shape.length; d++) {
                if (declared.get(d) >= 0 && declared.get(d) != shape[d]) {
                    return -1;
                }
            }
            rows = shape[0];
        }
        return (int) Math.min(rows, Integer.MAX_VALUE);
    }

    private static List<Kind> kinds(List<Tensor> inputs) {
        return inputs.stream()
                .map(input -> new Kind(
                        input.elementType(),
                        Arrays.stream(input.shape()).skip(1).boxed().toList()))
                .toList();
    }

    /** Calls what waits, and from now on touches no calls. Harmless when repeated. */
    @Override
    public void close() {
        closed = true;
        List<BatchQueue> all;
        synchronized (queues) {
            all = List.copyOf(queues.values());
        }
        all.forEach(BatchQueue::flush);
    }

    /** For what ended with something that is no status. */
    static IreeException failure(@Nullable Throwable cause) {
        return cause instanceof IreeException e
                ? e
                : new IreeException(StatusCode.INTERNAL, "call failed: " + cause, cause);
    }
}

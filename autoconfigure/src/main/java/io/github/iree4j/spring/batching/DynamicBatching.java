package io.github.iree4j.spring.batching;

import io.github.iree4j.AlignedInputs;
import io.github.iree4j.FunctionVariants;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;

/**
 * Merges calls of a function arriving at about the same time: the rows of the calls (the first dimension of every
 * argument) form one call, and each caller receives the corresponding rows of the results.
 *
 * <p><b>When.</b> A batch is called on reaching {@link BatchingOptions#maxSize()} rows, or when the first call in the
 * batch has waited for {@link BatchingOptions#maxDelay()} or half of the call's deadline, whichever is less; while the
 * maximum number of batches is in flight, the next batch keeps gathering. Calls of higher priority are taken first.
 *
 * <p><b>Scope.</b> A batch holds calls of a single function of a single loaded program, with shapes equal except for
 * the first dimension. A call with fences or transferred inputs, or with more rows than a batch may have, is made
 * individually. So is a nested call: in a batch, strangers would use the outer call's memory, or the batch would wait
 * for memory of the outer call. The results of merged calls are copies of the calls' rows, on the Java heap.
 *
 * <p><b>Cancellation.</b> A call cancelled or timed out while waiting is not made; later, the call's rows are computed
 * and dropped. When all callers of a batch have cancelled, the batch is cancelled.
 *
 * <p><b>Failures.</b> A failed batch fails all calls in the batch, except for a shortage of memory for the batch: then
 * the calls are made one after another, and later batches are smaller until some have succeeded. An exception of a
 * later interceptor or the listener counts as a failure of the batch.
 */
public final class DynamicBatching implements InvocationInterceptor, Ordered, AutoCloseable {

    private final Map<String, BatchingOptions> options;
    private final BatchTimer timer;
    private final BatchListener listener;
    private final Map<Key, BatchQueue> queues = new HashMap<>(); // guarded by itself
    private final Map<String, BatchBound> bounds = new HashMap<>(); // by program and function; guarded by the queues
    private volatile boolean closed;

    /**
     * The common properties of the calls of a batch; includes the maximum number of rows, which can differ between
     * variants.
     */
    private record Key(LoadedProgram program, String function, List<Kind> inputs, int maxSize) {}

    /** An input without the rows. */
    private record Kind(ElementType type, List<Long> row) {}

    /**
     * Creates an interceptor batching the calls of some programs.
     *
     * @param options by program name; calls of other programs pass through
     * @param timer clock and scheduler
     * @param listener notified of each batch
     */
    public DynamicBatching(Map<String, BatchingOptions> options, BatchTimer timer, BatchListener listener) {
        this.options = Map.copyOf(options);
        this.timer = timer;
        this.listener = listener;
    }

    /**
     * Returns the reasons why calls of a program cannot be batched.
     *
     * @param program the program
     * @return the reason for each function; empty when at least one function can be batched
     */
    public static Optional<String> refusal(Program program) {
        List<String> reasons = new ArrayList<>();
        for (ProgramFunction function : program.functions()) {
            Optional<String> reason = function.variants().isPresent() ? Optional.empty() : Batchable.refusal(function);
            if (reason.isEmpty()) {
                return reason;
            }
            reasons.add(reason.get());
        }
        return Optional.of(reasons.isEmpty() ? "the program has no functions" : String.join("; ", reasons));
    }

    /**
     * Returns whether all batches of a program have the number of rows for which the function was compiled. Then
     * {@link BatchingOptions#buckets()} are of no use.
     *
     * @param program the program
     * @return false when batches of any function can be of several sizes
     */
    public static boolean takesFixedRowsOnly(Program program) {
        for (ProgramFunction function : program.functions()) {
            if (function.variants().isPresent() || Batchable.rows(function) == 0) {
                return false;
            }
        }
        return true;
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
                || request.options().after().isPresent()
                || request.options().signal().isPresent()) {
            return chain.proceed(request);
        }
        boolean isNested = MemoryHolder.current() != null;
        try {
            FunctionVariants variants = request.function().variants().orElse(null);
            if (variants != null) {
                return isNested ? chain.proceed(request) : intercept(request, chain, wanted, variants);
            }
            int fixed = Batchable.rows(request.function());
            if (fixed == Batchable.NONE) {
                return chain.proceed(request);
            }
            List<Tensor> inputs = tensors(request);
            int rows = inputs == null ? -1 : rows(request.function(), inputs);
            int most = fixed == 0 ? wanted.maxSize() : fixed;
            if (inputs == null || rows < 1 || rows > most) {
                return chain.proceed(request);
            }
            BatchingOptions effective = fixed == 0 ? wanted : wanted.fixed(fixed);
            if (isNested && effective.padded(rows) == rows) {
                return chain.proceed(request);
            }
            BatchEntry entry = new BatchEntry(request, inputs, rows, null, timer);
            BatchQueue queue = queue(request, kinds(inputs), effective, RowSizes.ANY, chain);
            if (isNested) {
                queue.callByItself(entry);
            } else {
                queue.add(entry);
            }
            return entry;
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Merges calls of different shapes with a common padded shape, up to the largest number of rows accepted by a
     * variant.
     */
    private CompletableFuture<Results> intercept(
            InvocationRequest request, InvocationChain chain, BatchingOptions wanted, FunctionVariants variants) {
        if (request.inputs().stream()
                .anyMatch(input -> input != null
                        && !(input instanceof Tensor)
                        && !input.getClass().isArray())) {
            return chain.proceed(request);
        }
        AlignedInputs aligned = variants.align(request.inputs().toArray()).orElse(null);
        if (aligned == null) {
            return chain.proceed(request);
        }
        int most = (int) Math.min(wanted.maxSize(), aligned.rowSizes().getLast());
        if (aligned.rows() < 1 || aligned.rows() > most) {
            return chain.proceed(request);
        }
        BatchEntry entry = new BatchEntry(request, aligned.inputs(), (int) aligned.rows(), aligned, timer);
        queue(request, kinds(aligned.inputs()), wanted.atMost(most), RowSizes.of(aligned.rowSizes()), chain)
                .add(entry);
        return entry;
    }

    /** Returns the queue for a call, with an entry announced to the queue. */
    private BatchQueue queue(
            InvocationRequest request,
            List<Kind> kinds,
            BatchingOptions effective,
            RowSizes sizes,
            InvocationChain chain) {
        Key key = new Key(request.program(), request.function().fullName(), kinds, effective.maxSize());
        synchronized (queues) {
            BatchBound bound = bounds.computeIfAbsent(request.model() + " " + key.function, _ -> new BatchBound());
            BatchQueue queue = queues.computeIfAbsent(
                    key,
                    _ -> new BatchQueue(effective, sizes, bound, chain, timer, listener, idle -> forget(key, idle)));
            queue.announce();
            return queue;
        }
    }

    /** Discards an idle queue: there is one queue per shape with current callers. */
    private void forget(Key key, BatchQueue idle) {
        synchronized (queues) {
            if (idle.isUnused()) {
                queues.remove(key, idle);
            }
        }
    }

    /** Returns the number of kinds of calls waiting or in flight. */
    int queueCount() {
        synchronized (queues) {
            return queues.size();
        }
    }

    /** Returns the inputs as tensors; null when an input cannot be batched. */
    private static @Nullable List<Tensor> tensors(InvocationRequest request) {
        List<@Nullable Object> inputs = request.inputs();
        if (inputs.size() != request.function().arguments().size()) {
            return null; // the call itself will report the error
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

    /**
     * Returns the number of rows of all inputs; -1 when the numbers differ or a shape does not match. The call itself
     * will report the error.
     */
    private static int rows(ProgramFunction function, List<Tensor> inputs) {
        long rows = -1;
        for (int i = 0; i < inputs.size(); i++) {
            long[] shape = inputs.get(i).shape().dimensions();
            List<Long> declared = function.arguments().get(i).shape().orElse(null);
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
                        Arrays.stream(input.shape().dimensions())
                                .skip(1)
                                .boxed()
                                .toList()))
                .toList();
    }

    /** Calls all waiting entries; later calls pass through. Idempotent. */
    @Override
    public void close() {
        closed = true;
        List<BatchQueue> all;
        synchronized (queues) {
            all = List.copyOf(queues.values());
        }
        all.forEach(BatchQueue::flush);
    }
}

package io.github.iree4j.spring.test;

import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A function that does what a test says, from one call to the next: each {@code returns}, {@code answers} or {@code fails} is for one call,
 * the last one for all that follow. Safe from any thread.
 */
public final class FakeFunction {

    private final String name;
    private final String declaration;
    private final Deque<Function<List<Object>, List<?>>> script = new ArrayDeque<>(); // guarded by this
    private volatile long nanos = 1;

    FakeFunction(String name, String declaration) {
        this.name = name;
        this.declaration = declaration;
    }

    String name() {
        return name;
    }

    String declaration() {
        return declaration;
    }

    long nanos() {
        return nanos;
    }

    /**
     * Sets how long each call keeps the device busy, on the virtual clock.
     *
     * @param time at least 0
     * @return this
     */
    public FakeFunction takes(Duration time) {
        nanos = time.toNanos();
        return this;
    }

    /**
     * Has the next call return values.
     *
     * @param values one for each result: tensors, which stay the test's and must not be closed, or numbers
     * @return this
     */
    public FakeFunction returns(Object... values) {
        List<Object> results = Arrays.asList(values);
        return answers(inputs -> results);
    }

    /**
     * Has the next call compute its results.
     *
     * @param answer makes the results of the inputs: tensors, only while it runs, and numbers
     * @return this
     */
    public synchronized FakeFunction answers(Function<List<Object>, List<?>> answer) {
        script.add(answer);
        return this;
    }

    /**
     * Has the next call return one tensor, computed.
     *
     * @param answer makes the result of the first input
     * @return this
     */
    public FakeFunction maps(Function<Tensor, Tensor> answer) {
        return answers(inputs -> List.of(answer.apply((Tensor) inputs.getFirst())));
    }

    /**
     * Has the next call fail.
     *
     * @param code with what
     * @param message saying what
     * @return this
     */
    public FakeFunction fails(StatusCode code, String message) {
        return answers(inputs -> {
            throw new IreeException(code, message);
        });
    }

    /** What this call does. */
    synchronized Function<List<Object>, List<?>> next() {
        @Nullable Function<List<Object>, List<?>> next = script.size() > 1 ? script.poll() : script.peek();
        if (next == null) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "nothing was said of what '%s' does; use returns, answers or fails".formatted(name));
        }
        return next;
    }
}

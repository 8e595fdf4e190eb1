package io.github.iree4j.spring.test;

import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A scripted function: each {@code returns}, {@code answers} or {@code fails} applies to a single call, the last to all
 * later calls. A call fails with INTERNAL if the scripted results do not fit the types of the signature, as 2.7 does not
 * fit i32. Thread-safe.
 */
public final class FakeFunction {

    private final String name;
    private final String signature;
    private final Deque<Function<List<Object>, List<?>>> script = new ArrayDeque<>(); // guarded by this
    private volatile long nanos = 1;
    private volatile List<ValueDeclaration> results = List.of();

    FakeFunction(String name, String signature) {
        this.name = name;
        this.signature = signature;
    }

    String name() {
        return name;
    }

    String signature() {
        return signature;
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
     * Makes the next call return values.
     *
     * @param values a number or tensor for each result; tensors remain owned by the test and must not be closed
     * @return this
     */
    public FakeFunction returns(Object... values) {
        List<Object> results = Arrays.asList(values);
        return answers(inputs -> results);
    }

    /**
     * Makes the next call compute the results.
     *
     * @param answer computes the results from the inputs: numbers, and tensors valid only during the computation
     * @return this
     */
    public synchronized FakeFunction answers(Function<List<Object>, List<?>> answer) {
        script.add(answer);
        return this;
    }

    /**
     * Makes the next call compute a single tensor.
     *
     * @param answer computes the result from the first input
     * @return this
     */
    public FakeFunction maps(Function<Tensor, Tensor> answer) {
        return answers(inputs -> List.of(answer.apply((Tensor) inputs.getFirst())));
    }

    /**
     * Makes the next call fail.
     *
     * @param code the status code
     * @param message the message
     * @return this
     */
    public FakeFunction fails(StatusCode code, String message) {
        return answers(inputs -> {
            throw IreeException.of(code, message);
        });
    }

    /** Sets the types of the results. */
    void declare(List<ValueDeclaration> types) {
        results = types;
    }

    /** Computes the results of this call. */
    List<?> answer(List<Object> inputs) {
        List<?> values = next().apply(inputs);
        if (values.size() != results.size()) {
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "the script of '%s' has %d results, but the function has %d"
                            .formatted(name, values.size(), results.size()));
        }
        for (int i = 0; i < values.size(); i++) {
            Object value = values.get(i);
            ValueDeclaration declared = results.get(i);
            boolean fits = value instanceof Tensor tensor ? declared.accepts(tensor) : isNumber(value, declared);
            if (!fits) {
                throw IreeException.of(
                        StatusCode.INTERNAL,
                        "the script of '%s' returns %s as result %d, but the function returns %s"
                                .formatted(name, described(value), i, declared.type()));
            }
        }
        return values;
    }

    private static boolean isNumber(@Nullable Object value, ValueDeclaration declared) {
        return value instanceof Number number
                && !declared.isTensor()
                && declared.elementType().filter(type -> holds(type, number)).isPresent();
    }

    /** Integers hold the whole numbers in their range, and floats all numbers in their range, rounded. */
    private static boolean holds(ElementType type, Number value) {
        if (type.equals(ElementType.F32) || type.equals(ElementType.F64)) {
            return type.equals(ElementType.F64)
                    || Float.isFinite(value.floatValue())
                    || !Double.isFinite(value.doubleValue());
        }
        try {
            BigDecimal whole = new BigDecimal(value.toString());
            return type.equals(ElementType.I32)
                    ? whole.intValueExact() == value.intValue()
                    : whole.longValueExact() == value.longValue();
        } catch (ArithmeticException | NumberFormatException e) { // a fraction, too large, or no number
            return false;
        }
    }

    private static String described(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case Tensor tensor -> tensor.shape().format(tensor.elementType());
            case Number number -> "the %s %s".formatted(number.getClass().getSimpleName(), number);
            default -> "a " + value.getClass().getSimpleName();
        };
    }

    /** The script of this call. */
    private synchronized Function<List<Object>, List<?>> next() {
        @Nullable Function<List<Object>, List<?>> next = script.size() > 1 ? script.poll() : script.peek();
        if (next == null) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED, "'%s' has no script; use returns, answers or fails".formatted(name));
        }
        return next;
    }
}

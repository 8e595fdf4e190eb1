package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.TensorElements;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of a call: {@link Tensor} for tensors, {@code Integer}, {@code Long}, {@code Float} and {@code Double} for primitives,
 * {@code List} for lists, and the object itself for references of other types; null for a null reference.
 *
 * <p>Closing frees every result that was not {@linkplain #take taken}. Safe from any thread; after {@link #close()} every accessor throws
 * FAILED_PRECONDITION.
 */
public final class Results implements AutoCloseable {
    /*
     * A value belongs to the caller that replaces the value by TAKEN: exactly one of take() and close().
     */
    private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(Object[].class);

    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(Results.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ProgramFunction function;
    private final @Nullable Object[] values; // written through VALUES

    @SuppressWarnings("UnusedVariable") // through CLOSED
    private boolean closed;

    Results(ProgramFunction function, @Nullable Object[] values) {
        this.function = function;
        this.values = values;
    }

    /** Takes ownership of the values returned by a call, and wraps elements in tensors, to be closed later. */
    static Results of(ProgramFunction function, @Nullable Object[] values, Leaks leaks) {
        try {
            for (int i = 0; i < values.length; i++) {
                values[i] = wrapped(values[i], leaks);
            }
        } catch (RuntimeException | Error e) {
            free(values);
            throw e;
        }
        return new Results(function, values);
    }

    private static @Nullable Object wrapped(@Nullable Object value, Leaks leaks) {
        return switch (value) {
            case TensorElements elements -> new Tensor(elements, leaks);
            case List<?> list -> {
                List<@Nullable Object> wrapped = new ArrayList<>(list.size());
                list.forEach(each -> wrapped.add(wrapped(each, leaks)));
                yield Collections.unmodifiableList(wrapped);
            }
            case null, default -> value;
        };
    }

    /**
     * Returns the number of results.
     *
     * @return 0 or more; not changed by closing
     */
    public int size() {
        return values.length;
    }

    /**
     * Returns a result, which stays with this object and is freed with this object.
     *
     * @param index 0 is the first
     * @return the result, borrowed
     * @throws IreeException OUT_OF_RANGE when there is no such result; FAILED_PRECONDITION when closed or already taken
     */
    public @Nullable Object get(int index) {
        check(index);
        Object value = VALUES.getAcquire(values, index);
        if (value instanceof Taken) {
            check(index); // may have been closed concurrently
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "result %d of '%s' was taken".formatted(index, function.fullName()));
        }
        return value;
    }

    /**
     * Returns a tensor, which stays with this object and is freed with this object.
     *
     * @param index 0 is the first
     * @return the tensor, borrowed
     * @throws IreeException INVALID_ARGUMENT when the result is not a tensor; otherwise as {@link #get(int)}
     */
    public Tensor tensor(int index) {
        return typed(index, Tensor.class);
    }

    /**
     * Transfers a tensor to the caller, who closes the tensor.
     *
     * @param index 0 is the first
     * @return the tensor
     * @throws IreeException INVALID_ARGUMENT when the result is not a tensor; otherwise as {@link #get(int)}
     */
    public Tensor take(int index) {
        Tensor tensor = tensor(index);
        take(index, tensor);
        return tensor;
    }

    /**
     * Returns a result by name, which stays with this object and is freed with this object.
     *
     * @param name the name in the function's declaration; {@code output0} for a first result without a name
     * @return the result, borrowed
     * @throws IreeException INVALID_ARGUMENT when there is no such result, as for an unknown input; otherwise as {@link #get(int)}
     */
    public @Nullable Object get(String name) {
        return get(index(name));
    }

    /**
     * Returns a tensor by name, which stays with this object and is freed with this object.
     *
     * @param name as for {@link #get(String)}
     * @return the tensor, borrowed
     * @throws IreeException as {@link #get(String)}; INVALID_ARGUMENT when the result is not a tensor
     */
    public Tensor tensor(String name) {
        return tensor(index(name));
    }

    /**
     * Transfers a tensor to the caller, who closes the tensor.
     *
     * @param name as for {@link #get(String)}
     * @return the tensor
     * @throws IreeException as {@link #tensor(String)}
     */
    public Tensor take(String name) {
        return take(index(name));
    }

    /** Returns the name of a result in messages. */
    String describe(int index) {
        return "result %d of '%s'".formatted(index, function.fullName());
    }

    /** Returns the name of the function in messages. */
    String functionName() {
        return function.fullName();
    }

    private int index(String name) {
        List<String> names = ValueDeclaration.names(function.results(), ValueDeclaration.OUTPUT);
        int index = names.indexOf(name);
        if (index < 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' has no result '%s'; the results are %s".formatted(function.fullName(), name, names));
        }
        return index;
    }

    /**
     * Converts all results to a Java value, and closes these results, also by a failure, unless part of the value.
     *
     * @param type an array, a number, a record of several results or another type of {@link ResultType}
     * @return the value; nothing needs closing, unless the type has tensors
     * @throws IreeException INVALID_ARGUMENT when the results are of another kind; OUT_OF_RANGE when a number does not
     *     fit; FAILED_PRECONDITION when closed
     * @throws IllegalArgumentException for an unsupported type
     * @param <T> the type of the value
     */
    public <T> T to(Class<T> type) {
        ResultType<T> conversion;
        try {
            conversion = ResultType.of(type);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
        return conversion.read(this);
    }

    private void take(int index, @Nullable Object value) {
        while (!VALUES.compareAndSet(values, index, value, Taken.TAKEN)) {
            get(index); // throws the reason
        }
    }

    /** Transfers any result to the caller, with everything owned by the result. */
    @Nullable
    Object takeAny(int index) {
        Object value = get(index);
        take(index, value);
        return value;
    }

    /**
     * Returns a primitive.
     *
     * @param index 0 is the first
     * @return the i32
     * @throws IreeException INVALID_ARGUMENT when the result is of another type; otherwise as {@link #get(int)}
     */
    public int intValue(int index) {
        return typed(index, Integer.class);
    }

    /**
     * Returns a primitive.
     *
     * @param index 0 is the first
     * @return the i64, or the i32 widened
     * @throws IreeException INVALID_ARGUMENT when the result is of another type; otherwise as {@link #get(int)}
     */
    public long longValue(int index) {
        return get(index) instanceof Integer value ? value : typed(index, Long.class);
    }

    /**
     * Returns a primitive.
     *
     * @param index 0 is the first
     * @return the f32
     * @throws IreeException INVALID_ARGUMENT when the result is of another type; otherwise as {@link #get(int)}
     */
    public float floatValue(int index) {
        return typed(index, Float.class);
    }

    /**
     * Returns a primitive.
     *
     * @param index 0 is the first
     * @return the f64, or the f32 widened
     * @throws IreeException INVALID_ARGUMENT when the result is of another type; otherwise as {@link #get(int)}
     */
    public double doubleValue(int index) {
        return get(index) instanceof Float value ? value : typed(index, Double.class);
    }

    /**
     * Returns all results, which stay with this object and are freed with this object.
     *
     * @return unmodifiable; may contain null
     * @throws IreeException as {@link #get(int)}
     */
    public List<@Nullable Object> asList() {
        List<@Nullable Object> all = new ArrayList<>(values.length);
        for (int i = 0; i < values.length; i++) {
            all.add(get(i));
        }
        return Collections.unmodifiableList(all);
    }

    /**
     * Divides results into several parts, where all tensors have rows, the first dimension: copies of the first rows go
     * to the first part, copies of the next rows to the second part, and so on. Remaining rows are dropped. Closes
     * these results, unless the division fails. The copies are on the Java heap: the device, which may have no memory
     * left, needs none for the copies, and sends each tensor once.
     *
     * @param rows the number of rows of each part
     * @return as many results as there are numbers; the caller closes the results
     * @throws IreeException INVALID_ARGUMENT when a result is not a tensor; OUT_OF_RANGE when there are too few rows; RESOURCE_EXHAUSTED when the
     *     heap has no room for a copy; otherwise as {@link #get(int)}
     */
    @NotForApplications
    public List<Results> divide(long... rows) {
        @Nullable Object[][] parts = new Object[rows.length][values.length];
        try {
            for (int i = 0; i < values.length; i++) {
                Tensor tensor = tensor(i).onHost();
                long first = 0;
                for (int part = 0; part < rows.length; part++) {
                    parts[part][i] = tensor.copyRows(first, rows[part]);
                    first += rows[part];
                }
            }
        } catch (RuntimeException | Error e) {
            for (@Nullable Object[] part : parts) {
                free(part);
            }
            throw e;
        }
        close();
        return Arrays.stream(parts).map(part -> new Results(function, part)).toList();
    }

    private <T> T typed(int index, Class<T> type) {
        Object value = get(index);
        if (!type.isInstance(value)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "result %d of '%s' is a %s, not a %s"
                            .formatted(
                                    index,
                                    function.fullName(),
                                    value == null
                                            ? "null reference"
                                            : value.getClass().getSimpleName(),
                                    type.getSimpleName()));
        }
        return type.cast(value);
    }

    private void check(int index) {
        if (isClosed()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "results of '%s' are closed".formatted(function.fullName()));
        }
        if (index < 0 || index >= values.length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "'%s' has %d results; there is no result %d".formatted(function.fullName(), values.length, index));
        }
    }

    /** Frees all results that were not taken. Idempotent. */
    @Override
    public void close() {
        if (!isClosed() && CLOSED.compareAndSet(this, false, true)) {
            for (int i = 0; i < values.length; i++) {
                free(VALUES.getAndSet(values, i, Taken.TAKEN));
            }
        }
    }

    private boolean isClosed() {
        return (boolean) CLOSED.getAcquire(this);
    }

    /** Frees everything owned by results. */
    static void free(@Nullable Object[] values) {
        for (Object value : values) {
            free(value);
        }
    }

    /** Frees everything owned by one result. */
    static void free(@Nullable Object value) {
        switch (value) {
            case null -> {}
            case Tensor tensor -> tensor.close();
            case TensorElements elements -> elements.close(); // not wrapped in a tensor yet
            case List<?> list -> list.forEach(Results::free);
            case RefCounted counted -> counted.release();
            default -> {}
        }
    }

    @Override
    public String toString() {
        return isClosed() ? "closed results of '" + function.fullName() + "'" : Arrays.toString(values);
    }

    /** Replaces a taken result. */
    private enum Taken {
        TAKEN
    }
}

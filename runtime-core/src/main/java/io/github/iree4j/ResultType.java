package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmTypes;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Java type for the results of a call.
 *
 * <ul>
 *   <li>an array of numbers or booleans, flat or nested by dimension, a number or a boolean, or a {@link Tensor}: the
 *       only result of the function;
 *   <li>a record of such types: several results, in order;
 *   <li>{@code Void}: no result is read;
 *   <li>{@link Results}: the results themselves.
 * </ul>
 *
 * <p>Values are copied out, and the results closed, except for {@link Results} and tensors, which the receiver closes.
 * A {@code byte[]} is also the conversion of a {@code !vm.buffer}. Thread-safe.
 *
 * @param <T> the Java type
 */
public final class ResultType<T> {
    private static final int ANY = -1;

    /**
     * Conversions to records, which need reflection. Other conversions are cheap, and must not be kept: their classes
     * may outlive the class loader of this class.
     */
    private static final ClassValue<ResultType<?>> RECORDS = new ClassValue<>() {
        @Override
        protected ResultType<?> computeValue(Class<?> type) {
            return ofRecord(type, false);
        }
    };

    private final List<Class<?>> components;
    private final int count;
    private final boolean copies;
    private final Reading reading;

    private ResultType(List<Class<?>> components, int count, Reading reading) {
        this.components = components;
        this.count = count;
        this.copies = components.stream().anyMatch(each -> each != Tensor.class);
        this.reading = reading;
    }

    /** Converts results, and closes what is not part of the value. */
    @FunctionalInterface
    private interface Reading {
        @Nullable
        Object read(Results results);
    }

    /** Converts one result. */
    @FunctionalInterface
    private interface Single {
        @Nullable
        Object read(Results results, int index);
    }

    /**
     * Returns the conversion to a class.
     *
     * @param type see above
     * @return the conversion
     * @throws IllegalArgumentException for an unsupported type
     * @param <T> the Java type
     */
    @SuppressWarnings("unchecked")
    public static <T> ResultType<T> of(Class<T> type) {
        return (ResultType<T>) of((Type) type);
    }

    /**
     * Returns the conversion to a type.
     *
     * @param type see above
     * @return the conversion
     * @throws IllegalArgumentException for an unsupported type
     */
    public static ResultType<?> of(Type type) {
        Class<?> raw = raw(type);
        return raw.isRecord() ? RECORDS.get(raw) : of(type, false);
    }

    /**
     * Returns the conversion to a type, or to any type of references: a {@code String} for a {@code !vm.buffer}, and
     * each class of the references passed between modules. A null reference becomes null.
     */
    static ResultType<?> ofReferences(Type type) {
        Class<?> raw = raw(type);
        return raw.isRecord() ? ofRecord(raw, true) : of(type, true);
    }

    private static ResultType<?> of(Type type, boolean references) {
        Class<?> raw = boxed(raw(type));
        if (raw == Results.class) {
            return new ResultType<>(List.of(), ANY, results -> results);
        }
        if (raw == Void.class) {
            return new ResultType<>(List.of(), ANY, results -> {
                results.close();
                return null;
            });
        }
        Single single = single(type, raw, references);
        return new ResultType<>(List.of(raw), 1, results -> {
            try (results) {
                requireCount(results, 1, raw);
                return single.read(results, 0);
            }
        });
    }

    private static Class<?> raw(Type type) {
        return type instanceof Class<?> c
                ? c
                : type instanceof ParameterizedType generic && generic.getRawType() instanceof Class<?> c
                        ? c
                        : Object.class;
    }

    private static Class<?> boxed(Class<?> type) {
        return MethodType.methodType(type).wrap().returnType();
    }

    /**
     * Returns the number of results of a function with results of this type.
     *
     * @return 0 or more; -1 for any number
     */
    @NotForApplications
    public int count() {
        return count;
    }

    /**
     * Returns whether a conversion reads the contents of results, and therefore has to wait for the contents.
     *
     * @return false for {@link Results}, tensors and records of tensors, and for {@code Void}
     */
    @NotForApplications
    public boolean copies() {
        return copies;
    }

    /** The boxed classes of the results in order; empty for any number of results. */
    List<Class<?>> components() {
        return components;
    }

    /**
     * Converts results. The results are closed, also by a failure, unless part of the value.
     *
     * @param results the results of one call
     * @return the value; null for {@code Void}
     * @throws IreeException INVALID_ARGUMENT when the function has another number of results, or a result of another
     *     kind; OUT_OF_RANGE when a number does not fit
     */
    @SuppressWarnings({"unchecked", "NullAway"}) // null for Void only
    @NotForApplications
    public T read(Results results) {
        return (T) reading.read(results);
    }

    /**
     * Converts results later. Completing the returned future early cancels the call.
     *
     * @param call a call without a fence to signal, whose results have contents once the call is complete
     * @return as {@link #read(Results)}, or the failure of the call
     */
    @NotForApplications
    public IreeFuture<T> read(IreeFuture<Results> call) {
        return IreeFuture.following(call, this::read, ResultType::drop);
    }

    /**
     * Converts the results of a call with a fence to signal: a conversion that {@link #copies} waits for the contents.
     * Completing the returned future early cancels the call.
     *
     * @param call the call
     * @param signal the fence signalled by the call; may be closed afterwards
     * @return as {@link #read(Results)}, or the failure of the call or of the fence
     */
    @NotForApplications
    public IreeFuture<T> read(IreeFuture<Results> call, Fence signal) {
        return read(copies && !call.isCompletedExceptionally() ? withContents(call, signal) : call);
    }

    private static IreeFuture<Results> withContents(IreeFuture<Results> call, Fence signal) {
        IreeFuture<Results> ready = new IreeFuture<>(IreeFuture.function(call));
        ready.whenComplete((_, _) -> {
            if (!call.isDone()) {
                call.cancel(true);
            }
        });
        signal.retain();
        call.whenComplete((results, failure) -> {
            if (failure != null) {
                signal.release();
                ready.completeExceptionally(IreeFuture.failureOf(failure));
                return;
            }
            Cancellation wait = signal.whenReached(
                    failed -> CallThreads.start("iree4j-contents", () -> end(ready, results, failed, signal)));
            ready.whenComplete((_, _) -> {
                if (wait.cancel()) {
                    results.close();
                    signal.release();
                }
            });
        });
        return ready;
    }

    private static void end(IreeFuture<Results> ready, Results results, @Nullable IreeException failure, Fence signal) {
        signal.release();
        if (failure != null) {
            results.close();
            ready.completeExceptionally(failure);
        } else if (!ready.complete(results)) {
            results.close();
        }
    }

    /**
     * Converts the results of a submitted call, before the results have contents.
     *
     * @param call the call
     * @return the converted results, and the same fence, which a failed conversion does not fail
     * @throws IllegalArgumentException when this type {@link #copies}
     */
    @NotForApplications
    public Submission<T> read(Submission<Results> call) {
        if (copies) {
            throw new IllegalArgumentException(
                    "the results of a submission have no contents yet, and cannot be copied to an array, a number or a record of these");
        }
        return call.with(read(call.results()));
    }

    /**
     * Closes a value without a receiver.
     *
     * @param value a value of any conversion
     */
    @NotForApplications
    public static void drop(@Nullable Object value) {
        if (value instanceof Record record) {
            for (RecordComponent component : record.getClass().getRecordComponents()) {
                if (!component.getType().isPrimitive()) {
                    Results.free(component(record, component.getAccessor()));
                }
            }
        } else if (value instanceof Results results) {
            results.close();
        } else {
            Results.free(value);
        }
    }

    private static @Nullable Object component(Record record, Method accessor) {
        try {
            accessor.setAccessible(true);
            return accessor.invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("'%s' cannot be read".formatted(accessor), e);
        }
    }

    private static ResultType<?> ofRecord(Class<?> type, boolean references) {
        RecordComponent[] components = type.getRecordComponents();
        List<Single> singles = new ArrayList<>();
        List<Class<?>> boxed = new ArrayList<>();
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            boxed.add(boxed(types[i]));
            singles.add(single(components[i].getGenericType(), boxed.getLast(), references));
        }
        Constructor<?> constructor = constructor(type, types);
        return new ResultType<>(List.copyOf(boxed), types.length, results -> {
            @Nullable Object[] values = new @Nullable Object[types.length];
            boolean made = false;
            try (results) {
                requireCount(results, types.length, type);
                for (int i = 0; i < values.length; i++) {
                    values[i] = singles.get(i).read(results, i);
                }
                Object record = construct(constructor, values);
                made = true;
                return record;
            } finally {
                if (!made) {
                    Results.free(values);
                }
            }
        });
    }

    private static Constructor<?> constructor(Class<?> type, Class<?>[] types) {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor;
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException("record '%s' has no canonical constructor".formatted(type.getName()), e);
        } catch (InaccessibleObjectException e) {
            throw new IllegalArgumentException(
                    "record '%s' cannot be made; open package '%s' to module 'io.github.iree4j.runtime'"
                            .formatted(type.getName(), type.getPackageName()),
                    e);
        }
    }

    private static Object construct(Constructor<?> constructor, @Nullable Object[] values) {
        try {
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof RuntimeException own
                    ? own
                    : new IllegalStateException("'%s' failed".formatted(constructor), e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("'%s' cannot be called".formatted(constructor), e);
        }
    }

    private static void requireCount(Results results, int wanted, Class<?> type) {
        if (results.size() != wanted) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' has %d result%s, and '%s' takes %d"
                            .formatted(
                                    results.functionName(),
                                    results.size(),
                                    results.size() == 1 ? "" : "s",
                                    type.getSimpleName(),
                                    wanted));
        }
    }

    private static Single single(Type type, Class<?> raw, boolean references) {
        if (raw == Tensor.class || isArray(raw)) {
            Single present = raw == Tensor.class ? Results::take : (results, i) -> array(results, i, raw);
            return references ? (results, i) -> results.get(i) == null ? null : present.read(results, i) : present;
        }
        if (MethodType.methodType(raw).unwrap().returnType().isPrimitive()
                && raw != Character.class
                && raw != Void.class) {
            return (results, i) -> Scalars.read(results, i, raw);
        }
        if (references) {
            return (results, i) -> reference(results, i, raw);
        }
        throw new IllegalArgumentException(
                "a result of type %s is not a tensor, array, number or record of these".formatted(type.getTypeName()));
    }

    private static Object array(Results results, int index, Class<?> type) {
        return type == byte[].class && results.get(index) instanceof VmBuffer buffer
                ? buffer.segment().toArray(ValueLayout.JAVA_BYTE)
                : NestedArrays.of(results, index, type);
    }

    private static @Nullable Object reference(Results results, int index, Class<?> type) {
        Object value = results.get(index);
        if (type == String.class && value instanceof VmBuffer buffer) {
            return buffer.utf8();
        }
        if (value != null && !type.isInstance(value)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s is a %s, not a %s"
                            .formatted(results.describe(index), VmTypes.nameOf(value), type.getSimpleName()));
        }
        return results.takeAny(index);
    }

    /**
     * Returns whether a class is an array of numbers or booleans, nested or not.
     *
     * @param type any class
     * @return true for {@code float[]} and {@code long[][]}, for example
     */
    public static boolean isArray(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        return type.isArray() && element.isPrimitive() && element != char.class;
    }
}

package io.github.iree4j.module;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmCall;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Type;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A Java type representing a single value of programs: reads arguments of calls, sets results, and passes arguments to
 * other functions.
 *
 * @param type the Java type
 * @param letter the letter in calling conventions
 * @param adapter for references; null for numbers
 */
record ValueType(Class<?> type, char letter, @Nullable ReferenceAdapter<Object> adapter) {
    private static final Map<Class<?>, Character> NUMBERS = Map.of(
            boolean.class,
            'i',
            byte.class,
            'i',
            short.class,
            'i',
            int.class,
            'i',
            long.class,
            'I',
            float.class,
            'f',
            double.class,
            'F');

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    static ValueType of(Type type, References references, String where) {
        if (type instanceof Class<?> number) {
            Character letter = NUMBERS.get(number);
            if (letter != null) {
                return new ValueType(number, letter, null);
            }
        }
        Class<?> raw = References.raw(type, where);
        if (raw.isPrimitive() || (raw.isArray() && raw != byte[].class)) {
            throw new IllegalArgumentException(
                    "%s has type '%s', which programs cannot pass".formatted(where, type.getTypeName()));
        }
        return new ValueType(raw, 'r', references.of(type, where));
    }

    /** Reads the next argument of a call: {@code (Scope)type}. */
    MethodHandle reader(String where, boolean nullable) {
        if (adapter == null) {
            return find("take" + capitalized(), MethodType.methodType(type, Scope.class));
        }
        ReferenceArgument argument = new ReferenceArgument(adapter, where, nullable);
        try {
            return LOOKUP.findVirtual(ReferenceArgument.class, "take", MethodType.methodType(Object.class, Scope.class))
                    .bindTo(argument)
                    .asType(MethodType.methodType(type, Scope.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Sets the next result of a call: {@code (Scope, type)void}. */
    MethodHandle writer() {
        if (adapter == null) {
            return find("give" + capitalized(), MethodType.methodType(void.class, Scope.class, type));
        }
        try {
            return LOOKUP.findVirtual(
                            ValueType.class,
                            "giveReference",
                            MethodType.methodType(void.class, Scope.class, Object.class))
                    .bindTo(this)
                    .asType(MethodType.methodType(void.class, Scope.class, type));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private String capitalized() {
        return Character.toUpperCase(type.getName().charAt(0)) + type.getName().substring(1);
    }

    private static MethodHandle find(String name, MethodType type) {
        try {
            return LOOKUP.findStatic(ValueType.class, name, type);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    // Called by handles; found by name.

    static boolean takeBoolean(Scope scope) {
        return scope.call().i32() != 0;
    }

    static byte takeByte(Scope scope) {
        return (byte) scope.call().i32();
    }

    static short takeShort(Scope scope) {
        return (short) scope.call().i32();
    }

    static int takeInt(Scope scope) {
        return scope.call().i32();
    }

    static long takeLong(Scope scope) {
        return scope.call().i64();
    }

    static float takeFloat(Scope scope) {
        return scope.call().f32();
    }

    static double takeDouble(Scope scope) {
        return scope.call().f64();
    }

    static void giveBoolean(Scope scope, boolean value) {
        scope.call().returnI32(value ? 1 : 0);
    }

    static void giveByte(Scope scope, byte value) {
        scope.call().returnI32(value);
    }

    static void giveShort(Scope scope, short value) {
        scope.call().returnI32(value);
    }

    static void giveInt(Scope scope, int value) {
        scope.call().returnI32(value);
    }

    static void giveLong(Scope scope, long value) {
        scope.call().returnI64(value);
    }

    static void giveFloat(Scope scope, float value) {
        scope.call().returnF32(value);
    }

    static void giveDouble(Scope scope, double value) {
        scope.call().returnF64(value);
    }

    @SuppressWarnings("ReferenceEquality") // the very same object
    void giveReference(Scope scope, @Nullable Object value) {
        VmCall call = scope.call();
        if (value == null || adapter == null) {
            call.returnRef(null);
            return;
        }
        Object given = adapter.give(value);
        if (given == value && given instanceof RefCounted counted && scope.isBorrowed(given)) {
            counted.retain(); // an argument, passed on
        }
        call.returnRef(given);
    }

    // For calls made by methods.

    /** Sets the next argument. */
    void pass(Invocation call, @Nullable Object value) {
        if (value == null) {
            call.nullRef();
        } else if (adapter != null) {
            Object lent = adapter.lend(value);
            try {
                call.ref(lent);
            } finally {
                if (lent instanceof RefCounted counted) {
                    counted.release(); // the call holds another reference
                }
            }
        } else {
            switch (letter) {
                case 'I' -> call.i64((long) value);
                case 'f' -> call.f32((float) value);
                case 'F' -> call.f64((double) value);
                default -> call.i32(value instanceof Boolean flag ? (flag ? 1 : 0) : ((Number) value).intValue());
            }
        }
    }

    /** Takes the next result; the scope keeps the reference. */
    @Nullable
    Object result(Invocation call, Scope scope) {
        if (adapter != null) {
            Object reference = call.takeRef(Object.class);
            if (reference == null) {
                return null;
            }
            scope.keep(reference);
            Object value = adapter.take(reference);
            scope.open(adapter, value);
            return value;
        }
        return switch (letter) {
            case 'I' -> (Object) call.i64();
            case 'f' -> call.f32();
            case 'F' -> call.f64();
            default -> {
                int value = call.i32();
                yield type == boolean.class
                        ? (Object) (value != 0)
                        : type == byte.class
                                ? (Object) (byte) value
                                : type == short.class ? (Object) (short) value : value;
            }
        };
    }
}

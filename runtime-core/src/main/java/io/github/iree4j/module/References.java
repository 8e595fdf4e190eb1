package io.github.iree4j.module;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The adapters between Java types and references, for a single module. Immutable. */
final class References {
    private final Map<Class<?>, ReferenceAdapter<?>> adapters;

    private References(Map<Class<?>, ReferenceAdapter<?>> adapters) {
        this.adapters = adapters;
    }

    /** The adapters of texts, bytes and memory; everything else is passed unchanged. */
    static References standard() {
        return new References(
                Map.of(String.class, new Text(), byte[].class, new Bytes(), MemorySegment.class, new Memory()));
    }

    <T> References with(Class<T> type, ReferenceAdapter<T> adapter) {
        Map<Class<?>, ReferenceAdapter<?>> more = new HashMap<>(adapters);
        more.put(type, adapter);
        return new References(Map.copyOf(more));
    }

    /** Finds the adapter of a type; {@code where} is for messages. */
    @SuppressWarnings("unchecked")
    ReferenceAdapter<Object> of(Type type, String where) {
        if (type instanceof ParameterizedType parameterized && parameterized.getRawType() == List.class) {
            Type element = parameterized.getActualTypeArguments()[0];
            return (ReferenceAdapter<Object>) (ReferenceAdapter<?>) new Elements(element(element, where));
        }
        Class<?> raw = raw(type, where);
        if (raw == Object.class) {
            return new Anything(this);
        }
        ReferenceAdapter<?> known = adapters.get(raw);
        return known != null ? (ReferenceAdapter<Object>) known : new AsItIs(raw);
    }

    /** The adapter of list elements; elements may also be numbers. */
    private ReferenceAdapter<Object> element(Type type, String where) {
        if (type instanceof Class<?> box) {
            Box known = Box.of(box);
            if (known != null) {
                return known;
            }
        }
        return of(type instanceof Class || type instanceof ParameterizedType ? type : Object.class, where);
    }

    static Class<?> raw(Type type, String where) {
        return switch (type) {
            case Class<?> c -> c;
            case ParameterizedType p when p.getRawType() instanceof Class<?> c -> c;
            default ->
                throw new IllegalArgumentException(
                        "%s has type '%s', which programs cannot pass".formatted(where, type.getTypeName()));
        };
    }

    private static <T> T cast(Object reference, Class<T> type) {
        if (!type.isInstance(reference)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a %s where a %s is wanted".formatted(VmTypes.nameOf(reference), type.getSimpleName()));
        }
        return type.cast(reference);
    }

    private static final class Text implements ReferenceAdapter<String> {
        @Override
        public String take(Object reference) {
            return cast(reference, VmBuffer.class).utf8();
        }

        @Override
        public Object give(String value) {
            return VmBuffer.ofUtf8(value);
        }
    }

    private static final class Bytes implements ReferenceAdapter<byte[]> {
        @Override
        public byte[] take(Object reference) {
            MemorySegment bytes = cast(reference, VmBuffer.class).segment();
            if (bytes.byteSize() > Integer.MAX_VALUE - 8) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "a buffer of %d bytes does not fit a Java array; take a MemorySegment"
                                .formatted(bytes.byteSize()));
            }
            return bytes.toArray(ValueLayout.JAVA_BYTE);
        }

        @Override
        public Object give(byte[] value) {
            return VmBuffer.wrap(MemorySegment.ofArray(value.clone()), true, null);
        }
    }

    private static final class Memory implements ReferenceAdapter<MemorySegment> {
        @Override
        public MemorySegment take(Object reference) {
            return cast(reference, VmBuffer.class).segment();
        }

        @Override
        public Object give(MemorySegment value) {
            return VmBuffer.wrap(value, !value.isReadOnly(), null);
        }
    }

    /** Objects passed unchanged. */
    private record AsItIs(Class<?> type) implements ReferenceAdapter<Object> {
        @Override
        public Object take(Object reference) {
            return cast(reference, type);
        }

        @Override
        public Object give(Object value) {
            return value;
        }

        @Override
        public Object lend(Object value) {
            if (value instanceof RefCounted counted) {
                counted.retain();
            }
            return value;
        }
    }

    /** Objects of unspecified type: taken unchanged, given by the adapter of the object's class. */
    private record Anything(References references) implements ReferenceAdapter<Object> {
        @Override
        public Object take(Object reference) {
            return reference;
        }

        @Override
        public Object give(Object value) {
            return adapter(value).give(value);
        }

        @Override
        public Object lend(Object value) {
            return adapter(value).lend(value);
        }

        @SuppressWarnings("unchecked")
        private ReferenceAdapter<Object> adapter(Object value) {
            Class<?> type = value instanceof MemorySegment ? MemorySegment.class : value.getClass();
            return value instanceof List
                    ? (ReferenceAdapter<Object>) (ReferenceAdapter<?>) new Elements(this)
                    : references.of(type, "result");
        }
    }

    /** Numbers in lists. */
    private enum Box implements ReferenceAdapter<Object> {
        INT(Integer.class),
        LONG(Long.class),
        FLOAT(Float.class),
        DOUBLE(Double.class);

        private final Class<?> type;

        Box(Class<?> type) {
            this.type = type;
        }

        static @Nullable Box of(Class<?> type) {
            for (Box box : values()) {
                if (box.type == type) {
                    return box;
                }
            }
            return null;
        }

        @Override
        public Object take(Object element) {
            return switch (element) {
                case Byte v when this == INT -> v.intValue();
                case Short v when this == INT -> v.intValue();
                case Integer v when this == LONG -> v.longValue();
                case Float v when this == DOUBLE -> v.doubleValue();
                default -> cast(element, type);
            };
        }

        @Override
        public Object give(Object value) {
            return value;
        }
    }

    /** Lists are copied, element by element. */
    private record Elements(ReferenceAdapter<Object> element) implements ReferenceAdapter<List<@Nullable Object>> {
        @Override
        public List<@Nullable Object> take(Object reference) {
            VmList list = cast(reference, VmList.class);
            List<@Nullable Object> values = new ArrayList<>(list.size());
            try {
                for (int i = 0; i < list.size(); i++) {
                    Object value = list.get(i);
                    values.add(value == null ? null : element.take(value));
                }
            } catch (RuntimeException | Error e) {
                done(values);
                throw e;
            }
            return Collections.unmodifiableList(values);
        }

        @Override
        public Object give(List<@Nullable Object> values) {
            return list(values, false);
        }

        @Override
        public Object lend(List<@Nullable Object> values) {
            return list(values, true);
        }

        private Object list(List<@Nullable Object> values, boolean lend) {
            VmList list = VmList.ofVariants(values.size());
            try {
                for (Object value : values) {
                    Object given = value == null ? null : lend ? element.lend(value) : element.give(value);
                    list.push(given);
                    if (given instanceof RefCounted counted) {
                        counted.release(); // the list holds another reference
                    }
                }
                return list;
            } catch (RuntimeException | Error e) {
                list.release();
                throw e;
            }
        }

        @Override
        public void done(List<@Nullable Object> values) {
            for (Object value : values) {
                if (value != null) {
                    element.done(value);
                }
            }
        }
    }
}

package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A growable list for programs, {@code !vm.list}: of numbers or references of a single type, or of anything.
 *
 * <p>Owns a reference to each counted object among the elements. New elements are zero or null. Numbers are converted
 * on reading and writing as in IREE: integers truncate or sign-extend, f32 and f64 round, and between integers and
 * floats the result is 0. Not thread-safe.
 */
@NotForApplications
public final class VmList extends Resource {
    /*
     * kinds    VARIANT only: kind of each element; null means empty or a reference
     * values   bits of numbers, sign-extended integers; null in a list of references
     * objects  references; null in a list of numbers
     */
    private static final int SLOT_BYTES = 8;

    private static final int MIN_CAPACITY = 4;

    /** Lists that became unreferenced while another list was being freed on this thread. The queue avoids recursion in chains of lists. */
    private static final ThreadLocal<@Nullable ArrayDeque<VmList>> FREEING = new ThreadLocal<>();

    private final VmType elementType;
    private final @Nullable MemoryBudget budget;
    private final int elementBytes;
    private @Nullable VmType @Nullable [] kinds;
    private long @Nullable [] values;
    private @Nullable Object @Nullable [] objects;
    private int capacity;
    private int size;

    private VmList(VmType elementType, @Nullable MemoryBudget budget) {
        this.elementType = elementType;
        this.budget = budget;
        elementBytes = elementType.kind() == VmType.Kind.ANY ? 3 * SLOT_BYTES : SLOT_BYTES;
    }

    /**
     * Creates an empty list.
     *
     * @param elementType the element type
     * @param capacity elements to make room for
     * @return the list, with one reference owned by the caller
     */
    public static VmList create(VmType elementType, int capacity) {
        return create(elementType, capacity, null);
    }

    /**
     * Creates an empty list for a program.
     *
     * @param elementType the element type
     * @param capacity elements to make room for
     * @param budget the budget charged for the memory, or null
     * @return the list, with one reference owned by the caller
     * @throws IreeException RESOURCE_EXHAUSTED when the budget or the heap does not suffice for the capacity
     */
    public static VmList create(VmType elementType, int capacity, @Nullable MemoryBudget budget) {
        if (budget != null) {
            budget.reserve(MemoryBudget.OBJECT);
        }
        VmList list = new VmList(elementType, budget);
        try {
            list.reserve(capacity);
        } catch (IreeException e) {
            list.close();
            throw e;
        }
        return list;
    }

    /**
     * Creates an empty list of anything.
     *
     * @param capacity elements to make room for
     * @return the list, with one reference owned by the caller
     */
    public static VmList ofVariants(int capacity) {
        return create(VmType.ANY, capacity, null);
    }

    /**
     * Returns the element type.
     *
     * @return the element type
     */
    public VmType elementType() {
        return elementType;
    }

    /**
     * Returns the number of elements.
     *
     * @return the size
     */
    public int size() {
        return size;
    }

    /**
     * Returns the number of elements with room in the list.
     *
     * @return the capacity
     */
    public int capacity() {
        return capacity;
    }

    /**
     * Makes room for elements.
     *
     * @param minimum elements to make room for in all
     * @throws IreeException RESOURCE_EXHAUSTED when the budget or the heap does not suffice, or when negative
     */
    public void reserve(int minimum) {
        checkLive();
        if (minimum < 0) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "list of %d elements is larger than %d".formatted(minimum & 0xFFFF_FFFFL, Integer.MAX_VALUE));
        }
        if (minimum <= capacity) {
            return;
        }
        long more = (long) (minimum - capacity) * elementBytes;
        if (budget != null) {
            budget.reserve(more);
        }
        try {
            boolean variant = elementType.kind() == VmType.Kind.ANY;
            @Nullable
            VmType[] newKinds = variant ? (kinds == null ? new VmType[minimum] : Arrays.copyOf(kinds, minimum)) : null;
            long[] newValues = elementType.kind() == VmType.Kind.REF
                    ? null
                    : values == null ? new long[minimum] : Arrays.copyOf(values, minimum);
            @Nullable
            Object[] newObjects = elementType.isValue()
                    ? null
                    : objects == null ? new Object[minimum] : Arrays.copyOf(objects, minimum);
            kinds = newKinds;
            values = newValues;
            objects = newObjects;
            capacity = minimum;
        } catch (OutOfMemoryError e) {
            if (budget != null) {
                budget.release(more);
            }
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED, "no heap left for a list of " + minimum + " elements", e);
        }
    }

    /**
     * Changes the size: new elements are zero or null, removed elements are released.
     *
     * @param newSize the size
     * @throws IreeException RESOURCE_EXHAUSTED when the budget or the heap does not suffice, or when negative
     */
    public void resize(int newSize) {
        checkLive();
        if (newSize < 0 || newSize > capacity) {
            reserve(
                    newSize < 0
                            ? newSize
                            : Math.max(newSize, (int) Math.min(2L * capacity, MIN_CAPACITY + 65536L + capacity)));
        }
        while (size > newSize) {
            size--;
            clear(size);
        }
        size = newSize;
    }

    /**
     * Reads an integer, converting the stored number.
     *
     * @param index below {@link #size()}
     * @return the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the element is not a number
     */
    public int i32(int index) {
        return (int) integer(index);
    }

    /**
     * Reads an integer, converting the stored number.
     *
     * @param index below {@link #size()}
     * @return the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the element is not a number
     */
    public long i64(int index) {
        return integer(index);
    }

    /**
     * Reads a float, converting the stored number.
     *
     * @param index below {@link #size()}
     * @return the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the element is not a number
     */
    public float f32(int index) {
        VmType.Kind kind = numberKind(index);
        return switch (kind) {
            case F32 -> Float.intBitsToFloat((int) value(index));
            case F64 -> (float) Double.longBitsToDouble(value(index));
            default -> 0;
        };
    }

    /**
     * Reads a float, converting the stored number.
     *
     * @param index below {@link #size()}
     * @return the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the element is not a number
     */
    public double f64(int index) {
        VmType.Kind kind = numberKind(index);
        return switch (kind) {
            case F32 -> Float.intBitsToFloat((int) value(index));
            case F64 -> Double.longBitsToDouble(value(index));
            default -> 0;
        };
    }

    /**
     * Stores an i32, converted to the element type.
     *
     * @param index below {@link #size()}
     * @param value the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the list holds references
     */
    public void setI32(int index, int value) {
        setNumber(index, VmType.I32, value, 0);
    }

    /**
     * Stores an i64, converted to the element type.
     *
     * @param index below {@link #size()}
     * @param value the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the list holds references
     */
    public void setI64(int index, long value) {
        setNumber(index, VmType.I64, value, 0);
    }

    /**
     * Stores an f32, converted to the element type.
     *
     * @param index below {@link #size()}
     * @param value the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the list holds references
     */
    public void setF32(int index, float value) {
        setNumber(index, VmType.F32, 0, value);
    }

    /**
     * Stores an f64, converted to the element type.
     *
     * @param index below {@link #size()}
     * @param value the value
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the list holds references
     */
    public void setF64(int index, double value) {
        setNumber(index, VmType.F64, 0, value);
    }

    /**
     * Reads a reference.
     *
     * @param index below {@link #size()}
     * @return the object, borrowed while in the list; null when there is none
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the element is a number
     */
    public @Nullable Object ref(int index) {
        check(index);
        if (objects == null || (kinds != null && kinds[index] != null)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "element %d of %s is not a reference".formatted(index, this));
        }
        return objects[index];
    }

    /**
     * Takes a reference out, leaving null.
     *
     * @param index below {@link #size()}
     * @return the object, now owned by the caller; null when there is none
     * @throws IreeException OUT_OF_RANGE for the index, FAILED_PRECONDITION when the element is a number
     */
    public @Nullable Object takeRef(int index) {
        Object object = ref(index);
        if (objects != null) {
            objects[index] = null;
        }
        return object;
    }

    /**
     * Stores a reference, retaining it.
     *
     * @param index below {@link #size()}
     * @param object the object, or null
     * @throws IreeException OUT_OF_RANGE for the index, INVALID_ARGUMENT for an object of another type,
     *     FAILED_PRECONDITION when the list holds numbers
     */
    public void setRef(int index, @Nullable Object object) {
        checkRef(index, object);
        if (object instanceof RefCounted counted) {
            counted.retain();
        }
        put(index, object);
    }

    /**
     * Stores a reference and takes over the caller's ownership. On failure, the caller still owns the reference.
     *
     * @param index below {@link #size()}
     * @param object the object, or null
     * @throws IreeException as {@link #setRef}
     */
    public void setOwnedRef(int index, @Nullable Object object) {
        checkRef(index, object);
        put(index, object);
    }

    /**
     * Reads an element as a Java object.
     *
     * @param index below {@link #size()}
     * @return a boxed number, an object (borrowed) or null
     */
    public @Nullable Object get(int index) {
        check(index);
        VmType type = kinds == null ? elementType : kinds[index];
        if (type == null || type.kind() == VmType.Kind.REF) {
            return ref(index);
        }
        return switch (type.kind()) {
            case I8 -> (byte) value(index);
            case I16 -> (short) value(index);
            case I32 -> (int) value(index);
            case I64 -> value(index);
            case F32 -> Float.intBitsToFloat((int) value(index));
            case F64 -> Double.longBitsToDouble(value(index));
            case ANY, REF -> ref(index);
        };
    }

    /**
     * Stores a Java object as an element.
     *
     * @param index below {@link #size()}
     * @param element a boxed Integer, Long, Float or Double, an object (retained) or null
     */
    public void set(int index, @Nullable Object element) {
        if (element == null) {
            setRef(index, null);
            return;
        }
        switch (element) {
            case Byte v -> setI32(index, v);
            case Short v -> setI32(index, v);
            case Integer v -> setI32(index, v);
            case Long v -> setI64(index, v);
            case Float v -> setF32(index, v);
            case Double v -> setF64(index, v);
            default -> setRef(index, element);
        }
    }

    /**
     * Appends an element, see {@link #set}.
     *
     * @param element a boxed number, an object (retained) or null
     */
    public void push(@Nullable Object element) {
        resize(Math.addExact(size, 1));
        try {
            set(size - 1, element);
        } catch (IreeException e) {
            resize(size - 1);
            throw e;
        }
    }

    @Override
    protected String describe() {
        return toString();
    }

    @Override
    public String toString() {
        return "list of %d %s".formatted(size, elementType);
    }

    @Override
    protected void destroy() {
        ArrayDeque<VmList> queue = FREEING.get();
        if (queue != null) {
            queue.add(this);
            return;
        }
        queue = new ArrayDeque<>();
        FREEING.set(queue);
        try {
            for (VmList list = this; list != null; list = queue.poll()) {
                list.free();
            }
        } finally {
            FREEING.remove();
        }
    }

    private void free() {
        for (int i = 0; i < size; i++) {
            clear(i);
        }
        size = 0;
        kinds = null;
        values = null;
        objects = null;
        if (budget != null) {
            budget.release((long) capacity * elementBytes + MemoryBudget.OBJECT);
        }
        capacity = 0;
    }

    private void clear(int index) {
        if (kinds != null) {
            kinds[index] = null;
        }
        if (values != null) {
            values[index] = 0;
        }
        if (objects != null) {
            Object old = objects[index];
            objects[index] = null;
            if (old instanceof RefCounted counted) {
                counted.release();
            }
        }
    }

    private void check(int index) {
        if (index < 0 || index >= size) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE, "index %d is outside of %s".formatted(index & 0xFFFF_FFFFL, this));
        }
    }

    private VmType.Kind numberKind(int index) {
        check(index);
        VmType type = kinds == null ? elementType : kinds[index];
        if (type == null || !type.isValue()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "element %d of %s is not a number".formatted(index, this));
        }
        return type.kind();
    }

    private long integer(int index) {
        VmType.Kind kind = numberKind(index);
        return kind == VmType.Kind.F32 || kind == VmType.Kind.F64 ? 0 : value(index);
    }

    private long value(int index) {
        return values == null ? 0 : values[index];
    }

    /** Stores an integer or a float, depending on the type. */
    private void setNumber(int index, VmType type, long integer, double number) {
        check(index);
        if (values == null) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, this + " cannot hold numbers");
        }
        VmType stored = kinds == null ? elementType : type;
        boolean fromFloat = type.kind() == VmType.Kind.F32 || type.kind() == VmType.Kind.F64;
        double asFloat = fromFloat ? number : 0;
        long bits = switch (stored.kind()) {
            case I8 -> (byte) integer;
            case I16 -> (short) integer;
            case I32 -> (int) integer;
            case I64 -> integer;
            case F32 -> Float.floatToRawIntBits((float) asFloat);
            case F64 -> Double.doubleToRawLongBits(asFloat);
            case ANY, REF -> throw new AssertionError(stored);
        };
        clear(index);
        values[index] = bits;
        if (kinds != null) {
            kinds[index] = type;
        }
    }

    private void checkRef(int index, @Nullable Object object) {
        check(index);
        if (objects == null) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, this + " cannot hold references");
        }
        if (!elementType.accepts(object)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s cannot hold a %s".formatted(this, VmTypes.nameOf(object)));
        }
    }

    private void put(int index, @Nullable Object object) {
        Object old = objects == null ? null : objects[index];
        if (kinds != null) {
            kinds[index] = null;
        }
        if (objects != null) {
            objects[index] = object;
        }
        if (old instanceof RefCounted counted) {
            counted.release();
        }
    }
}

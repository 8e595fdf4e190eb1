package io.github.iree4j;

import io.github.iree4j.ShapeRules.Value;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.Blocks;
import io.github.iree4j.tensor.Fills;
import io.github.iree4j.tensor.TensorElements;
import io.github.iree4j.tensor.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The inputs of a call of a function with variants, and the size of the call along each axis. Confined to one thread. */
final class VariantInputs {
    private final VariantFunction function;
    private final List<Value> rules;
    private final List<String> axes;
    /** Tensors for arguments with axes, null for masks to create, other inputs as given. */
    private final @Nullable Object[] values;

    private final long[] sizes;
    /** Transferred tensors taken by the call: copies of one tensor, for several arguments, take the tensor once. */
    private final Set<Tensor> taken = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Checks the inputs against rules and declarations. */
    VariantInputs(VariantFunction function, @Nullable Object[] given) {
        this.function = function;
        this.rules = function.rules().inputs();
        this.axes = function.rules().axes();
        this.values = withoutMasks(given);
        this.sizes = new long[axes.size()];
        Arrays.fill(sizes, -1);
        int[] said = new int[sizes.length];
        for (int i = 0; i < values.length; i++) {
            Value rule = rules.get(i);
            if (rule.dimensions() == null) {
                continue;
            }
            Object value = values[i];
            if (value == null) {
                if (!rule.mask()) {
                    throw invalid("%s is %s; given null", i, wanted(i));
                }
                continue;
            }
            if (!(value instanceof Tensor || value instanceof TransferredTensor || value instanceof BufferView)) {
                value = function.tensor(i, value);
                values[i] = value;
            }
            Shape shape = shapeOf(value);
            TensorType type = function.type(i);
            if (type == null ? shape.rank() != rule.dimensions().size() : !type.accepts(typeOf(value), shape)) {
                throw invalid("%s is %s; given %s", i, wanted(i), shape.format(typeOf(value)));
            }
            measure(i, rule.dimensions(), shape, said);
        }
        checkMeasured();
    }

    /** Checks that every axis has a size: omitted masks get sizes from other arguments. */
    private void checkMeasured() {
        for (int i = 0; i < values.length; i++) {
            List<String> dimensions = rules.get(i).dimensions();
            for (int d = 0; dimensions != null && d < dimensions.size(); d++) {
                int axis = axes.indexOf(dimensions.get(d));
                if (axis >= 0 && sizes[axis] < 0) {
                    throw invalid(
                            "%s is a mask that cannot be omitted: no other argument has axis '%s'", i, axes.get(axis));
                }
            }
        }
    }

    private @Nullable Object[] withoutMasks(@Nullable Object[] given) {
        if (given.length == rules.size()) {
            return given.clone();
        }
        long masks = rules.stream().filter(Value::mask).count();
        if (masks == 0 || given.length != rules.size() - masks) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "function '%s' takes %d arguments%s; given %d"
                            .formatted(
                                    function.fullName(),
                                    rules.size(),
                                    masks == 0 ? "" : ", or %d without masks".formatted(rules.size() - masks),
                                    given.length));
        }
        @Nullable Object[] all = new Object[rules.size()];
        int next = 0;
        for (int i = 0; i < all.length; i++) {
            all[i] = rules.get(i).mask() ? null : given[next++];
        }
        return all;
    }

    private void measure(int index, List<String> dimensions, Shape shape, int[] said) {
        for (int d = 0; d < shape.rank(); d++) {
            int axis = axes.indexOf(dimensions.get(d));
            if (axis < 0) {
                continue;
            }
            if (sizes[axis] < 0) {
                sizes[axis] = shape.dimension(d);
                said[axis] = index;
            } else if (sizes[axis] != shape.dimension(d)) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "%s has %s %d, and argument %d has %d"
                                .formatted(
                                        function.where(index),
                                        axes.get(axis),
                                        shape.dimension(d),
                                        said[axis],
                                        sizes[axis]));
            }
        }
    }

    private IreeException invalid(String text, int index, Object... more) {
        Object[] all = new Object[more.length + 1];
        all[0] = function.where(index);
        System.arraycopy(more, 0, all, 1, more.length);
        return IreeException.of(StatusCode.INVALID_ARGUMENT, text.formatted(all));
    }

    /** The expected type of an argument, for messages. */
    private Object wanted(int index) {
        TensorType type = function.type(index);
        return type == null ? rules.get(index) : type;
    }

    /** The size of the call, by axis. */
    long[] sizes() {
        return sizes;
    }

    /** The number of elements of arguments with axes at given sizes; approximate where huge. */
    double elements(long[] of) {
        double all = 0;
        for (int i = 0; i < values.length; i++) {
            if (rules.get(i).dimensions() != null) {
                double count = 1;
                for (long size : dimensions(i, of)) {
                    count *= size;
                }
                all += count;
            }
        }
        return all;
    }

    /** The shape of an argument at given sizes of the axes. */
    private Shape shape(int index, long[] of) {
        return Shape.of(dimensions(index, of));
    }

    private long[] dimensions(int index, long[] of) {
        List<String> dimensions = dimensions(index);
        Object value = values[index];
        long[] shape = value == null
                ? typeOfMask(index).shape().clone()
                : shapeOf(value).dimensions();
        for (int d = 0; d < shape.length; d++) {
            int axis = axes.indexOf(dimensions.get(d));
            shape[d] = axis < 0 ? shape[d] : of[axis];
        }
        return shape;
    }

    private TensorType typeOfMask(int index) {
        TensorType type = function.type(index);
        if (type == null) {
            throw invalid(
                    "%s is a mask whose type neither the module nor its rule declares; pass the mask, or declare the type: %s i64",
                    index, wanted(index));
        }
        return type;
    }

    private List<String> dimensions(int index) {
        List<String> dimensions = rules.get(index).dimensions();
        if (dimensions == null) {
            throw new IllegalStateException("argument " + index + " has no axes");
        }
        return dimensions;
    }

    /** The inputs for a variant with the given sizes: the caller's inputs where large enough, otherwise padded copies. */
    @Nullable
    Object[] padded(long[] target) {
        @Nullable Object[] padded = values.clone();
        for (int i = 0; i < padded.length; i++) {
            if (rules.get(i).dimensions() != null) {
                padded[i] = padded(i, target);
            }
        }
        return padded;
    }

    /** The inputs for the given sizes as tensors, where all arguments have axes. */
    List<Tensor> tensors(long[] target) {
        List<Tensor> tensors = new ArrayList<>();
        for (int i = 0; i < values.length; i++) {
            if (!(padded(i, target) instanceof Tensor tensor)) {
                throw invalid("%s cannot be combined with others: %s is not a tensor", i, String.valueOf(values[i]));
            }
            tensors.add(tensor);
        }
        return tensors;
    }

    private Object padded(int index, long[] target) {
        Value rule = rules.get(index);
        Shape wanted = shape(index, target);
        Object value = values[index];
        if (value == null) {
            return mask(index, wanted);
        }
        Shape shape = shapeOf(value);
        if (shape.equals(wanted)) {
            return value instanceof TransferredTensor transfer ? given(transfer.tensor(), transfer) : value;
        }
        ElementType type = typeOf(value);
        if (!type.isByteAligned()) {
            throw invalid("%s cannot be padded, since elements of type %s share bytes", index, type);
        }
        MemorySegment data = Fills.filled(type, wanted, rule.mask() ? 0 : rule.fill());
        read(value, from -> Blocks.copy(from, shape, data, wanted, shape, type.bitCount() / 8));
        Tensor copy = new Tensor(TensorElements.shared(type, wanted, data));
        return value instanceof TransferredTensor transfer ? given(copy, transfer) : copy;
    }

    /** Passes a transferred tensor, or a copy of such a tensor. The call takes the transferred tensor after checking all inputs. */
    private TransferredTensor given(Tensor passed, TransferredTensor transfer) {
        Tensor own = transfer.tensor();
        return new TransferredTensor(passed, () -> !taken.add(own) || transfer.take());
    }

    /** Creates a mask with ones for the elements of the call. */
    private Tensor mask(int index, Shape wanted) {
        ElementType type = typeOfMask(index).type();
        Shape own = shape(index, sizes);
        MemorySegment ones = Fills.filled(type, own, 1);
        if (own.equals(wanted)) {
            return new Tensor(TensorElements.shared(type, own, ones));
        }
        MemorySegment data = Fills.filled(type, wanted, 0);
        Blocks.copy(ones, own, data, wanted, own, type.bitCount() / 8);
        return new Tensor(TensorElements.shared(type, wanted, data));
    }

    private void read(Object value, Consumer<MemorySegment> reader) {
        if (value instanceof BufferView view) {
            function.program().memory().read(view, bytes -> {
                reader.accept(bytes);
                return view;
            });
            return;
        }
        Tensor tensor = value instanceof TransferredTensor transfer ? transfer.tensor() : (Tensor) value;
        tensor.look(reader);
    }

    private static Shape shapeOf(Object value) {
        return switch (value) {
            case BufferView view -> view.shape();
            case TransferredTensor transfer -> transfer.tensor().shape();
            default -> ((Tensor) value).shape();
        };
    }

    private static ElementType typeOf(Object value) {
        return switch (value) {
            case BufferView view -> view.elementType();
            case TransferredTensor transfer -> transfer.tensor().elementType();
            default -> ((Tensor) value).elementType();
        };
    }
}

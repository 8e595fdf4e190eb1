package io.github.iree4j.spring.http;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * Jackson module for tensors: {@code {"shape": [2, 2], "type": "f32", "data": [1, 2, 3, 4]}}, the data flat and
 * row-major; integers as numbers, {@code i1} as booleans. A tensor read from JSON need not be closed. A written tensor
 * is not closed here, but by the writers of whole bodies.
 */
public final class TensorJsonModule extends SimpleModule {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the module.
     *
     * @param maximumBytes maximum memory of the elements during reading, 8 bytes each
     */
    public TensorJsonModule(long maximumBytes) {
        super("iree4j-tensors");
        addSerializer(Tensor.class, new Writer());
        addDeserializer(Tensor.class, new Reader(maximumBytes / Long.BYTES));
    }

    private static final class Writer extends StdSerializer<Tensor> {
        Writer() {
            super(Tensor.class);
        }

        @Override
        public void serialize(Tensor tensor, JsonGenerator json, SerializationContext context) {
            json.writeStartObject();
            json.writeName("shape");
            long[] shape = tensor.shape().dimensions();
            json.writeArray(shape, 0, shape.length);
            json.writeStringProperty("type", tensor.elementType().toString());
            json.writeName("data");
            write(tensor, json, context);
            json.writeEndObject();
        }

        private static void write(Tensor tensor, JsonGenerator json, SerializationContext context) {
            ElementType type = tensor.elementType();
            if (!type.isBoolean() && !type.isInteger() && !type.isFloat()) {
                context.reportBadDefinition(
                        Tensor.class, "elements of type %s are not numbers; use application/x-npy".formatted(type));
            }
            json.writeStartArray();
            if (type.isByteAligned()) {
                ElementParts.forEach(tensor, part -> write(part, json));
            } else {
                write(tensor, json);
            }
            json.writeEndArray();
        }

        private static void write(Tensor part, JsonGenerator json) {
            ElementType type = part.elementType();
            if (type.isBoolean()) {
                for (boolean value : part.toBooleanArray()) {
                    json.writeBoolean(value);
                }
            } else if (type.isInteger()) {
                for (long value : part.toLongArray()) {
                    json.writeNumber(value);
                }
            } else if (type.equals(ElementType.F64)) {
                for (double value : part.toDoubleArray()) {
                    json.writeNumber(value);
                }
            } else {
                for (float value : part.toFloatArray()) {
                    json.writeNumber(value);
                }
            }
        }
    }

    private static final class Reader extends StdDeserializer<Tensor> {
        private final long maximumElements;

        Reader(long maximumElements) {
            super(Tensor.class);
            this.maximumElements = maximumElements;
        }

        @Override
        public Tensor deserialize(JsonParser json, DeserializationContext context) {
            if (json.currentToken() != JsonToken.START_OBJECT) {
                throw problem(json, "a tensor is {\"shape\": [2], \"type\": \"f32\", \"data\": [1, 2]}");
            }
            long[] shape = null;
            ElementType type = ElementType.F32;
            Elements data = null;
            while (json.nextToken() != JsonToken.END_OBJECT) {
                String member = json.currentName();
                json.nextToken();
                switch (member) {
                    case "shape" -> shape = shape(json);
                    case "type" -> type = type(json);
                    case "data" -> data = Elements.read(json, maximumElements);
                    default -> throw problem(json, "a tensor has no '%s'".formatted(member));
                }
            }
            if (shape == null || data == null) {
                throw problem(json, "a tensor needs '%s'".formatted(shape == null ? "shape" : "data"));
            }
            try {
                return data.tensor(type, shape);
            } catch (IreeException e) {
                throw problem(json, "not a tensor: " + e.getMessage());
            }
        }

        private static long[] shape(JsonParser json) {
            Elements dimensions = Elements.read(json, Shape.MAXIMUM_RANK);
            if (dimensions.fraction) {
                throw problem(json, "'shape' must be an array of integers");
            }
            return dimensions.integers();
        }

        private static ElementType type(JsonParser json) {
            try {
                return ElementType.parse(String.valueOf(json.getValueAsString()));
            } catch (IreeException e) {
                throw problem(json, "'type': " + e.getMessage());
            }
        }
    }

    /** Parsed numbers: integers until the first fraction. Numbers take 8 bytes each, in parts, so growing copies nothing. */
    private static final class Elements {
        private static final int PART = 1 << 13;
        private static final int FEW = 64;

        private final List<long[]> parts = new ArrayList<>();
        private int count;
        private boolean fraction;

        static Elements read(JsonParser json, long maximum) {
            if (json.currentToken() != JsonToken.START_ARRAY) {
                throw problem(json, "'%s' must be a flat array of numbers".formatted(json.currentName()));
            }
            Elements elements = new Elements();
            while (json.nextToken() != JsonToken.END_ARRAY) {
                if (elements.count >= maximum) {
                    throw problem(
                            json,
                            "'%s' has more than %d elements; send a binary format, or raise '%s'"
                                    .formatted(
                                            json.streamReadContext().getParent().currentName(),
                                            maximum,
                                            BodyLimits.SIZE));
                }
                elements.add(json);
            }
            return elements;
        }

        private void add(JsonParser json) {
            switch (json.currentToken()) {
                case VALUE_NUMBER_INT ->
                    put(fraction ? Double.doubleToLongBits(json.getDoubleValue()) : json.getLongValue());
                case VALUE_NUMBER_FLOAT -> {
                    if (!fraction) {
                        toReals();
                    }
                    put(Double.doubleToLongBits(json.getDoubleValue()));
                }
                case VALUE_TRUE, VALUE_FALSE -> {
                    long value = json.getBooleanValue() ? 1 : 0;
                    put(fraction ? Double.doubleToLongBits(value) : value);
                }
                case null, default -> throw problem(json, "element %d is not a number".formatted(count));
            }
        }

        private void put(long bits) {
            if (count == parts.size() * PART) {
                parts.add(new long[count == 0 ? FEW : PART]);
            } else if (count == FEW && parts.size() == 1) {
                parts.set(0, Arrays.copyOf(parts.getFirst(), PART));
            }
            parts.getLast()[count++ % PART] = bits;
        }

        private void toReals() {
            fraction = true;
            for (long[] part : parts) {
                for (int i = 0; i < part.length; i++) {
                    part[i] = Double.doubleToLongBits(part[i]);
                }
            }
        }

        private double real(int i) {
            long bits = parts.get(i / PART)[i % PART];
            return fraction ? Double.longBitsToDouble(bits) : bits;
        }

        private double[] reals() {
            double[] reals = new double[count];
            Arrays.setAll(reals, this::real);
            return reals;
        }

        long[] integers() {
            long[] integers = new long[count];
            Arrays.setAll(integers, i -> parts.get(i / PART)[i % PART]);
            return integers;
        }

        Tensor tensor(ElementType type, long[] shape) {
            return shape.length == 0 ? scalar(type) : shaped(type, shape);
        }

        /** Makes a scalar. An empty shape means one dimension when arrays are copied into tensors, but a scalar in JSON. */
        private Tensor scalar(ElementType type) {
            if (count != 1) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "a scalar, of shape [], has one element, not %d".formatted(count));
            }
            return Tensor.wrap(MemorySegment.ofArray(shaped(type, 1).rawBytes()), type);
        }

        private Tensor shaped(ElementType type, long... shape) {
            if (type.equals(ElementType.F64)) {
                return Tensor.of(reals(), shape);
            }
            if (type.isFloat()) {
                float[] floats = new float[count];
                for (int i = 0; i < count; i++) {
                    floats[i] = (float) real(i);
                }
                return Tensor.of(type, floats, shape);
            }
            if (fraction) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "numbers with a fraction cannot be elements of type " + type);
            }
            return Tensor.of(type, integers(), shape);
        }
    }

    private static NotATensor problem(JsonParser json, @Nullable String message) {
        return new NotATensor(json, String.valueOf(message));
    }

    /** JSON that is not a tensor, with a reason for clients: Jackson's reasons may name classes. */
    static final class NotATensor extends MismatchedInputException {
        private static final long serialVersionUID = 1L;

        NotATensor(JsonParser json, String reason) {
            super(json, reason, Tensor.class);
        }
    }
}

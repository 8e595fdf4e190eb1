package io.github.iree4j.sample;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Tensors as JSON: {@code {"shape": [2, 2], "type": "f32", "data": [1, 2, 3, 4]}}, the data flat and row-major. The
 * starter's Jackson module writes tensors, and reads whole bodies; here are arguments, with named faults.
 */
final class TensorJson {

    private TensorJson() {}

    /** A tensor of elements without a JSON number, in base64. */
    private record Encoded(long[] shape, String type, byte[] data) {}

    /** Returns an object to write for a tensor closed before: the elements as stored, on the heap. */
    static Object of(Tensor tensor) {
        ElementType type = tensor.elementType();
        byte[] elements = tensor.rawBytes();
        return type.isBoolean() || type.isInteger() || type.isFloat()
                ? Tensor.wrap(
                        MemorySegment.ofArray(elements), type, tensor.shape().dimensions())
                : new Encoded(tensor.shape().dimensions(), type.toString(), elements);
    }

    /**
     * Reads an argument: a number as it is, an object as a tensor, to be closed by the caller.
     *
     * @param field path of the argument, for messages
     */
    static Object argument(String field, @Nullable JsonNode json) {
        if (json == null || json.isNull()) {
            throw new InvalidFieldException(field, "must be a number or a tensor, not null");
        }
        if (json.isInt()) {
            return json.intValue();
        }
        if (json.isIntegralNumber() && json.canConvertToLong()) {
            return json.longValue();
        }
        if (json.isNumber()) {
            return json.doubleValue();
        }
        if (!json.isObject()) {
            throw new InvalidFieldException(
                    field, "must be a number or a tensor like {\"shape\": [2], \"type\": \"f32\", \"data\": [1, 2]}");
        }
        return tensor(field, json);
    }

    private static Tensor tensor(String field, JsonNode json) {
        long[] shape = shape(field + ".shape", json.path("shape"));
        ElementType type = type(field + ".type", json.path("type"));
        String dataField = field + ".data";
        JsonNode data = json.path("data");
        if (!data.isArray()) {
            throw new InvalidFieldException(dataField, "must be a flat array of numbers");
        }
        try {
            if (type.isBoolean()) {
                boolean[] values = new boolean[data.size()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = data.get(i).asBoolean();
                }
                return Tensor.of(values, shape);
            }
            if (type.isInteger()) {
                return Tensor.of(type, integers(dataField, data), shape);
            }
            if (type.isFloat()) {
                double[] values = numbers(dataField, data);
                return type.equals(ElementType.F64) ? Tensor.of(values, shape) : Tensor.of(type, narrow(values), shape);
            }
        } catch (IreeException e) {
            throw new InvalidFieldException(field, "is not a tensor: " + e.getMessage());
        }
        throw new InvalidFieldException(field + ".type", "'%s' has no JSON representation".formatted(type));
    }

    private static long[] shape(String field, JsonNode json) {
        if (!json.isArray()) {
            throw new InvalidFieldException(field, "must be an array of dimensions");
        }
        return integers(field, json);
    }

    private static ElementType type(String field, JsonNode json) {
        if (!json.isString()) {
            throw new InvalidFieldException(field, "must be an element type such as \"f32\"");
        }
        try {
            return ElementType.parse(json.stringValue());
        } catch (IreeException e) {
            throw new InvalidFieldException(field, "is invalid: " + e.getMessage());
        }
    }

    private static long[] integers(String field, JsonNode json) {
        long[] values = new long[json.size()];
        for (int i = 0; i < values.length; i++) {
            JsonNode value = json.get(i);
            if (!value.isIntegralNumber() || !value.canConvertToLong()) {
                throw new InvalidFieldException("%s[%d]".formatted(field, i), "must be an integer, not " + value);
            }
            values[i] = value.longValue();
        }
        return values;
    }

    private static double[] numbers(String field, JsonNode json) {
        double[] values = new double[json.size()];
        for (int i = 0; i < values.length; i++) {
            JsonNode value = json.get(i);
            if (!value.isNumber()) {
                throw new InvalidFieldException("%s[%d]".formatted(field, i), "must be a number, not " + value);
            }
            values[i] = value.doubleValue();
        }
        return values;
    }

    private static float[] narrow(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }
}

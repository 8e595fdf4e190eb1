package io.github.iree4j.spring.serving;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Reads the elements of one tensor from JSON: flat, or nested by dimension; the parser is at the outer bracket. */
final class JsonElements {
    private final JsonParser json;
    private final String input;
    private final Datatype datatype;
    private final long[] shape;
    private final long count;

    JsonElements(JsonParser json, String input, Datatype datatype, long[] shape, long count) {
        this.json = json;
        this.input = input;
        this.datatype = datatype;
        this.shape = shape;
        this.count = count;
    }

    /** Reads up to the closing bracket and writes the elements in row-major order. */
    void writeTo(MemorySegment memory) {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw InferenceRequestReader.invalid("'data' of input '%s' must be an array".formatted(input));
        }
        JsonToken first = json.nextToken();
        long read = first == JsonToken.START_ARRAY ? nested(first, memory, 0, 0) : flat(first, memory);
        if (read != count) {
            throw InferenceRequestReader.invalid("'data' of input '%s' has %d elements, but shape %s has %d"
                    .formatted(input, read, Arrays.toString(shape), count));
        }
    }

    private long flat(@Nullable JsonToken first, MemorySegment memory) {
        long at = 0;
        for (JsonToken token = first; token != JsonToken.END_ARRAY; token = json.nextToken()) {
            if (at == count) {
                throw InferenceRequestReader.invalid(
                        "'data' of input '%s' has more elements than shape %s, which has %d"
                                .formatted(input, Arrays.toString(shape), count));
            }
            put(memory, at++, token);
        }
        return at;
    }

    /** Reads one nesting level to its closing bracket; its first token has been read. The parser limits the depth. */
    private long nested(@Nullable JsonToken first, MemorySegment memory, int depth, long start) {
        if (depth >= shape.length) {
            throw InferenceRequestReader.invalid(
                    "'data' of input '%s' is nested deeper than shape %s".formatted(input, Arrays.toString(shape)));
        }
        boolean innermost = depth == shape.length - 1;
        long at = start;
        long length = 0;
        for (JsonToken token = first; token != JsonToken.END_ARRAY; token = json.nextToken()) {
            if (++length > shape[depth] || innermost == (token == JsonToken.START_ARRAY)) {
                throw misshapen(depth);
            }
            if (innermost) {
                put(memory, at++, token);
            } else {
                at = nested(json.nextToken(), memory, depth + 1, at);
            }
        }
        if (length != shape[depth]) {
            throw misshapen(depth);
        }
        return at;
    }

    private RuntimeException misshapen(int depth) {
        return InferenceRequestReader.invalid("'data' of input '%s' does not match shape %s; dimension %d differs"
                .formatted(input, Arrays.toString(shape), depth));
    }

    private void put(MemorySegment memory, long at, @Nullable JsonToken token) {
        if (datatype == Datatype.BOOL && (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE)) {
            datatype.put(memory, at, token == JsonToken.VALUE_TRUE ? 1L : 0L);
        } else if (datatype.isReal()
                && (token == JsonToken.VALUE_NUMBER_FLOAT || token == JsonToken.VALUE_NUMBER_INT)) {
            datatype.put(memory, at, json.getDoubleValue());
        } else if (datatype.isReal() && token == JsonToken.VALUE_STRING) {
            datatype.put(memory, at, noNumber(at));
        } else if (token == JsonToken.VALUE_NUMBER_INT && !datatype.isReal()) {
            put(memory, at, integer(at));
        } else {
            throw element(at, "is not a valid %s".formatted(datatype));
        }
    }

    /** Values without a JSON number, in the form that responses use. */
    private double noNumber(long at) {
        return switch (json.getString()) {
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            default -> throw element(at, "is not a valid %s".formatted(datatype));
        };
    }

    private void put(MemorySegment memory, long at, long value) {
        datatype.put(memory, at, value);
    }

    private long integer(long at) {
        if (datatype == Datatype.UINT64
                && json.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                && json.getBigIntegerValue().signum() > 0
                && json.getBigIntegerValue().bitLength() <= Long.SIZE) {
            return json.getBigIntegerValue().longValue();
        }
        if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER || !datatype.holds(json.getLongValue())) {
            throw element(at, "is out of the range of %s, %s".formatted(datatype, datatype.range()));
        }
        return json.getLongValue();
    }

    private RuntimeException element(long at, String problem) {
        return InferenceRequestReader.invalid("element %d of 'data' of input '%s', %s, %s"
                .formatted(at, input, Datatype.shortened(String.valueOf(json.getString())), problem));
    }
}

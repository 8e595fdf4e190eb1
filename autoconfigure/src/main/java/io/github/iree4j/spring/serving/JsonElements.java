package io.github.iree4j.spring.serving;

import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.http.LimitedBody;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads the elements of a tensor from JSON: flat, or nested by dimension; the parser is at the outer bracket.
 * Elements are kept in parts allocated on arrival, until the memory of the whole tensor is available.
 */
final class JsonElements {
    private static final int PART = 1 << 16;

    private final JsonParser json;
    private final String input;
    private final Datatype datatype;
    private final long[] shape;
    private final long count;
    private final @Nullable StringElements strings;
    private final LimitedBody body;
    private final int perPart;
    private final List<MemorySegment> parts = new ArrayList<>();

    /**
     * Creates a reader of the elements of a shape, whose parts are charged to the body. Texts are added to
     * {@code strings}, present only for texts.
     */
    JsonElements(
            JsonParser json,
            String input,
            Datatype datatype,
            Shape shape,
            @Nullable StringElements strings,
            LimitedBody body) {
        this.json = json;
        this.input = input;
        this.datatype = datatype;
        this.shape = shape.dimensions();
        this.count = shape.elementCount();
        this.strings = strings;
        this.body = body;
        this.perPart = PART / datatype.bytes();
    }

    /** Reads up to the closing bracket, in row-major order. */
    void read() {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw InferenceRequest.invalid("'data' of input '%s' must be an array".formatted(input));
        }
        JsonToken first = json.nextToken();
        long read = first == JsonToken.START_ARRAY ? nested(first, 0, 0) : flat(first);
        if (read != count) {
            throw InferenceRequest.invalid("'data' of input '%s' has %d elements, but shape %s has %d"
                    .formatted(input, read, Arrays.toString(shape), count));
        }
    }

    /** Writes all elements. */
    void writeTo(MemorySegment memory) {
        long at = 0;
        for (MemorySegment part : parts) {
            MemorySegment.copy(part, 0, memory, at, part.byteSize());
            at += part.byteSize();
        }
    }

    /** Frees the parts. */
    void release() {
        for (MemorySegment part : parts) {
            body.refund(part.byteSize());
        }
        parts.clear();
    }

    /** Returns the part of an element; elements are written in order. */
    private MemorySegment part(long at) {
        if (at == (long) parts.size() * perPart) {
            int size = (int) Math.min(perPart, count - at) * datatype.bytes();
            body.charge(size);
            parts.add(MemorySegment.ofArray(new byte[size]));
        }
        return parts.getLast();
    }

    private long flat(@Nullable JsonToken first) {
        long at = 0;
        for (JsonToken token = first; token != JsonToken.END_ARRAY; token = json.nextToken()) {
            if (at == count) {
                throw InferenceRequest.invalid("'data' of input '%s' has more elements than shape %s, which has %d"
                        .formatted(input, Arrays.toString(shape), count));
            }
            put(at++, token);
        }
        return at;
    }

    /** Reads one nesting level to the closing bracket; the first token has been read. The parser limits the depth. */
    private long nested(@Nullable JsonToken first, int depth, long start) {
        if (depth >= shape.length) {
            throw InferenceRequest.invalid(
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
                put(at++, token);
            } else {
                at = nested(json.nextToken(), depth + 1, at);
            }
        }
        if (length != shape[depth]) {
            throw misshapen(depth);
        }
        return at;
    }

    private RuntimeException misshapen(int depth) {
        return InferenceRequest.invalid("'data' of input '%s' does not match shape %s; dimension %d differs"
                .formatted(input, Arrays.toString(shape), depth));
    }

    private void put(long at, @Nullable JsonToken token) {
        if (strings != null) {
            if (token != JsonToken.VALUE_STRING) {
                throw element(at, "is not a string");
            }
            strings.add(json.getString().getBytes(StandardCharsets.UTF_8));
            return;
        }
        MemorySegment part = part(at);
        long index = at % perPart;
        if (datatype == Datatype.BOOL && (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE)) {
            datatype.put(part, index, token == JsonToken.VALUE_TRUE ? 1L : 0L);
        } else if (datatype.isReal()
                && (token == JsonToken.VALUE_NUMBER_FLOAT || token == JsonToken.VALUE_NUMBER_INT)) {
            datatype.put(part, index, json.getDoubleValue());
        } else if (datatype.isReal() && token == JsonToken.VALUE_STRING) {
            datatype.put(part, index, noNumber(at));
        } else if (token == JsonToken.VALUE_NUMBER_INT && !datatype.isReal()) {
            datatype.put(part, index, integer(at));
        } else {
            throw element(at, "is not a valid %s".formatted(datatype));
        }
    }

    /** Parses values without a JSON number, in the form used by responses. */
    private double noNumber(long at) {
        return switch (json.getString()) {
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            default -> throw element(at, "is not a valid %s".formatted(datatype));
        };
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
        return InferenceRequest.invalid("element %d of 'data' of input '%s', %s, %s"
                .formatted(at, input, Datatype.shortened(String.valueOf(json.getString())), problem));
    }
}

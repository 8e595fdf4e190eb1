package io.github.iree4j.spring.serving;

import io.github.iree4j.Program;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.http.JsonBody;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.util.TokenBuffer;

/**
 * Reads an inference request: JSON, optionally followed by binary tensor contents. Contents are streamed directly into
 * the heap.
 */
final class InferenceRequestReader {
    private static final int MAX_NESTING = Shape.MAXIMUM_RANK + 8;
    private static final int MAX_OUTPUTS = 1024;

    /** Maximum length of a text in JSON; longer texts have to be sent in binary. */
    private static final int MAX_STRING = 1 << 16;

    /** Limit of the JSON before binary contents; such JSON is kept while being read. */
    private static final int MAX_HEADER = 4 << 20;

    /** Number of header bytes charged before arrival. */
    private static final int FIRST = 1 << 13;

    /** Limit of 'data' preceding 'shape' or 'datatype', which has to be kept: numbers, strings and brackets. */
    private static final int MAX_EARLY = 1 << 16;

    /** Estimated memory of each kept token. */
    static final int EARLY_BYTES = 64;

    /**
     * Factory whose parsers do not cache member names, since a body may have millions of names, and do not close the
     * body, which stays charged until the client has read the answer.
     */
    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
            .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_NESTING)
                    .maxNumberLength(512)
                    .maxStringLength(MAX_STRING)
                    .maxNameLength(1024)
                    .build())
            .build();

    /** The parser's messages for a literal and a number that end early, or are wrong. */
    private static final Pattern CUT = Pattern.compile(
            "Unrecognized token '(t|tr|tru|f|fa|fal|fals|n|nu|nul)'|Unexpected character \\('\\.'.*Decimal point");

    private final RequestInputs tensors;
    private final LimitedBody body;
    /** Inputs whose contents follow the JSON, in order. */
    private final Map<Integer, Input> behind = new LinkedHashMap<>();

    private final Map<String, @Nullable Boolean> outputs = new HashMap<>();
    private @Nullable String id;
    private boolean binaryOutput;
    private @Nullable Duration timeout;
    private boolean inputsSeen;

    /** A partially read input. */
    private static final class Input {
        @Nullable
        String name;

        @Nullable
        Shape shape;

        @Nullable
        Datatype datatype;

        long binarySize = -1;

        @Nullable
        TokenBuffer early;

        boolean hasData;
    }

    /**
     * Creates a reader of a request.
     *
     * @param program the program whose device receives the inputs
     * @param arguments the arguments of the function
     * @param body the body of the request
     */
    InferenceRequestReader(Program program, List<ValueDeclaration> arguments, LimitedBody body) {
        this.tensors = new RequestInputs(program, arguments);
        this.body = body;
    }

    /**
     * Reads the request.
     *
     * @param headerLength number of bytes of JSON in the body; null for all
     * @return the request; the caller closes the request
     * @throws IreeException INVALID_ARGUMENT and others when the request is invalid
     */
    InferenceRequest read(@Nullable Long headerLength) throws IOException {
        long most = body.remaining();
        try (tensors) {
            if (headerLength == null) {
                try (JsonParser json = parser(body)) {
                    readObject(json, most);
                }
                if (!behind.isEmpty()) {
                    throw InferenceRequest.invalid(
                            "input '%s' has 'binary_data_size', but header '%s', the length of the JSON, is missing"
                                    .formatted(shown(behind.values().iterator().next()), OpenInference.HEADER_LENGTH));
                }
            } else {
                byte[] header = header(headerLength);
                try (JsonParser json = parser(new ByteArrayInputStream(header))) {
                    readObject(json, most);
                }
                readBehind();
            }
            if (!inputsSeen) {
                throw InferenceRequest.invalid("'inputs' is missing; it must name %s".formatted(tensors.names()));
            }
            return new InferenceRequest(id, tensors.take(), outputs, binaryOutput, timeout);
        }
    }

    /** Returns a parser of JSON in UTF-8. */
    static JsonParser parser(InputStream json) {
        return JSON.createParser(ObjectReadContext.empty(), JsonBody.reader(json));
    }

    /**
     * Explains a failure of the parser if the JSON ends early: the parser counts characters only, and reports
     * the beginning of a literal, or a decimal point without a digit, like text that is not JSON.
     *
     * @param json the parser, still open
     * @param read the number of bytes of JSON that were read
     */
    static RuntimeException explained(StreamReadException failure, JsonParser json, long read) {
        String message = failure.getOriginalMessage();
        return message.startsWith("Unexpected end-of-input") // with a type in some cases only
                        || CUT.matcher(message).lookingAt() && json.releaseBuffered(Writer.nullWriter()) == 0
                ? InferenceRequest.invalid("the JSON of the body ends early, at byte %d".formatted(read))
                : failure;
    }

    private byte[] header(long length) throws IOException {
        if (length < 2 || length > body.remaining()) {
            throw InferenceRequest.invalid("'%s' is %d, but the body has at most %d bytes"
                    .formatted(OpenInference.HEADER_LENGTH, length, body.remaining()));
        }
        if (length > MAX_HEADER) {
            throw InferenceRequest.invalid(
                    "'%s' is %d; the limit is %d".formatted(OpenInference.HEADER_LENGTH, length, MAX_HEADER));
        }
        byte[] header = {};
        for (int count = 0; count < length; ) {
            int more = (int) Math.min(length, Math.max(FIRST, 2 * count)) - count; // as much as has arrived
            body.charge(more);
            header = Arrays.copyOf(header, count + more);
            int read = body.readNBytes(header, count, more);
            count += read;
            if (read < more) {
                throw InferenceRequest.invalid("the body ends after %d of %d bytes of 'Inference-Header-Content-Length'"
                        .formatted(count, length));
            }
        }
        return header;
    }

    // The request.

    private void readObject(JsonParser json, long most) throws IOException {
        try {
            readObject(json);
        } catch (StreamReadException e) {
            throw explained(e, json, most - body.remaining());
        }
    }

    private void readObject(JsonParser json) throws IOException {
        expect(json.nextToken(), JsonToken.START_OBJECT, "the request");
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String member = member(json, "the request");
            json.nextToken();
            switch (member) {
                case "id" -> id = string(json, "id");
                case "parameters" -> readParameters(json);
                case "inputs" -> {
                    if (inputsSeen) {
                        throw InferenceRequest.invalid("'inputs' is duplicated");
                    }
                    inputsSeen = true;
                    readInputs(json);
                }
                case "outputs" -> readOutputs(json);
                default -> json.skipChildren();
            }
        }
        if (json.nextToken() != null) {
            throw InferenceRequest.invalid(
                    "unexpected data after the JSON of the request; binary tensor contents need 'Inference-Header-Content-Length'");
        }
    }

    private void readParameters(JsonParser json) {
        expect(json.currentToken(), JsonToken.START_OBJECT, "'parameters'");
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String parameter = member(json, "'parameters'");
            json.nextToken();
            switch (parameter) {
                case "binary_data_output" -> binaryOutput = bool(json, parameter);
                case "timeout" -> timeout = timeout(json);
                default -> json.skipChildren();
            }
        }
    }

    static @Nullable Duration timeout(JsonParser json) {
        return InferenceRequest.timeout(count(json, "parameter 'timeout'", "a number of microseconds"));
    }

    private void readOutputs(JsonParser json) {
        expect(json.currentToken(), JsonToken.START_ARRAY, "'outputs'");
        while (json.nextToken() != JsonToken.END_ARRAY) {
            expect(json.currentToken(), JsonToken.START_OBJECT, "an element of 'outputs'");
            if (outputs.size() == MAX_OUTPUTS) {
                throw InferenceRequest.invalid("'outputs' has more than %d elements".formatted(MAX_OUTPUTS));
            }
            String name = null;
            Boolean binary = null;
            while (json.nextToken() != JsonToken.END_OBJECT) {
                String member = member(json, "'outputs'");
                json.nextToken();
                switch (member) {
                    case "name" -> name = string(json, "name");
                    case "parameters" -> binary = binaryData(json);
                    default -> json.skipChildren();
                }
            }
            if (name == null) {
                throw InferenceRequest.invalid("an element of 'outputs' has no 'name'");
            }
            if (!outputs.containsKey(name)) {
                body.charge(EARLY_BYTES + (long) Character.BYTES * name.length());
            }
            outputs.put(name, binary);
        }
    }

    private static @Nullable Boolean binaryData(JsonParser json) {
        expect(json.currentToken(), JsonToken.START_OBJECT, "'parameters' of an output");
        Boolean binary = null;
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String parameter = member(json, "'parameters' of an output");
            json.nextToken();
            switch (parameter) {
                case "binary_data" -> binary = bool(json, parameter);
                case "classification", "shared_memory_region" ->
                    throw IreeException.of(
                            StatusCode.UNIMPLEMENTED,
                            "parameter '%s' of outputs is not supported; the only supported extension is binary tensor data"
                                    .formatted(parameter));
                default -> json.skipChildren();
            }
        }
        return binary;
    }

    // Inputs.

    private void readInputs(JsonParser json) throws IOException {
        expect(json.currentToken(), JsonToken.START_ARRAY, "'inputs'");
        while (json.nextToken() != JsonToken.END_ARRAY) {
            expect(json.currentToken(), JsonToken.START_OBJECT, "an element of 'inputs'");
            readInput(json);
        }
    }

    private void readInput(JsonParser json) throws IOException {
        Input input = new Input();
        int index = -1;
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String member = member(json, "'inputs'");
            json.nextToken();
            switch (member) {
                case "name" -> {
                    once(input.name, member);
                    input.name = string(json, "name");
                    index = tensors.indexOf(input.name);
                }
                case "shape" -> {
                    once(input.shape, member);
                    input.shape = shape(json);
                }
                case "datatype" -> {
                    once(input.datatype, member);
                    input.datatype = Datatype.of(string(json, "datatype"));
                }
                case "parameters" -> readInputParameters(json, input);
                case "data" -> {
                    if (input.hasData) {
                        throw InferenceRequest.invalid("an input has duplicate 'data'");
                    }
                    input.hasData = true;
                    if (index < 0 || input.shape == null || input.datatype == null) {
                        input.early = early(json);
                    } else {
                        tensors.readJson(index, shown(input), input.datatype, input.shape, json, body);
                    }
                }
                default -> json.skipChildren();
            }
        }
        finish(input, index);
    }

    /** Rejects duplicates: after contents, another value would have no effect. */
    private static void once(@Nullable Object before, String member) {
        if (before != null) {
            throw InferenceRequest.invalid("an input has duplicate '%s'".formatted(member));
        }
    }

    private TokenBuffer early(JsonParser json) {
        TokenBuffer early = TokenBuffer.forBuffering(json, ObjectReadContext.empty());
        int depth = 0;
        for (int tokens = 1; ; tokens++) {
            JsonToken token = json.currentToken();
            if (tokens > MAX_EARLY) {
                throw InferenceRequest.invalid(
                        "'data' of an input has more than %d elements before 'name', 'shape' and 'datatype'; send these first"
                                .formatted(MAX_EARLY));
            }
            body.charge(EARLY_BYTES + (token == JsonToken.VALUE_STRING ? json.getStringLength() : 0));
            early.copyCurrentEvent(json);
            depth += token == null ? 0 : token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
            if (depth == 0) {
                return early;
            }
            json.nextToken();
        }
    }

    private void finish(Input input, int index) throws IOException {
        if (input.name == null) {
            throw InferenceRequest.invalid(
                    "an element of 'inputs' has no 'name'; the inputs are %s".formatted(tensors.names()));
        }
        if (input.shape == null || input.datatype == null) {
            throw InferenceRequest.invalid(
                    "input '%s' has no '%s'".formatted(shown(input), input.shape == null ? "shape" : "datatype"));
        }
        if (input.hasData == (input.binarySize >= 0)) {
            throw InferenceRequest.invalid("input '%s' has %s"
                    .formatted(
                            shown(input),
                            input.hasData
                                    ? "both 'data' and 'binary_data_size'"
                                    : "neither 'data' nor 'binary_data_size'"));
        }
        if (input.early != null) {
            try (JsonParser early = input.early.asParser()) {
                early.nextToken();
                tensors.readJson(index, shown(input), input.datatype, input.shape, early, body);
            }
        } else if (!input.hasData) {
            behind.put(index, input);
        }
    }

    private static String shown(Input input) {
        return Datatype.shortened(String.valueOf(input.name));
    }

    private static void readInputParameters(JsonParser json, Input input) {
        expect(json.currentToken(), JsonToken.START_OBJECT, "'parameters' of an input");
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String parameter = member(json, "'parameters' of an input");
            json.nextToken();
            switch (parameter) {
                case "binary_data_size" ->
                    input.binarySize = count(json, "parameter 'binary_data_size'", "a number of bytes");
                case "shared_memory_region" ->
                    throw IreeException.of(
                            StatusCode.UNIMPLEMENTED,
                            "parameter 'shared_memory_region' of inputs is not supported; the only supported extension is binary tensor data");
                default -> json.skipChildren();
            }
        }
    }

    private static Shape shape(JsonParser json) {
        expect(json.currentToken(), JsonToken.START_ARRAY, "'shape'");
        long[] dimensions = new long[8];
        int rank = 0;
        while (json.nextToken() != JsonToken.END_ARRAY) {
            long dimension = count(json, "dimension %d of 'shape'".formatted(rank), "an integer");
            if (rank == Shape.MAXIMUM_RANK) {
                throw InferenceRequest.invalid("'shape' has more than %d dimensions".formatted(rank));
            }
            dimensions = rank == dimensions.length ? Arrays.copyOf(dimensions, 2 * rank) : dimensions;
            dimensions[rank++] = dimension;
        }
        return Shape.of(Arrays.copyOf(dimensions, rank));
    }

    private void readBehind() throws IOException {
        for (Map.Entry<Integer, Input> entry : behind.entrySet()) {
            Input input = entry.getValue();
            Datatype datatype = input.datatype;
            Shape shape = input.shape;
            if (datatype == null || shape == null) {
                throw new IllegalStateException(input.name);
            }
            tensors.checkSize(entry.getKey(), datatype, shape, input.binarySize, "'binary_data_size'");
            body.checkTold(input.binarySize);
            if (input.binarySize > body.remaining()) {
                throw InferenceRequest.invalid("input '%s' takes %d bytes, but the body has at most %d left"
                        .formatted(shown(input), input.binarySize, body.remaining()));
            }
            body.weighing(datatype == Datatype.BYTES ? 0 : 1); // texts charge the memory kept
            tensors.read(entry.getKey(), datatype, shape, input.binarySize, body, body);
        }
        if (body.read() >= 0) {
            throw InferenceRequest.invalid("the body is longer than the JSON and the 'binary_data_size' of its inputs");
        }
    }

    // Tokens.

    static String member(JsonParser json, String where) {
        String name = json.currentToken() == JsonToken.PROPERTY_NAME ? json.currentName() : null;
        if (name == null) {
            throw InferenceRequest.invalid("%s ends too early".formatted(where));
        }
        return name;
    }

    static void expect(@Nullable JsonToken actual, JsonToken wanted, String what) {
        if (actual != wanted) {
            throw InferenceRequest.invalid(
                    "%s must be %s".formatted(what, wanted == JsonToken.START_OBJECT ? "an object" : "an array"));
        }
    }

    private static long count(JsonParser json, String what, String kind) {
        if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw InferenceRequest.invalid("%s must be %s, at least 0".formatted(what, kind));
        }
        if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            throw InferenceRequest.invalid("%s, %s, is out of range: it must be %s, at least 0 and at most %d"
                    .formatted(what, Datatype.shortened(json.getString()), kind, Long.MAX_VALUE));
        }
        if (json.getLongValue() < 0) {
            throw InferenceRequest.invalid("%s must be %s, at least 0".formatted(what, kind));
        }
        return json.getLongValue();
    }

    private static String string(JsonParser json, String member) {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw InferenceRequest.invalid("'%s' must be a string".formatted(member));
        }
        return json.getString();
    }

    private static boolean bool(JsonParser json, String parameter) {
        return switch (json.currentToken()) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case null, default ->
                throw InferenceRequest.invalid("parameter '%s' must be true or false".formatted(parameter));
        };
    }
}

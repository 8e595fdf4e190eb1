package io.github.iree4j.spring.serving;

import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.util.TokenBuffer;

/**
 * Reads a request of Triton's generate extension: an object whose members are inputs by name, each a text, a number,
 * a boolean or a flat array of these. Other members are parameters, and ignored, except {@code timeout} in
 * {@code parameters}. An input has the shape declared by the function: the last open dimension holds the number of
 * elements sent, and other open dimensions are 1.
 */
final class GenerateRequestReader {

    /** Maximum number of elements; inputs are kept until the number of elements is known. */
    private static final int MAX_ELEMENTS = 1 << 16;

    private final Served served;
    private final List<ValueDeclaration> arguments;
    private final LimitedBody body;
    private @Nullable String id;
    private @Nullable Duration timeout;

    GenerateRequestReader(Served served, LimitedBody body) {
        this.served = served;
        this.arguments = served.function().arguments();
        this.body = body;
    }

    /**
     * Reads the request.
     *
     * @return the request; the caller closes the request
     * @throws IreeException INVALID_ARGUMENT and others when the request is invalid
     */
    InferenceRequest read() throws IOException {
        long most = body.remaining();
        try (RequestInputs inputs = new RequestInputs(served.function().program(), arguments);
                JsonParser json = InferenceRequestReader.parser(body)) {
            try {
                read(json, inputs);
            } catch (StreamReadException e) {
                throw InferenceRequestReader.explained(e, json, most - body.remaining());
            }
            return new InferenceRequest(id, inputs.take(), Map.of(), false, timeout);
        }
    }

    private void read(JsonParser json, RequestInputs inputs) throws IOException {
        InferenceRequestReader.expect(json.nextToken(), JsonToken.START_OBJECT, "the request");
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String member = InferenceRequestReader.member(json, "the request");
            json.nextToken();
            if (inputs.names().contains(member)) {
                readInput(json, inputs, inputs.indexOf(member), member);
            } else if (member.equals("id") && json.currentToken() == JsonToken.VALUE_STRING) {
                id = json.getString();
            } else if (member.equals("parameters") && json.currentToken() == JsonToken.START_OBJECT) {
                readParameters(json);
            } else {
                json.skipChildren();
            }
        }
        if (json.nextToken() != null) {
            throw InferenceRequest.invalid("unexpected data after the JSON of the request");
        }
    }

    private void readParameters(JsonParser json) {
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String parameter = InferenceRequestReader.member(json, "'parameters'");
            json.nextToken();
            if (parameter.equals("timeout")) {
                timeout = InferenceRequestReader.timeout(json);
            } else {
                json.skipChildren();
            }
        }
    }

    private void readInput(JsonParser json, RequestInputs inputs, int index, String name) throws IOException {
        JsonToken first = json.currentToken();
        TokenBuffer elements = TokenBuffer.forBuffering(json, ObjectReadContext.empty());
        elements.writeStartArray();
        int count = 0;
        boolean text = false;
        if (first == JsonToken.START_ARRAY) {
            while (json.nextToken() != JsonToken.END_ARRAY) {
                text |= json.currentToken() == JsonToken.VALUE_STRING;
                add(json, elements, ++count, name);
            }
        } else {
            text = first == JsonToken.VALUE_STRING;
            add(json, elements, ++count, name);
        }
        elements.writeEndArray();
        Datatype datatype = datatype(inputs.argument(index), name, text);
        Shape shape = shape(inputs.argument(index), name, datatype, count);
        try (JsonParser kept = elements.asParser()) {
            kept.nextToken();
            inputs.readJson(index, name, datatype, shape, kept, body);
        }
    }

    private void add(JsonParser json, TokenBuffer elements, int count, String name) {
        JsonToken token = json.currentToken();
        if (token == null || !token.isScalarValue()) {
            throw InferenceRequest.invalid(
                    "input '%s' must be a text, a number, a boolean or a flat array of them".formatted(name));
        }
        if (count > MAX_ELEMENTS) {
            throw InferenceRequest.invalid(
                    "input '%s' has more than %d elements; send it with 'infer'".formatted(name, MAX_ELEMENTS));
        }
        body.charge(
                InferenceRequestReader.EARLY_BYTES + (token == JsonToken.VALUE_STRING ? json.getStringLength() : 0));
        elements.copyCurrentEvent(json);
    }

    private Datatype datatype(ValueDeclaration argument, String name, boolean text) {
        if (served.strings().contains(name) || text && StringElements.canHold(argument)) {
            return Datatype.BYTES;
        }
        Datatype datatype = argument.elementType().map(Datatype::of).orElse(null);
        if (datatype == null) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "input '%s' is %s; send it with 'infer', which names its datatype and shape"
                            .formatted(name, argument.type()));
        }
        return datatype;
    }

    private static Shape shape(ValueDeclaration argument, String name, Datatype datatype, int count) {
        if (argument.shape().isEmpty()) {
            return Shape.of(count);
        }
        List<Long> declared = argument.shape().get();
        if (datatype == Datatype.BYTES) {
            declared = declared.size() < 2 ? List.of(1L) : declared.subList(0, declared.size() - 1);
        }
        long[] shape = declared.stream().mapToLong(Long::longValue).toArray();
        int open = declared.lastIndexOf(-1L);
        long others = 1;
        for (int i = 0; i < shape.length; i++) {
            shape[i] = shape[i] < 0 && i != open ? 1 : shape[i];
            others = i == open ? others : Math.multiplyExact(others, shape[i]);
        }
        if (open >= 0) {
            shape[open] = others == 0 ? 0 : count / others;
        }
        if (others * (open < 0 ? 1 : shape[open]) != count) {
            throw InferenceRequest.invalid(
                    "input '%s' (%s) cannot have %d elements".formatted(name, argument.type(), count));
        }
        return Shape.of(shape);
    }
}

package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;

/** The response to one request: JSON, then the contents of binary outputs as they are in memory. */
final class InferenceResponse {
    private static final JsonFactory JSON =
            JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

    private final Served served;
    private final InferenceRequest request;
    private final List<Output> outputs = new ArrayList<>();

    /** One output: a tensor, or a primitive as a tensor with one element. */
    private record Output(String name, Datatype datatype, Tensor tensor, boolean binary) {}

    /**
     * Creates a response.
     *
     * @param results borrowed for the lifetime of the response
     * @throws IreeException INVALID_ARGUMENT when a requested output does not exist; UNIMPLEMENTED for results that the
     *     protocol cannot express
     */
    InferenceResponse(Served served, InferenceRequest request, Results results) {
        this.served = served;
        this.request = request;
        List<ValueDeclaration> declared = served.function().results();
        checkNames(request, declared);
        for (int i = 0; i < declared.size(); i++) {
            String name = ServedModels.name(declared, i, "output");
            if (request.wants(name)) {
                outputs.add(output(name, results.get(i)));
            }
        }
    }

    /** Checked before the call is made, so that no unusable result is computed. */
    static void checkNames(InferenceRequest request, List<ValueDeclaration> declared) {
        List<String> names = ServedModels.names(declared, "output");
        for (String wanted : request.outputs().keySet()) {
            if (!names.contains(wanted)) {
                throw InferenceRequestReader.invalid(
                        "there is no output '%s'; the outputs are %s".formatted(Datatype.shortened(wanted), names));
            }
        }
    }

    private Output output(String name, @Nullable Object value) {
        Tensor tensor = switch (value) {
            case Tensor own -> own;
            case Integer number -> Tensor.ofInts(new int[] {number});
            case Long number -> Tensor.ofLongs(new long[] {number});
            case Float number -> Tensor.of(new float[] {number});
            case Double number -> Tensor.ofDoubles(new double[] {number});
            case null, default ->
                throw new IreeException(
                        StatusCode.UNIMPLEMENTED,
                        "output '%s' is not a tensor but %s; omit it from 'outputs'"
                                .formatted(
                                        name,
                                        value == null
                                                ? "a null reference"
                                                : "a " + value.getClass().getSimpleName()));
        };
        Datatype datatype = Datatype.of(tensor.elementType());
        if (datatype == null) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "output '%s' has element type %s, which the protocol does not define; omit it from 'outputs'"
                            .formatted(name, tensor.elementType()));
        }
        return new Output(name, datatype, tensor, request.wantsBinary(name));
    }

    /** Whether anything follows the JSON. */
    boolean isBinary() {
        return outputs.stream().anyMatch(Output::binary);
    }

    /** How many bytes follow the JSON. */
    long binarySize() {
        return outputs.stream()
                .filter(Output::binary)
                .mapToLong(output -> output.tensor().byteSize())
                .sum();
    }

    /** The JSON, in memory: without contents it is short. */
    byte[] header() {
        ByteArrayOutputStream header = new ByteArrayOutputStream(256);
        writeJson(header);
        return header.toByteArray();
    }

    void writeJson(OutputStream out) {
        try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            json.writeStringProperty("model_name", served.name());
            json.writeStringProperty("model_version", served.version());
            if (request.id() != null) {
                json.writeStringProperty("id", request.id());
            }
            json.writeArrayPropertyStart("outputs");
            for (Output output : outputs) {
                write(json, output);
            }
            json.writeEndArray();
            json.writeEndObject();
        }
    }

    private static void write(JsonGenerator json, Output output) {
        json.writeStartObject();
        json.writeStringProperty("name", output.name());
        json.writeStringProperty("datatype", output.datatype().name());
        json.writeName("shape");
        long[] shape = output.tensor().shape();
        json.writeArray(shape, 0, shape.length);
        if (output.binary()) {
            json.writeObjectPropertyStart("parameters");
            json.writeNumberProperty("binary_data_size", output.tensor().byteSize());
            json.writeEndObject();
        } else {
            json.writeName("data");
            data(json, output);
        }
        json.writeEndObject();
    }

    private static void data(JsonGenerator json, Output output) {
        Tensor tensor = output.tensor();
        switch (output.datatype()) {
            case BOOL -> {
                json.writeStartArray();
                for (boolean value : tensor.toBooleanArray()) {
                    json.writeBoolean(value);
                }
                json.writeEndArray();
            }
            case FP16, BF16, FP32 -> {
                json.writeStartArray();
                for (float value : tensor.toFloatArray()) {
                    json.writeNumber(value);
                }
                json.writeEndArray();
            }
            case FP64 -> {
                double[] values = tensor.toDoubleArray();
                json.writeArray(values, 0, values.length);
            }
            case UINT64 -> {
                json.writeStartArray();
                for (long value : tensor.toLongArray()) {
                    json.writeNumber(new java.math.BigInteger(Long.toUnsignedString(value)));
                }
                json.writeEndArray();
            }
            default -> {
                long[] values = tensor.toLongArray();
                json.writeArray(values, 0, values.length);
            }
        }
    }

    /** What follows the JSON. */
    void writeContents(OutputStream out) throws IOException {
        for (Output output : outputs) {
            if (output.binary()) {
                output.tensor().writeTo(out);
            }
        }
    }
}

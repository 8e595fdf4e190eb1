package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    private final List<InferenceOutput> outputs;
    /** The texts of outputs that are not binary, by name; decoded before the response begins, since that may fail. */
    private final Map<String, List<String>> texts = new HashMap<>();

    /**
     * Creates a response.
     *
     * @param results borrowed for the lifetime of the response
     * @throws IreeException as {@link InferenceOutput#of(Served, InferenceRequest, Results)}
     */
    InferenceResponse(Served served, InferenceRequest request, Results results) {
        this.served = served;
        this.request = request;
        this.outputs = InferenceOutput.of(served, request, results);
        for (InferenceOutput output : outputs) {
            if (output.texts() != null && !output.binary()) {
                texts.put(output.name(), output.texts().texts(output.name()));
            }
        }
    }

    /** Whether anything follows the JSON. */
    boolean isBinary() {
        return outputs.stream().anyMatch(InferenceOutput::binary);
    }

    /** How many bytes follow the JSON. */
    long binarySize() {
        return outputs.stream()
                .filter(InferenceOutput::binary)
                .mapToLong(InferenceOutput::size)
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
            for (InferenceOutput output : outputs) {
                write(json, output);
            }
            json.writeEndArray();
            json.writeEndObject();
        }
    }

    private void write(JsonGenerator json, InferenceOutput output) {
        json.writeStartObject();
        json.writeStringProperty("name", output.name());
        json.writeStringProperty("datatype", output.datatype().name());
        json.writeName("shape");
        long[] shape = output.shape();
        json.writeArray(shape, 0, shape.length);
        if (output.binary()) {
            json.writeObjectPropertyStart("parameters");
            json.writeNumberProperty("binary_data_size", output.size());
            json.writeEndObject();
        } else {
            json.writeName("data");
            data(json, output);
        }
        json.writeEndObject();
    }

    private void data(JsonGenerator json, InferenceOutput output) {
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
            case BYTES -> {
                json.writeStartArray();
                for (String text : texts.getOrDefault(output.name(), List.of())) {
                    json.writeString(text);
                }
                json.writeEndArray();
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
        for (InferenceOutput output : outputs) {
            if (output.binary()) {
                output.writeTo(out);
            }
        }
    }
}

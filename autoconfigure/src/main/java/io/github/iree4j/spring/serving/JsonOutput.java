package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import io.github.iree4j.spring.http.ElementParts;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/** Writes the elements of an output as JSON, flat and in row-major order. */
final class JsonOutput {
    private JsonOutput() {}

    /** Returns the texts of outputs that are not binary, by name. */
    static Map<String, List<String>> texts(List<InferenceOutput> outputs) {
        Map<String, List<String>> texts = new HashMap<>();
        for (InferenceOutput output : outputs) {
            if (output.texts() != null && !output.binary()) {
                texts.put(output.name(), output.texts().texts(output.name()));
            }
        }
        return texts;
    }

    /**
     * Writes the elements, without brackets.
     *
     * @param texts the texts of a {@link Datatype#BYTES} output
     */
    static void write(JsonGenerator json, InferenceOutput output, List<String> texts) {
        if (output.datatype() == Datatype.BYTES) {
            texts.forEach(json::writeString);
        } else {
            ElementParts.forEach(output.tensor(), part -> write(json, output.datatype(), part));
        }
    }

    private static void write(JsonGenerator json, Datatype datatype, Tensor part) {
        switch (datatype) {
            case BOOL -> {
                for (boolean value : part.toBooleanArray()) {
                    json.writeBoolean(value);
                }
            }
            case FP16, BF16, FP32 -> {
                for (float value : part.toFloatArray()) {
                    json.writeNumber(value);
                }
            }
            case FP64 -> {
                for (double value : part.toDoubleArray()) {
                    json.writeNumber(value);
                }
            }
            case UINT64 -> {
                for (long value : part.toLongArray()) {
                    json.writeNumber(new BigInteger(Long.toUnsignedString(value)));
                }
            }
            default -> {
                for (long value : part.toLongArray()) {
                    json.writeNumber(value);
                }
            }
        }
    }
}

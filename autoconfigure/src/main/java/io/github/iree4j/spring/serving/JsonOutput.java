package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import io.github.iree4j.spring.http.ElementParts;
import java.math.BigInteger;
import tools.jackson.core.JsonGenerator;

/** Writes the elements of an output as JSON, flat and in row-major order. */
final class JsonOutput {
    private JsonOutput() {}

    /** Writes the elements of an output on the host, without brackets. */
    static void write(JsonGenerator json, InferenceOutput output) {
        StringOutput texts = output.texts();
        if (texts != null) {
            texts.writeTo(json);
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

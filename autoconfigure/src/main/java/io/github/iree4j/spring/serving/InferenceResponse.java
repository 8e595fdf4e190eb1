package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.serving.Inference.HeaderSink;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;

/** The response to a request: JSON, followed by the contents of binary outputs in memory layout. */
final class InferenceResponse implements Inference.Response {
    static final JsonFactory JSON =
            JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

    private final Served served;
    private final @Nullable String id;
    private List<InferenceOutput> outputs;
    /** The JSON preceding binary contents, short without contents. Null when the whole response is JSON. */
    private byte @Nullable [] header;

    /**
     * Creates a response.
     *
     * @param results borrowed until the response is fetched
     * @throws IreeException as {@link InferenceOutput#of(Served, InferenceRequest, Results)}
     */
    InferenceResponse(Served served, InferenceRequest request, Results results) {
        this.served = served;
        this.id = request.id();
        this.outputs = InferenceOutput.of(served, request, results);
    }

    @Override
    public long size() {
        return InferenceOutput.most(outputs);
    }

    @Override
    public void fetch() {
        outputs = InferenceOutput.onHeap(outputs);
        header = outputs.stream().anyMatch(InferenceOutput::binary) ? header() : null;
    }

    @Override
    public void describe(HeaderSink headers) {
        byte[] head = header;
        if (head == null) {
            headers.set(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE);
            return;
        }
        long size = head.length;
        for (InferenceOutput output : outputs) {
            size += output.binary() ? output.size() : 0;
        }
        headers.set(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_OCTET_STREAM_VALUE);
        headers.set(OpenInference.HEADER_LENGTH, Integer.toString(head.length));
        headers.set(HttpHeaders.CONTENT_LENGTH, Long.toString(size));
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
        byte[] head = header;
        if (head == null) {
            writeJson(out);
            return;
        }
        out.write(head);
        for (InferenceOutput output : outputs) {
            if (output.binary()) {
                output.writeTo(out);
            }
        }
    }

    private byte[] header() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        writeJson(bytes);
        return bytes.toByteArray();
    }

    private void writeJson(OutputStream out) {
        try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            json.writeStringProperty("model_name", served.name());
            json.writeStringProperty("model_version", served.version());
            if (id != null) {
                json.writeStringProperty("id", id);
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
        long[] shape = output.shape().dimensions();
        json.writeArray(shape, 0, shape.length);
        if (output.binary()) {
            json.writeObjectPropertyStart("parameters");
            json.writeNumberProperty("binary_data_size", output.size());
            json.writeEndObject();
        } else {
            json.writeArrayPropertyStart("data");
            JsonOutput.write(json, output);
            json.writeEndArray();
        }
        json.writeEndObject();
    }
}

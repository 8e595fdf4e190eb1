package io.github.iree4j.spring.serving;

import io.github.iree4j.Results;
import io.github.iree4j.spring.serving.Inference.HeaderSink;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;

/** A response of Triton's generate extension: outputs by name, as an object or as the only event of a stream. */
final class GenerateResponse implements Inference.Response {

    private static final String EVENTS = "text/event-stream;charset=utf-8";

    private final Served served;
    private final @Nullable String id;
    private List<InferenceOutput> outputs;
    private final boolean stream;

    /**
     * Creates a response.
     *
     * @param results borrowed until the response is fetched
     * @param stream whether the response is an event
     * @throws IreeException as {@link InferenceOutput#of(Served, InferenceRequest, Results)}
     */
    GenerateResponse(Served served, InferenceRequest request, Results results, boolean stream) {
        this.served = served;
        this.id = request.id();
        this.stream = stream;
        this.outputs = InferenceOutput.of(served, request, results);
    }

    @Override
    public long size() {
        return InferenceOutput.most(outputs);
    }

    @Override
    public void fetch() {
        outputs = InferenceOutput.onHeap(outputs);
    }

    @Override
    public void describe(HeaderSink headers) {
        headers.set(HttpHeaders.CONTENT_TYPE, stream ? EVENTS : MediaType.APPLICATION_JSON_VALUE);
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
        if (stream) {
            out.write("data: ".getBytes(StandardCharsets.US_ASCII));
        }
        try (JsonGenerator json = InferenceResponse.JSON.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            if (id != null) {
                json.writeStringProperty("id", id);
            }
            json.writeStringProperty("model_name", served.name());
            json.writeStringProperty("model_version", served.version());
            for (InferenceOutput output : outputs) {
                write(json, output);
            }
            json.writeEndObject();
        }
        if (stream) {
            out.write("\n\n".getBytes(StandardCharsets.US_ASCII));
        }
    }

    private void write(JsonGenerator json, InferenceOutput output) {
        StringOutput texts = output.texts();
        long count = texts == null ? output.tensor().shape().elementCount() : texts.count();
        json.writeName(output.name());
        if (count == 1) {
            JsonOutput.write(json, output);
        } else {
            json.writeStartArray();
            JsonOutput.write(json, output);
            json.writeEndArray();
        }
    }
}

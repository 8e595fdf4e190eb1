package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A request for embeddings.
 *
 * @param texts the texts
 * @param dimensions wanted length of each embedding; null for the model's
 * @param base64 whether embeddings are written as bytes
 */
record Embeddings(List<String> texts, @Nullable Integer dimensions, boolean base64) {

    /** Maximum number of texts, as OpenAI has; the model may have fewer. */
    private static final int MOST_TEXTS = 2048;

    private static final int MOST_DIMENSIONS = 1 << 20;

    /** Bytes of a number as JSON and in its tree, at most. */
    private static final int NUMBER = 48;

    /** Reads the body of a request. */
    static Embeddings read(RequestObject request, IreeEmbeddingModel model) {
        GenerationParameters.checkModel(request, model.model());
        request.ignore(Set.of("user"));
        JsonNode input = request.get("input");
        if (input == null) {
            throw request.invalid("input", "is missing; give a string or a list of strings");
        }
        List<String> texts = new ArrayList<>();
        List<JsonNode> given = input.isString() ? List.of(input) : request.list("input", MOST_TEXTS);
        if (given == null || given.isEmpty()) {
            throw request.invalid("input", "is empty; give a string or more");
        }
        for (JsonNode each : given) {
            if (!each.isString()) {
                throw request.invalid("input", "must be a string or a list of strings; tokens are not supported here");
            }
            texts.add(each.stringValue());
        }
        Long dimensions = request.whole("dimensions", 1, MOST_DIMENSIONS);
        String format = request.text("encoding_format");
        if (format != null && !format.equals("float") && !format.equals("base64")) {
            throw request.invalid("encoding_format", "must be 'float' or 'base64'");
        }
        request.refuseOthers();
        return new Embeddings(texts, dimensions == null ? null : dimensions.intValue(), "base64".equals(format));
    }

    EmbeddingResponse call(IreeEmbeddingModel model) {
        return model.call(new EmbeddingRequest(texts, IreeEmbeddingOptions.DEFAULTS.dimensions(dimensions)));
    }

    /** Returns the memory of the answer, in bytes. */
    long size(EmbeddingResponse response) {
        long numbers = 0;
        for (Embedding each : response.getResults()) {
            numbers += each.getOutput().length;
        }
        return numbers * NUMBER + 256;
    }

    ObjectNode answer(EmbeddingResponse response, String model) {
        ObjectNode root = JsonMapper.shared().createObjectNode().put("object", "list");
        ArrayNode data = root.putArray("data");
        for (Embedding each : response.getResults()) {
            ObjectNode embedding = data.addObject().put("object", "embedding").put("index", each.getIndex());
            float[] vector = each.getOutput();
            if (base64) {
                ByteBuffer bytes =
                        ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
                bytes.asFloatBuffer().put(vector);
                embedding.put("embedding", Base64.getEncoder().encodeToString(bytes.array()));
            } else {
                ArrayNode numbers = embedding.putArray("embedding");
                for (float number : vector) {
                    numbers.add(number);
                }
            }
        }
        root.put("model", model);
        int tokens = response.getMetadata().getUsage().getTotalTokens();
        root.putObject("usage").put("prompt_tokens", tokens).put("total_tokens", tokens);
        return root;
    }
}

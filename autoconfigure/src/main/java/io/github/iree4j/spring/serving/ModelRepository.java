package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The model repository extension over REST, independent of the web stack. */
final class ModelRepository {

    /** Maximum size of a request, which has only a few members. */
    private static final int MAX_REQUEST = 1 << 16;

    private static final JsonMapper JSON = JsonMapper.shared();

    private final RepositoryModels models;
    private final BodyLimits limits;

    ModelRepository(Programs programs, BodyLimits limits) {
        this.models = new RepositoryModels(programs);
        this.limits = limits;
    }

    /** Lists all versions of all models, or only ready versions if so requested. */
    List<RepositoryModels.Entry> index(HttpHeaders headers, InputStream body) throws IOException {
        JsonNode ready = request(headers, body).path("ready");
        if (!ready.isMissingNode() && !ready.isBoolean()) {
            throw InferenceRequest.invalid("'ready' must be true or false");
        }
        return models.index(ready.asBoolean(false));
    }

    /** Loads or reloads all versions of a model from their configured locations. */
    Map<String, String> load(String model, HttpHeaders headers, InputStream body) throws IOException {
        for (String parameter : request(headers, body).path("parameters").propertyNames()) {
            RepositoryModels.checkParameter(parameter);
        }
        models.load(model);
        return Map.of();
    }

    /** Unloads all versions of a model; calls in flight finish first. */
    Map<String, String> unload(String model, HttpHeaders headers, InputStream body) throws IOException {
        request(headers, body); // validated only: models have no dependents, so 'unload_dependents' has no effect
        models.unload(model);
        return Map.of();
    }

    /**
     * Refuses forms sent by pages of other sites. Such pages can make a browser send the content types of forms, with
     * the address and the credentials of the user. Browsers send JSON only with the server's permission. Clients other
     * than browsers, and old browsers, send neither header; other clients send any content type or none, but no form's.
     */
    private static void refuseOtherSites(HttpHeaders headers) {
        boolean isBrowser = headers.containsHeader(HttpHeaders.ORIGIN) || headers.containsHeader("Sec-Fetch-Site");
        String type = headers.getFirst(HttpHeaders.CONTENT_TYPE);
        boolean isJson =
                type != null && type.split(";", 2)[0].strip().equalsIgnoreCase(MediaType.APPLICATION_JSON_VALUE);
        if (OpenInference.RequestHead.isForm(type)) {
            throw new ResponseStatusException(HttpStatus.UNSUPPORTED_MEDIA_TYPE, OpenInference.RequestHead.FORM);
        }
        if (isBrowser && !isJson) {
            throw new ResponseStatusException(
                    HttpStatus.UNSUPPORTED_MEDIA_TYPE,
                    "the repository takes only 'Content-Type: application/json' from browsers, since pages of other sites can send others");
        }
    }

    /** Returns the object in the body; an empty object when there is no body. */
    private JsonNode request(HttpHeaders headers, InputStream in) throws IOException {
        refuseOtherSites(headers);
        byte[] text;
        try (LimitedBody body = limits.receive(in, -1, Integer.MAX_VALUE, null)) {
            text = body.readNBytes(MAX_REQUEST + 1);
        }
        if (text.length > MAX_REQUEST) {
            throw new ResponseStatusException(
                    HttpStatus.CONTENT_TOO_LARGE, "the body is longer than %d bytes".formatted(MAX_REQUEST));
        }
        JsonNode request = text.length == 0 ? JSON.createObjectNode() : JSON.readTree(text);
        JsonNode parameters = request.path("parameters");
        if (!request.isObject() || !(parameters.isMissingNode() || parameters.isObject())) {
            throw InferenceRequest.invalid(
                    "%s must be an object".formatted(request.isObject() ? "'parameters'" : "the request"));
        }
        return request;
    }
}

package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the extension for the model repository answers, whatever brings the requests. Loading and unloading block. */
final class ModelRepository {

    /** Requests have a handful of members. */
    private static final int MAX_REQUEST = 1 << 16;

    private static final JsonMapper JSON = JsonMapper.shared();

    private final Programs programs;

    ModelRepository(Programs programs) {
        this.programs = programs;
    }

    record Entry(String name, String version, String state, String reason) {}

    /** All versions of all models; those that can be called only, when the request says so. */
    List<Entry> index(InputStream body) throws IOException {
        JsonNode ready = request(body).path("ready");
        if (!ready.isMissingNode() && !ready.isBoolean()) {
            throw InferenceRequestReader.invalid("'ready' must be true or false");
        }
        return programs.statuses().stream()
                .filter(status -> !ready.asBoolean(false) || status.state() == ProgramState.READY)
                .map(ModelRepository::entry)
                .toList();
    }

    private static Entry entry(ProgramStatus status) {
        Throwable failure = status.failure();
        return new Entry(
                status.source().name(),
                status.source().version(),
                switch (status.state()) {
                    case READY -> "READY";
                    case LOADING, WARMING_UP -> "LOADING";
                    default -> "UNAVAILABLE";
                },
                failure == null ? "" : String.valueOf(failure.getMessage()));
    }

    /** Loads all versions of a model, again if they are loaded: from the same place, where other files may lie by now. */
    Map<String, String> load(String model, InputStream body) throws IOException {
        for (String parameter : request(body).path("parameters").propertyNames()) {
            if (parameter.equals("config") || parameter.startsWith("file:")) {
                throw new IreeException(
                        StatusCode.UNIMPLEMENTED,
                        "parameter '%s' is not supported; models are loaded as they are configured"
                                .formatted(Datatype.shortened(parameter)));
            }
        }
        for (ProgramStatus status : known(model)) {
            programs.load(model, status.source().version());
        }
        return Map.of();
    }

    /** Unloads all versions of a model; calls under way end first. */
    Map<String, String> unload(String model, InputStream body) throws IOException {
        request(body); // no model depends on another, so whatever it says of dependents is true
        for (ProgramStatus status : known(model)) {
            programs.unload(model, status.source().version());
        }
        return Map.of();
    }

    /** The object in the body; an empty one where there is no body. */
    private static JsonNode request(InputStream body) throws IOException {
        byte[] text = body.readNBytes(MAX_REQUEST + 1);
        if (text.length > MAX_REQUEST) {
            throw InferenceRequestReader.invalid("the body is longer than %d bytes".formatted(MAX_REQUEST));
        }
        JsonNode request = text.length == 0 ? JSON.createObjectNode() : JSON.readTree(text);
        JsonNode parameters = request.path("parameters");
        if (!request.isObject() || !(parameters.isMissingNode() || parameters.isObject())) {
            throw InferenceRequestReader.invalid(
                    "%s must be an object".formatted(request.isObject() ? "'parameters'" : "the request"));
        }
        return request;
    }

    private List<ProgramStatus> known(String model) {
        List<ProgramStatus> versions = programs.versions(model);
        if (versions.isEmpty()) {
            programs.load(model, null); // says that there is none
        }
        return versions;
    }
}

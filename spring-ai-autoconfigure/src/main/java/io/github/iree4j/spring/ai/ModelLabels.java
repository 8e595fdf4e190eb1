package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.io.Resource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The labels of a classifier, from the {@code config.json} of the model. */
@NotForApplications
public final class ModelLabels {

    /** Known files have a few kilobytes, with a thousand labels a hundred. */
    private static final int LARGEST_FILE = 1 << 20;

    private ModelLabels() {}

    /**
     * Reads the labels in {@code id2label}.
     *
     * @param config the {@code config.json} that belongs to the model
     * @return the label of each column of the model's result
     * @throws IreeException NOT_FOUND when the file does not exist; DATA_LOSS when the file cannot be read;
     *     INVALID_ARGUMENT when the file has no labels, or is no file; RESOURCE_EXHAUSTED when the file is larger than
     *     1 MB
     */
    public static List<String> load(Resource config) {
        String location = config.getDescription();
        try {
            JsonNode declared = JsonMapper.shared()
                    .readTree(ModelFile.read(config, "config.json", LARGEST_FILE))
                    .path("id2label");
            List<String> labels = new ArrayList<>();
            while (declared.path(String.valueOf(labels.size())).isString()) {
                labels.add(declared.path(String.valueOf(labels.size())).stringValue());
            }
            if (labels.isEmpty() || labels.size() < declared.size()) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "%s has %d labels in 'id2label', of which %d are numbered from 0; it must be the config.json of a classifier"
                                .formatted(location, declared.size(), labels.size()));
            }
            return labels;
        } catch (JacksonException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s is not JSON: %s; it must be the config.json of the model"
                            .formatted(location, e.getOriginalMessage()),
                    e);
        }
    }
}

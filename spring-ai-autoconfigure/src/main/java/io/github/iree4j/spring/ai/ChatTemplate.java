package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/**
 * How a model's prompts are written: the chat template and the special tokens of {@code tokenizer_config.json}.
 * Thread-safe.
 */
final class ChatTemplate {
    private static final int LARGEST_FILE = 16 << 20;

    private final JinjaTemplate template;
    private final Map<String, String> specialTokens;

    private ChatTemplate(JinjaTemplate template, Map<String, String> specialTokens) {
        this.template = template;
        this.specialTokens = specialTokens;
    }

    /**
     * Reads a template.
     *
     * @param tokenizer the model's {@code tokenizer.json}; {@code tokenizer_config.json} and {@code chat_template.jinja}
     *     may be beside it
     * @param template the template, or a file with the template; null for the template of the files
     * @throws IreeException NOT_FOUND when there is no template; as {@link ModelFile#read} and {@link JinjaTemplate} do
     */
    static ChatTemplate load(Resource tokenizer, @Nullable Object template) {
        JsonNode config = config(tokenizer);
        Map<String, String> special = new HashMap<>();
        for (String name : List.of("bos_token", "eos_token", "pad_token", "unk_token")) {
            JsonNode value = config.path(name);
            String text = value.isObject() ? value.path("content").asString("") : value.asString("");
            if (!text.isEmpty()) {
                special.put(name, text);
            }
        }
        return new ChatTemplate(template(tokenizer, template, config), special);
    }

    private static JinjaTemplate template(Resource tokenizer, @Nullable Object given, JsonNode config) {
        switch (given) {
            case String text -> {
                return new JinjaTemplate(text, "the chat template", System::nanoTime);
            }
            case Resource file -> {
                return read(file);
            }
            case null, default -> {}
        }
        JsonNode own = config.path("chat_template");
        if (own.isArray()) { // several by name
            for (JsonNode each : own) {
                if (each.path("name").asString("").equals("default")) {
                    own = each.path("template");
                    break;
                }
            }
        }
        if (own.isString()) {
            return new JinjaTemplate(
                    own.stringValue(),
                    "the chat template beside %s".formatted(tokenizer.getDescription()),
                    System::nanoTime);
        }
        Resource file = beside(tokenizer, "chat_template.jinja");
        if (file == null || !file.exists()) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "there is no chat template: beside %s is neither a tokenizer_config.json with 'chat_template' nor a chat_template.jinja"
                            .formatted(tokenizer.getDescription()));
        }
        return read(file);
    }

    private static JinjaTemplate read(Resource file) {
        String text = new String(ModelFile.read(file, "chat template", LARGEST_FILE), StandardCharsets.UTF_8);
        return new JinjaTemplate(text, file.getDescription(), System::nanoTime);
    }

    private static JsonNode config(Resource tokenizer) {
        Resource file = beside(tokenizer, "tokenizer_config.json");
        if (file == null || !file.exists()) {
            return MissingNode.getInstance();
        }
        try {
            return JsonMapper.shared().readTree(ModelFile.read(file, "tokenizer_config.json", LARGEST_FILE));
        } catch (JacksonException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s is not JSON: %s".formatted(file.getDescription(), e.getOriginalMessage()),
                    e);
        }
    }

    private static @Nullable Resource beside(Resource tokenizer, String name) {
        try {
            return tokenizer.createRelative(name);
        } catch (IOException e) { // a resource without neighbours
            return null;
        }
    }

    /** Returns the tokens that end an answer unless others are configured: the end-of-sequence token, if known. */
    List<String> stopTokens() {
        String end = specialTokens.get("eos_token");
        return end == null ? List.of() : List.of(end);
    }

    /**
     * Returns the text of a prompt, with special tokens.
     *
     * @throws IreeException as {@link JinjaTemplate#render} does
     */
    String render(ChatPrompt prompt) {
        Map<String, Object> values = new HashMap<>(specialTokens);
        values.put("messages", new ArrayList<Object>(prompt.messages()));
        if (!prompt.tools().isEmpty()) {
            values.put("tools", new ArrayList<Object>(prompt.tools()));
        }
        values.put("add_generation_prompt", true);
        return template.render(values);
    }
}

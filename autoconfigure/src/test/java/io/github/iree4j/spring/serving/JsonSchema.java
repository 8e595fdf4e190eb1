package io.github.iree4j.spring.serving;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checks documents by the keywords of JSON Schema in {@code protocol/open-inference-v2.schema.json}. An unknown keyword
 * fails, so no constraint of a schema goes unchecked.
 */
final class JsonSchema {

    private static final Set<String> WORDS_WITHOUT_EFFECT = Set.of("$schema", "$defs", "title", "description");

    private final JsonNode root;

    /** The schema in a resource of the class path. */
    JsonSchema(String resource) {
        try (InputStream in = Objects.requireNonNull(JsonSchema.class.getResourceAsStream(resource), resource)) {
            root = JsonMapper.shared().readTree(in);
        } catch (IOException e) {
            throw new AssertionError(resource, e);
        }
    }

    /** The violations of a document against a definition; empty for a valid document. */
    List<String> problems(String definition, JsonNode document) {
        List<String> problems = new ArrayList<>();
        check(root.required("$defs").required(definition), document, "$", problems);
        return problems;
    }

    private void check(JsonNode schema, JsonNode value, String at, List<String> problems) {
        for (Map.Entry<String, JsonNode> keyword : schema.properties()) {
            JsonNode wanted = keyword.getValue();
            switch (keyword.getKey()) {
                case "$ref" -> check(resolve(wanted.stringValue()), value, at, problems);
                case "type" -> require(isOfType(wanted, value), at, "is not of type " + wanted, problems);
                case "enum" -> require(contains(wanted, value), at, value + " is none of " + wanted, problems);
                case "pattern" ->
                    require(
                            !value.isString()
                                    || Pattern.compile(wanted.stringValue())
                                            .matcher(value.stringValue())
                                            .find(),
                            at,
                            value + " does not match " + wanted,
                            problems);
                case "minimum" ->
                    require(
                            !value.isNumber() || value.decimalValue().compareTo(wanted.decimalValue()) >= 0,
                            at,
                            value + " is less than " + wanted,
                            problems);
                case "required" ->
                    wanted.forEach(name -> require(
                            !value.isObject() || value.has(name.stringValue()), at, "has no " + name, problems));
                case "properties" ->
                    wanted.properties().stream()
                            .filter(member -> value.has(member.getKey()))
                            .forEach(member -> check(
                                    member.getValue(),
                                    value.get(member.getKey()),
                                    at + "." + member.getKey(),
                                    problems));
                case "additionalProperties" ->
                    value.properties().stream()
                            .filter(member -> !schema.path("properties").has(member.getKey()))
                            .forEach(member -> additional(wanted, member, at, problems));
                case "items" -> {
                    for (int i = 0; value.isArray() && i < value.size(); i++) {
                        check(wanted, value.get(i), at + "[" + i + "]", problems);
                    }
                }
                case "allOf" -> wanted.forEach(each -> check(each, value, at, problems));
                case "anyOf" -> require(matching(wanted, value) > 0, at, "is none of " + wanted, problems);
                case "oneOf" -> require(matching(wanted, value) == 1, at, "is not just one of " + wanted, problems);
                default -> {
                    if (!WORDS_WITHOUT_EFFECT.contains(keyword.getKey())) {
                        throw new AssertionError("keyword '%s' is not known".formatted(keyword.getKey()));
                    }
                }
            }
        }
    }

    private void additional(JsonNode wanted, Map.Entry<String, JsonNode> member, String at, List<String> problems) {
        if (wanted.isBoolean()) {
            require(wanted.booleanValue(), at, "must not have '%s'".formatted(member.getKey()), problems);
        } else {
            check(wanted, member.getValue(), at + "." + member.getKey(), problems);
        }
    }

    private JsonNode resolve(String reference) {
        return root.required("$defs").required(reference.substring("#/$defs/".length()));
    }

    private static boolean isOfType(JsonNode wanted, JsonNode value) {
        if (wanted.isArray()) {
            return wanted.valueStream().anyMatch(each -> isOfType(each, value));
        }
        return switch (wanted.stringValue()) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isString();
            case "boolean" -> value.isBoolean();
            case "number" -> value.isNumber();
            case "integer" -> value.isIntegralNumber();
            default -> throw new AssertionError("type %s is not known".formatted(wanted));
        };
    }

    private static boolean contains(JsonNode values, JsonNode value) {
        return values.valueStream().anyMatch(value::equals);
    }

    private long matching(JsonNode schemas, JsonNode value) {
        return schemas.valueStream()
                .filter(each -> {
                    List<String> problems = new ArrayList<>();
                    check(each, value, "", problems);
                    return problems.isEmpty();
                })
                .count();
    }

    private static void require(boolean holds, String at, String problem, List<String> problems) {
        if (!holds) {
            problems.add(at + " " + problem);
        }
    }
}

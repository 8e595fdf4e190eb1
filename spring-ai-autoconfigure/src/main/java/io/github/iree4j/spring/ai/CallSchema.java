package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** The JSON schema of a call of a tool. */
final class CallSchema {
    private static final Set<String> DECIDING = Set.of("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const");

    /** Keywords with schemas by name. */
    private static final Set<String> NAMED = Set.of("properties", "$defs", "definitions");

    /** Keywords with values, which are no schemas. */
    private static final Set<String> VALUES = Set.of("const", "enum", "default", "examples");

    private CallSchema() {}

    /** Returns the schema of a call of one of the tools, which are as templates have them. */
    static String of(List<Map<String, Object>> tools) {
        List<Map<String, Object>> calls = new ArrayList<>();
        for (Map<String, Object> tool : tools) {
            Map<?, ?> parameters = tool.get("function") instanceof Map<?, ?> function
                            && function.get("parameters") instanceof Map<?, ?> map
                    ? map
                    : Map.of();
            String place = "#/anyOf/" + calls.size() + "/properties/arguments";
            Map<String, Object> properties = new LinkedHashMap<>();
            properties.put("name", Map.of("const", name(tool)));
            properties.put("arguments", moved(objects(parameters), place, false));
            Map<String, Object> call = new LinkedHashMap<>();
            call.put("type", "object");
            call.put("properties", properties);
            call.put("required", List.of("name", "arguments"));
            call.put("additionalProperties", false);
            calls.add(call);
        }
        return JsonMapper.shared().writeValueAsString(Map.of("anyOf", calls));
    }

    /**
     * Returns a schema of objects: adds the type where parameters allow anything.
     *
     * @throws IreeException INVALID_ARGUMENT for parameters that may be something else than an object in any alternative
     */
    private static Map<?, ?> objects(Map<?, ?> parameters) {
        if (DECIDING.stream().noneMatch(parameters::containsKey)) {
            Map<Object, Object> typed = new LinkedHashMap<>(parameters);
            typed.put("type", "object");
            return typed;
        }
        JsonNode root = JsonMapper.shared().valueToTree(parameters);
        if (!isOfObjects(root, root, Collections.newSetFromMap(new IdentityHashMap<>()))) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the parameters of a tool are not of type 'object' in each alternative, and arguments of a call are an object");
        }
        return parameters;
    }

    /** Returns whether a schema allows objects only. A schema met before, and unsupported keywords, are not looked at. */
    private static boolean isOfObjects(JsonNode schema, JsonNode root, Set<JsonNode> met) {
        if (!met.add(schema)) {
            return true;
        }
        if (schema.has("$ref")) {
            JsonNode target = target(schema.get("$ref").asString(""), root);
            return target.isMissingNode() || isOfObjects(target, root, met);
        }
        if (schema.has("const")) {
            return schema.get("const").isObject();
        }
        if (schema.path("enum").isArray()) {
            return schema.get("enum").valueStream().allMatch(JsonNode::isObject);
        }
        for (String each : List.of("anyOf", "oneOf")) {
            if (schema.path(each).isArray()) {
                return schema.get(each).valueStream().allMatch(alternative -> isOfObjects(alternative, root, met));
            }
        }
        return schema.has("allOf") || schema.path("type").asString("").equals("object");
    }

    private static JsonNode target(String reference, JsonNode root) {
        try {
            String fragment = reference.startsWith("#") ? reference.substring(1).replace("+", "%2B") : "/";
            return root.at(JsonPointer.compile(URLDecoder.decode(fragment, StandardCharsets.UTF_8)));
        } catch (IllegalArgumentException _) {
            return MissingNode.getInstance(); // the constraint refuses the reference
        }
    }

    /**
     * Returns a schema with its references moved to another place.
     *
     * @param named whether these are schemas by name, such as properties: a property may have the name of a keyword
     */
    private static Object moved(Object schema, String place, boolean named) {
        if (schema instanceof List<?> list) {
            return list.stream().map(each -> moved(each, place, false)).toList();
        }
        if (!(schema instanceof Map<?, ?> map)) {
            return schema;
        }
        Map<String, Object> copy = new LinkedHashMap<>();
        map.forEach((name, value) -> {
            Object kept = value;
            if (!named && "$ref".equals(name) && value instanceof String reference && reference.startsWith("#")) {
                kept = place + reference.substring(1);
            } else if (value != null && (named || !VALUES.contains(name))) {
                kept = moved(value, place, !named && NAMED.contains(name));
            }
            copy.put(String.valueOf(name), kept);
        });
        return copy;
    }

    private static String name(Map<String, Object> tool) {
        return tool.get("function") instanceof Map<?, ?> function ? String.valueOf(function.get("name")) : "";
    }
}

package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.json.JsonMapper;

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
            Object parameters = tool.get("function") instanceof Map<?, ?> function ? function.get("parameters") : null;
            String place = "#/anyOf/%d/properties/arguments".formatted(calls.size());
            Map<String, Object> properties = new LinkedHashMap<>();
            properties.put("name", Map.of("const", name(tool)));
            properties.put("arguments", object(moved(parameters == null ? Map.of() : parameters, place, false)));
            Map<String, Object> call = new LinkedHashMap<>();
            call.put("type", "object");
            call.put("properties", properties);
            call.put("required", List.of("name", "arguments"));
            call.put("additionalProperties", false);
            calls.add(call);
        }
        return JsonMapper.shared().writeValueAsString(Map.of("anyOf", calls));
    }

    /** Returns a schema of objects: arguments are an object, also where the schema allows anything. */
    private static Object object(Object schema) {
        if (schema instanceof Map<?, ?> map
                && (map.containsKey("type") && !"object".equals(map.get("type"))
                        || map.containsKey("const") && !(map.get("const") instanceof Map)
                        || map.get("enum") instanceof List<?> values
                                && !values.stream().allMatch(Map.class::isInstance))) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the parameters of a tool are not of type 'object', and arguments of a call are an object");
        }
        if (!(schema instanceof Map<?, ?> map) || DECIDING.stream().anyMatch(map::containsKey)) {
            return schema;
        }
        Map<String, Object> typed = new LinkedHashMap<>();
        map.forEach((name, value) -> typed.put(String.valueOf(name), value));
        typed.put("type", "object");
        return typed;
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

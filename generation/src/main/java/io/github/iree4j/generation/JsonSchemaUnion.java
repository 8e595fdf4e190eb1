package io.github.iree4j.generation;

import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;

/**
 * Whether no value fits two schemas of {@code oneOf}, by types and by required properties with constants. Schemas have been
 * read before: references exist and are not recursive.
 */
final class JsonSchemaUnion {
    private static final Set<String> TYPES = Set.of("object", "array", "string", "number", "boolean", "null");

    private final JsonNode root;
    private final Map<JsonNode, Set<String>> known = new IdentityHashMap<>(); // references may meet again and again

    JsonSchemaUnion(JsonNode root) {
        this.root = root;
    }

    boolean isDisjoint(JsonNode schemas) {
        for (int i = 0; i < schemas.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (!isDisjoint(resolved(schemas.get(i)), resolved(schemas.get(j)))) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean isDisjoint(JsonNode one, JsonNode other) {
        Set<String> common = new HashSet<>(types(one));
        common.retainAll(types(other));
        if (common.isEmpty()) {
            return true;
        }
        return common.equals(Set.of("object"))
                && required(one).stream()
                        .filter(required(other)::contains)
                        .anyMatch(name -> differ(property(one, name), property(other, name)));
    }

    /** Whether both schemas have constants, strings only, and none in common. */
    private static boolean differ(JsonNode one, JsonNode other) {
        List<JsonNode> values = JsonSchema.constantValues(one);
        List<JsonNode> others = JsonSchema.constantValues(other);
        return !values.isEmpty()
                && !others.isEmpty()
                && values.stream().allMatch(JsonNode::isString)
                && values.stream().noneMatch(others::contains);
    }

    private JsonNode property(JsonNode schema, String name) {
        return resolved(schema.path("properties").path(name));
    }

    private JsonNode resolved(JsonNode schema) {
        JsonNode target = schema;
        while (target.has("$ref")) {
            target =
                    root.at(JsonPointer.compile(target.get("$ref").stringValue().substring(1)));
        }
        return target;
    }

    private static Set<String> required(JsonNode schema) {
        Set<String> names = new HashSet<>();
        schema.path("required").forEach(each -> names.add(each.asString()));
        return names;
    }

    /** Returns the types of the values that may fit a schema, integers as numbers. */
    private Set<String> types(JsonNode schema) {
        Set<String> types = known.get(schema);
        if (types == null) {
            types = findTypes(schema);
            known.put(schema, types);
        }
        return types;
    }

    private Set<String> findTypes(JsonNode schema) {
        Set<String> types = new HashSet<>();
        List<JsonNode> constants = JsonSchema.constantValues(schema);
        if (!constants.isEmpty()) {
            constants.forEach(each -> types.add(typeOf(each)));
            return types;
        }
        if (schema.has("anyOf") || schema.has("oneOf")) {
            schema.path(schema.has("anyOf") ? "anyOf" : "oneOf").forEach(each -> types.addAll(types(resolved(each))));
            return types;
        }
        JsonNode named = schema.path("type");
        if (named.isString()) {
            types.add(named.stringValue());
        }
        named.forEach(each -> types.add(each.asString())); // the items of a list
        if (types.remove("integer")) {
            types.add("number");
        }
        if (types.isEmpty()) { // keywords do not exclude values of other types
            types.addAll(TYPES);
        }
        return types;
    }

    static String typeOf(JsonNode value) {
        return switch (value.getNodeType()) {
            case OBJECT -> "object";
            case ARRAY -> "array";
            case STRING -> "string";
            case NUMBER -> "number";
            case BOOLEAN -> "boolean";
            default -> "null";
        };
    }
}

package io.github.iree4j.generation.sampling;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * Whether no value fits two schemas of {@code oneOf}, by types and by required properties with constants. Schemas have been
 * read before: references exist and are not recursive.
 */
final class JsonSchemaUnion {
    private static final Set<String> TYPES = Set.of("object", "array", "string", "number", "boolean", "null");

    private final Map<JsonNode, JsonNode> targets;
    private final ConstructionSteps steps;

    // References may meet again and again.
    private final Map<JsonNode, Set<JsonNode>> disjoint = new IdentityHashMap<>();
    private final Map<JsonNode, Set<String>> known = new IdentityHashMap<>();
    private final Map<JsonNode, Set<String>> strings = new IdentityHashMap<>();

    /**
     * Creates a comparison of the schemas of a text.
     *
     * @param targets the schemas that references name
     * @param steps counts comparisons
     */
    JsonSchemaUnion(Map<JsonNode, JsonNode> targets, ConstructionSteps steps) {
        this.targets = targets;
        this.steps = steps;
    }

    boolean isDisjoint(JsonNode schemas) {
        List<JsonNode> before = new ArrayList<>();
        for (JsonNode each : schemas) {
            JsonNode schema = resolved(each);
            for (JsonNode other : before) {
                steps.add(1);
                Set<JsonNode> others =
                        disjoint.computeIfAbsent(schema, _ -> Collections.newSetFromMap(new IdentityHashMap<>()));
                if (!others.contains(other)) {
                    if (!isDisjoint(schema, other)) {
                        return false;
                    }
                    others.add(other);
                }
            }
            before.add(schema);
        }
        return true;
    }

    private boolean isDisjoint(JsonNode one, JsonNode other) {
        Set<String> common = new HashSet<>(types(one, 0));
        common.retainAll(types(other, 0));
        if (common.isEmpty()) {
            return true;
        }
        return common.equals(Set.of("object"))
                && required(one).stream()
                        .filter(required(other)::contains)
                        .anyMatch(name -> differ(property(one, name), property(other, name)));
    }

    /** Whether both schemas have constants, strings only, and none in common. */
    private boolean differ(JsonNode one, JsonNode other) {
        Set<String> values = strings(one);
        Set<String> others = strings(other);
        return !values.isEmpty()
                && !others.isEmpty()
                && (values.size() < others.size() ? isApart(values, others) : isApart(others, values));
    }

    private boolean isApart(Set<String> few, Set<String> many) {
        for (String each : few) {
            steps.add(1);
            if (many.contains(each)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the constants of a schema of strings only, or nothing. */
    private Set<String> strings(JsonNode schema) {
        return strings.computeIfAbsent(schema, _ -> {
            List<JsonNode> values = JsonSchema.constantValues(schema);
            steps.add(values.size());
            return values.stream().allMatch(JsonNode::isString)
                    ? values.stream().map(JsonNode::stringValue).collect(Collectors.toSet())
                    : Set.of();
        });
    }

    private JsonNode property(JsonNode schema, String name) {
        return resolved(schema.path("properties").path(name));
    }

    private JsonNode resolved(JsonNode schema) {
        JsonNode found = schema;
        for (JsonNode next = targets.get(found); next != null; next = targets.get(found)) {
            steps.add(1);
            found = next;
        }
        return found;
    }

    private Set<String> required(JsonNode schema) {
        Set<String> names = new HashSet<>();
        schema.path("required").forEach(each -> names.add(each.asString()));
        steps.add(names.size());
        return names;
    }

    /** Returns the types of the values that may fit a schema, integers as numbers. */
    private Set<String> types(JsonNode schema, int level) {
        if (level > Expression.MOST_LEVELS) {
            throw steps.tooLarge("alternatives in each other", Expression.MOST_LEVELS);
        }
        Set<String> types = known.get(schema);
        if (types == null) {
            types = findTypes(schema, level);
            known.put(schema, types);
        }
        return types;
    }

    private Set<String> findTypes(JsonNode schema, int level) {
        Set<String> types = new HashSet<>();
        List<JsonNode> constants = JsonSchema.constantValues(schema);
        if (!constants.isEmpty()) {
            constants.forEach(each -> types.add(typeOf(each)));
            return types;
        }
        if (schema.has("anyOf") || schema.has("oneOf")) {
            for (JsonNode each : schema.path(schema.has("anyOf") ? "anyOf" : "oneOf")) {
                steps.add(1);
                types.addAll(types(resolved(each), level + 1));
            }
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

package io.github.iree4j.generation.sampling;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A random schema, and random instances. */
final class RandomSchema {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final JsonMapper JSON = new JsonMapper();
    private static final String[] CHARACTERS = {
        "a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t", "\b", "\u0001", "\u001f", "\u007f", "é", "€", "\u2028", "🙂",
        "{", "}", ",", ":", "\\u0041"
    };
    private static final String[][] PATTERNS = {
        {"^[a-c]{2,3}$", "ab", "cab"},
        {"x", "x", "axb", "\"x\\\n"},
        {"^\\w+@\\w+\\.org$", "me@iree.org", "x_1@a.org"},
        {"^(?:é|\"|\\\\)*$", "", "é\"\\"},
        {"[0-9]$", "5", "no 5"},
    };
    private static final String[][] FORMATS = {
        {"date", "2026-11-29", "1999-12-31", "2000-02-28"},
        {"time", "23:59:59Z", "00:00:00.125+01:30"},
        {"date-time", "2026-11-29T17:00:00Z", "2026-04-30T00:00:00.5-08:00"},
        {"uuid", "123e4567-e89b-12d3-a456-426614174000"},
        {"ipv4", "0.0.0.0", "255.249.199.9"},
        {"duration", "P1D", "PT1H30M", "P2DT5S"},
        {"uri", "https://iree.dev", "http://a-b.example:8080/x/y?z=1"},
    };

    private final SplittableRandom random;
    private final ObjectNode definitions = NODES.objectNode();
    private final List<Kind> defined = new ArrayList<>();
    private final Kind kind;

    /** A schema with its instances. */
    private record Kind(JsonNode schema, Instances instances) {}

    private interface Instances {
        JsonNode next();
    }

    RandomSchema(SplittableRandom random) {
        this.random = random;
        for (int i = random.nextInt(3); i > 0; i--) {
            Kind each = kind(1);
            definitions.set("d" + defined.size(), each.schema);
            defined.add(each);
        }
        this.kind = kind(3);
    }

    String schema() {
        JsonNode schema = kind.schema;
        if (schema instanceof ObjectNode object && !definitions.isEmpty()) {
            return JSON.writeValueAsString(object.deepCopy().set("$defs", definitions));
        }
        return JSON.writeValueAsString(schema);
    }

    String instance() {
        return JSON.writeValueAsString(kind.instances.next());
    }

    private Kind kind(int depth) {
        return switch (random.nextInt(depth > 0 ? 17 : 11)) {
            case 0 -> new Kind(typed("string"), this::text);
            case 1 -> sizedString();
            case 2 -> oneOf(PATTERNS, "pattern");
            case 3 -> oneOf(FORMATS, "format");
            case 4 -> integer();
            case 5 -> new Kind(typed("number"), this::number);
            case 6 ->
                new Kind(typed("number").put("minimum", 0), () -> NODES.numberNode(Math.abs(number().doubleValue())));
            case 7 -> new Kind(typed("boolean"), () -> NODES.booleanNode(random.nextBoolean()));
            case 8 -> constants();
            case 9 -> random.nextInt(4) > 0 ? kind(0) : new Kind(NODES.booleanNode(true), () -> value(2));
            case 10 -> defined.isEmpty() ? kind(0) : reference();
            case 11, 12, 13 -> object(depth - 1);
            case 14 -> array(depth - 1);
            case 15 -> alternatives(depth - 1);
            default -> map(depth - 1);
        };
    }

    private static ObjectNode typed(String type) {
        return NODES.objectNode().put("type", type);
    }

    private String characters(int least, int most) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(least, most + 1); i > 0; i--) {
            text.append(CHARACTERS[random.nextInt(CHARACTERS.length - 1)]);
        }
        return text.toString();
    }

    private JsonNode text() {
        return NODES.stringNode(characters(0, 8));
    }

    private JsonNode number() {
        return switch (random.nextInt(4)) {
            case 0 -> NODES.numberNode(random.nextInt());
            case 1 -> NODES.numberNode(random.nextDouble() * Math.pow(10, random.nextInt(-30, 30)));
            case 2 -> NODES.numberNode(random.nextLong());
            default -> NODES.numberNode(random.nextInt(-3, 4) / 2.0);
        };
    }

    private Kind sizedString() {
        int least = random.nextInt(3);
        int most = least + random.nextInt(4);
        ObjectNode schema = typed("string").put("minLength", least);
        return random.nextBoolean()
                ? new Kind(schema.put("maxLength", most), () -> NODES.stringNode(characters(least, most)))
                : new Kind(schema, () -> NODES.stringNode(characters(least, least + 9)));
    }

    private Kind oneOf(String[][] choices, String keyword) {
        String[] choice = choices[random.nextInt(choices.length)];
        return new Kind(
                typed("string").put(keyword, choice[0]),
                () -> NODES.stringNode(choice[random.nextInt(1, choice.length)]));
    }

    private Kind integer() {
        long one = edge();
        long other = edge();
        long least = Math.min(one, other);
        long most = Math.max(one, other) + 2;
        ObjectNode schema = typed("integer");
        boolean exclusive = random.nextBoolean();
        boolean hasLeast = random.nextInt(4) > 0;
        boolean hasMost = random.nextInt(4) > 0;
        if (hasLeast) {
            schema.put(exclusive ? "exclusiveMinimum" : "minimum", exclusive ? least - 1 : least);
        }
        if (hasMost) {
            schema.put(exclusive ? "exclusiveMaximum" : "maximum", exclusive ? most + 1 : most);
        }
        return new Kind(
                schema,
                () -> NODES.numberNode(
                        switch (random.nextInt(3)) {
                            case 0 -> hasLeast || !hasMost ? least : Long.MIN_VALUE;
                            case 1 -> hasMost || !hasLeast ? most : Long.MAX_VALUE;
                            default -> random.nextLong(least, most);
                        }));
    }

    private long edge() {
        long power = (long) Math.pow(10, random.nextInt(17));
        return (random.nextBoolean() ? power : -power) * random.nextInt(0, 10) + random.nextInt(-1, 2);
    }

    private Kind constants() {
        List<JsonNode> values = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            values.add(value(2));
        }
        ObjectNode schema = NODES.objectNode();
        if (values.size() == 1) {
            schema.set("const", values.getFirst());
        } else {
            schema.set("enum", NODES.arrayNode().addAll(values));
        }
        return new Kind(schema, () -> values.get(random.nextInt(values.size())));
    }

    private JsonNode value(int depth) {
        switch (random.nextInt(depth > 0 ? 7 : 5)) {
            case 0:
                return number();
            case 1:
                return NODES.booleanNode(random.nextBoolean());
            case 2:
                return NODES.nullNode();
            case 5:
                ArrayNode array = NODES.arrayNode();
                for (int i = random.nextInt(3); i > 0; i--) {
                    array.add(value(depth - 1));
                }
                return array;
            case 6:
                ObjectNode object = NODES.objectNode();
                for (int i = random.nextInt(3); i > 0; i--) {
                    object.set(characters(0, 3), value(depth - 1));
                }
                return object;
            default:
                return text();
        }
    }

    private Kind reference() {
        int index = random.nextInt(defined.size());
        return new Kind(
                NODES.objectNode().put("$ref", "#/$defs/d" + index).put("description", "d"),
                defined.get(index).instances);
    }

    private Kind object(int depth) {
        ObjectNode properties = NODES.objectNode();
        ArrayNode required = NODES.arrayNode();
        List<Kind> kinds = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            String name = characters(0, 2) + i;
            Kind kind = kind(depth);
            kinds.add(kind);
            names.add(name);
            properties.set(name, kind.schema);
            if (random.nextBoolean()) {
                required.add(name);
            }
        }
        ObjectNode schema = typed("object").put("title", "t");
        schema.set("properties", properties);
        schema.set("required", required);
        if (random.nextBoolean()) {
            schema.put("additionalProperties", false);
        }
        List<String> needed = new ArrayList<>();
        required.forEach(each -> needed.add(each.stringValue()));
        return new Kind(schema, () -> {
            ObjectNode instance = NODES.objectNode();
            for (int i = 0; i < names.size(); i++) {
                if (needed.contains(names.get(i)) || random.nextBoolean()) {
                    instance.set(names.get(i), kinds.get(i).instances.next());
                }
            }
            return instance;
        });
    }

    private Kind array(int depth) {
        Kind item = kind(depth);
        int least = random.nextInt(3);
        int most = least + random.nextInt(3);
        boolean bounded = random.nextBoolean();
        ObjectNode schema = typed("array").put("minItems", least);
        schema.set("items", item.schema);
        if (bounded) {
            schema.put("maxItems", most);
        }
        return new Kind(schema, () -> {
            ArrayNode array = NODES.arrayNode();
            for (int i = random.nextInt(least, (bounded ? most : least + 3) + 1); i > 0; i--) {
                array.add(item.instances.next());
            }
            return array;
        });
    }

    private Kind map(int depth) {
        Kind value = kind(depth);
        ObjectNode schema = typed("object");
        schema.set("additionalProperties", value.schema);
        return new Kind(schema, () -> {
            ObjectNode object = NODES.objectNode();
            for (int i = random.nextInt(4); i > 0; i--) {
                object.set(characters(0, 4), value.instances.next());
            }
            return object;
        });
    }

    private Kind alternatives(int depth) {
        if (random.nextBoolean()) {
            Kind object = object(depth);
            ObjectNode schema = NODES.objectNode();
            schema.set(
                    "oneOf",
                    NODES.arrayNode().add(typed("null")).add(object.schema).add(typed("integer")));
            return new Kind(schema, () -> switch (random.nextInt(3)) {
                case 0 -> NODES.nullNode();
                case 1 -> object.instances.next();
                default -> NODES.numberNode(random.nextInt());
            });
        }
        Kind one = kind(depth);
        Kind other = kind(depth);
        ObjectNode schema = NODES.objectNode();
        schema.set("anyOf", NODES.arrayNode().add(one.schema).add(other.schema));
        return new Kind(schema, () -> random.nextBoolean() ? one.instances.next() : other.instances.next());
    }
}

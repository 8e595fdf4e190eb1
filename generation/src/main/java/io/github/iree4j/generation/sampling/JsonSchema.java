package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads JSON schemas of draft 2020-12. Every text of the expression is an instance;
 * instances with properties that the schema does not name, or in another order, are no texts. A keyword that cannot be
 * kept is rejected by name. Not thread-safe.
 */
final class JsonSchema {
    private static final int LONGEST = 1 << 16;
    private static final int MOST_LEVELS = 64;
    private static final int MOST_EXCLUSIVE = 64;
    private static final int STEPS_PER_SET = 256; // of characters in patterns
    private static final int CHARACTERS_PER_STEP = 64; // of places in messages

    /** Objects and arrays in each other where the schema allows any value. */
    static final int VALUE_LEVELS = 3;

    /** Objects and arrays in each other of any object. */
    static final int OBJECT_LEVELS = 6;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private static final Set<String> ANNOTATIONS = Set.of(
            "title",
            "description",
            "default",
            "examples",
            "$schema",
            "$id",
            "$comment",
            "$defs",
            "definitions",
            "deprecated",
            "readOnly",
            "writeOnly");
    private static final Set<String> OBJECT = Set.of("properties", "required", "additionalProperties");
    private static final Set<String> ARRAY = Set.of("items", "minItems", "maxItems", "uniqueItems");
    private static final Set<String> STRING = Set.of("minLength", "maxLength", "pattern", "format");
    private static final Set<String> NUMBER = Set.of("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum");
    private static final Map<String, Set<String>> KEYWORDS = Map.of(
            "object", OBJECT, "array", ARRAY, "string", STRING, "integer", NUMBER, "number", NUMBER, "boolean",
            Set.of(), "null", Set.of());

    private static final BigDecimal LARGEST = BigDecimal.valueOf(IntegerRange.LARGEST);

    private static final String DATE = "\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)"
            + "|02-(0[1-9]|1\\d|2[0-8]))"; // without leap days
    private static final String TIME =
            "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)";
    private static final String BYTE = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
    private static final String PATH = "(/[A-Za-z0-9._~,;=@&!$'()*+-]*)*(\\?[A-Za-z0-9._~,;=@&!$'()*+/?-]*)?";
    private static final Map<String, String> FORMATS = Map.of(
            "date", "^" + DATE + "$",
            "time", "^" + TIME + "$",
            "date-time", "^" + DATE + "T" + TIME + "$",
            "uuid", "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
            "ipv4", "^(" + BYTE + "\\.){3}" + BYTE + "$",
            "duration",
                    "^P(\\d{1,9}D|(\\d{1,9}D)?T(\\d{1,9}H(\\d{1,9}M(\\d{1,9}S)?)?|\\d{1,9}M(\\d{1,9}S)?|\\d{1,9}S))$",
            "uri", "^[a-z][a-z0-9+.-]*://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[1-9]\\d{0,3})?" + PATH + "$");

    /** Formats of numbers, as OpenAPI has them, with the largest integer. */
    private static final Map<String, Long> WIDTHS =
            Map.of("int32", (long) Integer.MAX_VALUE, "int64", IntegerRange.LARGEST);

    private static final Set<String> NUMBER_FORMATS = Set.of("int32", "int64", "float", "double");

    private final JsonNode root;
    private final ConstructionSteps steps;
    private final JsonSchemaUnion union;
    private final Map<JsonNode, Expression> known = new IdentityHashMap<>(); // references may meet again and again
    private final Map<JsonNode, JsonNode> targets = new IdentityHashMap<>(); // of references
    private final Map<CharacterSet, Expression> characters = new HashMap<>(); // of patterns
    private final Set<JsonNode> open = Collections.newSetFromMap(new IdentityHashMap<>());

    private JsonSchema(JsonNode root, ConstructionSteps steps) {
        this.root = root;
        this.steps = steps;
        this.union = new JsonSchemaUnion(targets, steps);
    }

    /**
     * Reads a schema.
     *
     * @throws IreeException INVALID_ARGUMENT for a text that is no schema, or a schema that cannot be kept, naming the place
     */
    static Expression read(String schema) {
        return read(schema, new ConstructionSteps("JSON schema"));
    }

    /** Reads a schema, counting the steps. */
    static Expression read(String schema, ConstructionSteps steps) {
        if (schema.length() > LONGEST) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "the JSON schema has %d characters, at most %d are read".formatted(schema.length(), LONGEST));
        }
        JsonNode root = json(schema);
        return new JsonSchema(root, steps).schema(root, "#", 0);
    }

    private static JsonNode json(String schema) {
        try {
            return JSON.readTree(schema);
        } catch (JacksonException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "the JSON schema is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    /** Returns the expression of any object. */
    static Expression anyObject() {
        return JsonText.anyObject(JsonText.value(OBJECT_LEVELS - 1));
    }

    private Expression schema(JsonNode node, String place, int level) {
        if (level > MOST_LEVELS) {
            throw invalid(place, "more than %d schemas in each other".formatted(MOST_LEVELS));
        }
        steps.add(1 + place.length() / CHARACTERS_PER_STEP);
        Expression expression = known.get(node);
        if (expression == null) {
            open.add(node);
            expression = unknown(node, place, level);
            open.remove(node);
            known.put(node, expression);
        }
        return expression;
    }

    private Expression unknown(JsonNode node, String place, int level) {
        if (node.isBoolean() && node.booleanValue()) {
            return JsonText.value(VALUE_LEVELS);
        }
        if (!node.isObject()) {
            throw invalid(place, "a schema is an object or true, not " + shortened(node));
        }
        if (node.has("$ref")) {
            only(node, place, Set.of("$ref"));
            return reference(node, place, level);
        }
        if (node.has("enum") || node.has("const")) {
            return constants(node, place);
        }
        for (String each : List.of("anyOf", "oneOf")) {
            if (node.has(each)) {
                only(node, place, Set.of(each));
                return alternatives(node.get(each), each, place, level);
            }
        }
        Set<String> types = types(node, place);
        Set<String> keywords = new HashSet<>();
        types.forEach(each -> keywords.addAll(Objects.requireNonNull(KEYWORDS.get(each))));
        keywords.add("type");
        boolean numbers = node.has("type") && (types.contains("integer") || types.contains("number"));
        if (numbers) {
            keywords.add("format");
            checkNumberFormat(node, place);
        }
        only(node, place, keywords);
        if (types.size() == KEYWORDS.size() && !node.has("type")) {
            return JsonText.value(VALUE_LEVELS);
        }
        List<Expression> choices = new ArrayList<>();
        for (String each : types) {
            choices.add(ofType(each, node, place, level));
        }
        return Expression.choice(choices);
    }

    private Expression ofType(String type, JsonNode node, String place, int level) {
        return switch (type) {
            case "object" -> object(node, place, level);
            case "array" -> array(node, place, level);
            case "string" -> string(node, place);
            case "integer" -> integer(node, place);
            case "number" -> number(node, place);
            case "boolean" -> JsonText.BOOLEAN;
            default -> JsonText.NULL;
        };
    }

    /** Returns the types that the schema names, or whose keywords it has, or all. */
    private static Set<String> types(JsonNode node, String place) {
        Set<String> types = new TreeSet<>();
        JsonNode named = node.path("type");
        if (named.isMissingNode()) {
            KEYWORDS.forEach((type, keywords) -> {
                if (keywords.stream().anyMatch(node::has)) {
                    types.add(type);
                }
            });
            types.remove("integer"); // a number
            return types.isEmpty() ? new TreeSet<>(KEYWORDS.keySet()) : types;
        }
        List<JsonNode> all = new ArrayList<>();
        if (named.isArray()) {
            named.forEach(all::add);
        } else {
            all.add(named);
        }
        for (JsonNode each : all) {
            if (!each.isString() || !KEYWORDS.containsKey(each.stringValue())) {
                throw invalid(
                        place,
                        "type %s is unknown; known are %s"
                                .formatted(shortened(each), new TreeSet<>(KEYWORDS.keySet())));
            }
            types.add(each.stringValue());
        }
        if (types.isEmpty()) {
            throw invalid(place, "'type' names no type");
        }
        return types;
    }

    private Expression reference(JsonNode node, String place, int level) {
        JsonNode reference = node.get("$ref");
        if (!reference.isString() || !reference.stringValue().startsWith("#")) {
            throw invalid(
                    place,
                    "$ref is %s; only places of the schema, as #/$defs/name, are known"
                            .formatted(shortened(reference)));
        }
        JsonPointer pointer;
        try {
            String fragment = reference.stringValue().substring(1).replace("+", "%2B"); // a plus is no space here
            pointer = JsonPointer.compile(URLDecoder.decode(fragment, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            throw invalid(place, "$ref is %s, not a place of the schema".formatted(shortened(reference)));
        }
        JsonNode target = root.at(pointer);
        if (target.isMissingNode()) {
            throw invalid(place, "$ref is %s, which the schema does not have".formatted(shortened(reference)));
        }
        if (open.contains(target)) {
            throw invalid(
                    place,
                    "$ref is %s, which contains the reference; recursive schemas are not supported: repeat the schema as many levels as needed"
                            .formatted(shortened(reference)));
        }
        targets.put(node, target);
        return schema(target, reference.stringValue(), level + 1);
    }

    private Expression constants(JsonNode node, String place) {
        only(node, place, Set.of(node.has("enum") ? "enum" : "const", "type"));
        List<JsonNode> values = constantValues(node);
        if (values.isEmpty()) {
            throw invalid(place, "'enum' is no list of one or more values");
        }
        Set<String> types = node.has("type") ? types(node, place) : KEYWORDS.keySet();
        for (JsonNode each : values) {
            String type = JsonSchemaUnion.typeOf(each);
            boolean integer = type.equals("number") && each.isIntegralNumber();
            if (!types.contains(type) && !(integer && types.contains("integer"))) {
                throw invalid(place, "value %s is not of type %s".formatted(shortened(each), types));
            }
        }
        return Expression.choice(
                values.stream().map(each -> JsonText.constant(each, steps)).toList());
    }

    /** Returns the values that a schema allows by {@code const} or {@code enum}. */
    static List<JsonNode> constantValues(JsonNode node) {
        List<JsonNode> values = new ArrayList<>();
        if (node.has("const")) {
            values.add(node.get("const"));
        } else if (node.path("enum").isArray()) {
            node.get("enum").forEach(values::add);
        }
        return values;
    }

    private Expression alternatives(JsonNode node, String keyword, String place, int level) {
        if (!node.isArray() || node.isEmpty()) {
            throw invalid(place, "'%s' is no list of one or more schemas".formatted(keyword));
        }
        List<Expression> choices = new ArrayList<>();
        for (int i = 0; i < node.size(); i++) {
            choices.add(schema(node.get(i), place + "/" + keyword + "/" + i, level + 1));
        }
        if (keyword.equals("oneOf") && node.size() > MOST_EXCLUSIVE) {
            throw invalid(
                    place,
                    "'oneOf' has %d schemas, at most %d are compared; use 'anyOf'"
                            .formatted(node.size(), MOST_EXCLUSIVE));
        }
        if (keyword.equals("oneOf") && !union.isDisjoint(node)) {
            throw invalid(
                    place,
                    "a value may fit several schemas of 'oneOf'; use 'anyOf', other types, or a required property with another 'const' in each");
        }
        return Expression.choice(choices);
    }

    private Expression object(JsonNode node, String place, int level) {
        JsonNode additional = node.path("additionalProperties");
        JsonNode required = node.path("required");
        Set<String> missing = new TreeSet<>();
        if (!required.isMissingNode() && !required.isArray()) {
            throw invalid(place, "'required' is %s, not a list of names".formatted(shortened(required)));
        }
        required.forEach(each -> missing.add(each.isString() ? each.stringValue() : each.toString()));
        List<Expression> members = new ArrayList<>();
        List<Boolean> needed = new ArrayList<>();
        JsonNode properties = node.path("properties");
        if (!properties.isMissingNode() && !properties.isObject()) {
            throw invalid(place, "'properties' is %s, not an object".formatted(shortened(properties)));
        }
        for (Map.Entry<String, JsonNode> each : properties.properties()) {
            String below = "%s/properties/%s".formatted(place, each.getKey());
            Expression value = schema(each.getValue(), below, level + 1);
            members.add(JsonText.member(JsonText.string(each.getKey()), value));
            needed.add(missing.remove(each.getKey()));
        }
        if (!missing.isEmpty()) {
            throw invalid(place, "required %s have no schema in 'properties'".formatted(missing));
        }
        if (members.isEmpty()
                && properties.isMissingNode()
                && !(additional.isBoolean() && !additional.booleanValue())) {
            return JsonText.anyObject(
                    additional.isMissingNode()
                            ? JsonText.value(VALUE_LEVELS)
                            : schema(additional, place + "/additionalProperties", level + 1));
        }
        if (!additional.isMissingNode() && !additional.isBoolean() && !additional.isObject()) {
            throw invalid(place, "'additionalProperties' is %s, not a schema".formatted(shortened(additional)));
        }
        return JsonText.object(Expression.members(members, JsonText.COMMA, needed));
    }

    private Expression array(JsonNode node, String place, int level) {
        JsonNode unique = node.path("uniqueItems");
        if (!unique.isMissingNode() && !(unique.isBoolean() && !unique.booleanValue())) {
            throw invalid(
                    place, "'uniqueItems' is %s; items that differ are not supported".formatted(shortened(unique)));
        }
        JsonNode items = node.path("items");
        Expression item =
                items.isMissingNode() ? JsonText.value(VALUE_LEVELS) : schema(items, place + "/items", level + 1);
        int least = count(node, "minItems", 0, place);
        int most = count(node, "maxItems", JsonText.ANY, place);
        ordered("minItems", least, "maxItems", most, place);
        return JsonText.array(item, least, most);
    }

    private Expression string(JsonNode node, String place) {
        String pattern = null;
        if (node.has("pattern")) {
            JsonNode given = node.get("pattern");
            if (!given.isString()) {
                throw invalid(place, "'pattern' is %s, not a string".formatted(shortened(given)));
            }
            pattern = given.stringValue();
        } else if (node.has("format")) {
            JsonNode format = node.get("format");
            pattern = format.isString() ? FORMATS.get(format.stringValue()) : null;
            if (pattern == null) {
                throw invalid(
                        place,
                        "format %s is not supported; supported are %s"
                                .formatted(shortened(format), new TreeSet<>(FORMATS.keySet())));
            }
        }
        boolean sized = node.has("minLength") || node.has("maxLength");
        if (pattern != null) {
            if (sized || node.has("pattern") && node.has("format")) {
                throw invalid(
                        place,
                        "'pattern', 'format' and lengths of a string are supported one at a time; write lengths into the pattern");
            }
            return JsonText.string(RegularExpression.anywhere(pattern, this::character));
        }
        if (!sized) {
            return JsonText.STRING;
        }
        int least = count(node, "minLength", 0, place);
        int most = count(node, "maxLength", JsonText.ANY, place);
        ordered("minLength", least, "maxLength", most, place);
        return JsonText.string(Expression.repeat(JsonText.CHARACTER, least, most));
    }

    private Expression character(CharacterSet set) {
        return characters.computeIfAbsent(set, _ -> {
            steps.add(STEPS_PER_SET);
            return JsonText.character(set);
        });
    }

    private static int count(JsonNode node, String keyword, int absent, String place) {
        JsonNode value = node.path(keyword);
        if (value.isMissingNode()) {
            return absent;
        }
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
            throw invalid(
                    place, "'%s' is %s, not an integer from 0 to 2147483647".formatted(keyword, shortened(value)));
        }
        return value.intValue();
    }

    private static void ordered(String low, int least, String high, int most, String place) {
        if (most < least) {
            throw invalid(place, "'%s' is %d, more than '%s', %d".formatted(low, least, high, most));
        }
    }

    private static Expression integer(JsonNode node, String place) {
        Long least = bound(node, "minimum", "exclusiveMinimum", RoundingMode.CEILING, 1, place);
        Long most = bound(node, "maximum", "exclusiveMaximum", RoundingMode.FLOOR, -1, place);
        Long width = WIDTHS.get(node.path("format").asString(""));
        if (width != null) {
            least = Math.max(least == null ? -width : least, -width);
            most = Math.min(most == null ? width : most, width);
        }
        if (least != null && most != null && most < least) {
            throw invalid(place, "no integer is from %d to %d".formatted(least, most));
        }
        return IntegerRange.of(least, most);
    }

    /** Returns the bound of integers that two keywords give, or null. */
    private static @Nullable Long bound(
            JsonNode node, String keyword, String exclusive, RoundingMode rounding, int step, String place) {
        Long bound = null;
        for (String each : List.of(keyword, exclusive)) {
            JsonNode value = node.path(each);
            if (value.isMissingNode()) {
                continue;
            }
            if (!JsonText.isWithin(value, LARGEST)) {
                throw invalid(
                        place,
                        "'%s' is %s, not a number from -%d to %d"
                                .formatted(each, shortened(value), IntegerRange.LARGEST, IntegerRange.LARGEST));
            }
            BigDecimal exact = value.decimalValue();
            BigDecimal rounded = exact.setScale(0, rounding);
            long here = rounded.longValueExact();
            if (each.equals(exclusive) && rounded.compareTo(exact) == 0) {
                here += step;
            }
            bound = bound == null ? (Long) here : (Long) (step > 0 ? Math.max(bound, here) : Math.min(bound, here));
        }
        return bound;
    }

    /** Rejects unknown formats; the formats of strings mean nothing for numbers. */
    private static void checkNumberFormat(JsonNode node, String place) {
        JsonNode format = node.path("format");
        if (!format.isMissingNode()
                && !(format.isString()
                        && (NUMBER_FORMATS.contains(format.stringValue())
                                || FORMATS.containsKey(format.stringValue())))) {
            throw invalid(
                    place,
                    "format %s of numbers is not supported; supported are %s"
                            .formatted(shortened(format), new TreeSet<>(NUMBER_FORMATS)));
        }
    }

    private static Expression number(JsonNode node, String place) {
        if (WIDTHS.containsKey(node.path("format").asString(""))) {
            return integer(node, place);
        }
        boolean natural = JsonText.isWithin(node.path("minimum"), BigDecimal.ZERO);
        for (String each : NUMBER) {
            if (node.has(each) && !(natural && each.equals("minimum"))) {
                throw invalid(
                        place,
                        "'%s' of numbers is not supported, except a minimum of 0; use type integer".formatted(each));
            }
        }
        return natural ? JsonText.NOT_NEGATIVE : JsonText.NUMBER;
    }

    /** Rejects keywords other than these and annotations. */
    private static void only(JsonNode node, String place, Set<String> keywords) {
        for (String each : node.propertyNames()) {
            if (!keywords.contains(each) && !ANNOTATIONS.contains(each)) {
                throw invalid(
                        place,
                        "keyword '%s' is not supported here; supported are %s, and annotations"
                                .formatted(cut(each), new TreeSet<>(keywords)));
            }
        }
    }

    private static String shortened(JsonNode value) {
        return cut(value.toString());
    }

    private static String cut(String text) {
        return text.length() <= 100 ? text : text.substring(0, 100) + "…";
    }

    private static IreeException invalid(String place, String why) {
        String end = place.length() <= 200 ? place : "…" + place.substring(place.length() - 200);
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "JSON schema, %s: %s".formatted(end, why));
    }
}
